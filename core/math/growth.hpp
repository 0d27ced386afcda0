// SPDX-License-Identifier: BSD-3-Clause
// growth.hpp: arrays that grow with the stream, whose length is not known before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ramify {

/// Memory in whole cache lines, and from a few megabytes on straight from the
/// system: in huge pages where it has them, since walks through a large tree would
/// otherwise wait as long for addresses to be translated as for the data, and given
/// back for good when freed.
class Pages {
 public:
  static void* take(std::size_t bytes) {
#if defined(__linux__)
    if (bytes >= kMany) return map(whole_pages(bytes));
#endif
    return ::operator new(bytes, std::align_val_t{kLine});
  }

  static void give_back(void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
    if (bytes >= kMany) {
      ::munmap(memory, whole_pages(bytes));
      return;
    }
#endif
    ::operator delete(memory, std::align_val_t{kLine});
  }

  /// More memory with the same content. The system moves large pieces by their
  /// addresses alone, without a copy.
  static void* enlarge(void* memory, std::size_t bytes, std::size_t wanted) {
#if defined(__linux__)
    if (bytes >= kMany) {
      const std::size_t pages = whole_pages(wanted);
      void* const target = map(pages);  // an address that is not in use
      if (::mremap(memory, whole_pages(bytes), pages, MREMAP_MAYMOVE | MREMAP_FIXED, target) ==
          target)
        return target;
      ::munmap(target, pages);
    }
#endif
    void* const fresh = take(wanted);
    if (bytes > 0) std::memcpy(fresh, memory, bytes);
    give_back(memory, bytes);
    return fresh;
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;
  static constexpr std::size_t kMany = 2 * kHugePage;

#if defined(__linux__)
  static std::size_t whole_pages(std::size_t bytes) {
    return (bytes + kHugePage - 1) / kHugePage * kHugePage;
  }

  /// Whole huge pages at an address that is a multiple of their size: a page more
  /// than needed, less what lies before and after.
  static void* map(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    auto* const start = static_cast<std::byte*>(memory);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(start) % kHugePage;
    const std::size_t before = past == 0 ? 0 : kHugePage - past;
    if (before > 0) ::munmap(start, before);
    if (before < kHugePage) ::munmap(start + before + bytes, kHugePage - before);
    ::madvise(start + before, bytes, MADV_HUGEPAGE);
    return start + before;
  }
#endif
};

/// The part of std::vector that arrays of plain values need, in such memory.
template <class T>
class BigVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  BigVector() = default;
  explicit BigVector(std::size_t count) { resize(count); }
  BigVector(const T* first, const T* last) { append(first, last); }
  BigVector(BigVector&& other) noexcept { swap(other); }
  BigVector& operator=(BigVector&& other) noexcept {
    swap(other);
    return *this;
  }
  ~BigVector() {
    if (capacity_ > 0) Pages::give_back(data_, capacity_ * sizeof(T));
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    const std::size_t held = capacity_ * sizeof(T), wanted = count * sizeof(T);
    data_ = static_cast<T*>(held == 0 ? Pages::take(wanted) : Pages::enlarge(data_, held, wanted));
    capacity_ = count;
  }
  void resize(std::size_t count, T value = {}) {
    if (count > capacity_) grow(count);
    if (count > size_) std::fill(data_ + size_, data_ + count, value);
    size_ = count;
  }
  /// So many more at the end, which the caller writes.
  T* extend(std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    size_ += count;
    return data_ + (size_ - count);
  }
  void push_back(T value) { *extend(1) = value; }
  void append(const T* first, const T* last) {
    std::copy(first, last, extend(static_cast<std::size_t>(last - first)));
  }
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t count) { reserve(std::max(count, 2 * capacity_)); }
  void swap(BigVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// Overwrite all that a buffer holds or has held where it lies now; it is empty then.
template <class T>
void wipe(std::vector<T>& buffer) noexcept {
  buffer.clear();
  buffer.resize(buffer.capacity());  // which takes no memory, and makes all of it zero
  buffer.clear();
}

/// Overwrite what a buffer held when it was longer.
template <class T>
void wipe_behind(std::vector<T>& buffer) noexcept {
  const std::size_t size = buffer.size();
  buffer.resize(buffer.capacity());  // which takes no memory, and is all zeros there
  buffer.resize(size);
}

/// Make room for `extra` more entries. A large batch gets exactly its room, so
/// that bulk loading wastes nothing; single inserts grow by half, so that n of
/// them copy O(n) entries in all.
template <class Entries>
void make_room(Entries& entries, std::size_t extra) {
  const std::size_t need = entries.size() + extra;
  if (need > entries.capacity())
    entries.reserve(std::max(need, entries.capacity() + entries.capacity() / 2));
}

}  // namespace ramify
