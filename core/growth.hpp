// SPDX-License-Identifier: BSD-3-Clause
// growth.hpp: arrays that grow with the stream, whose length nobody knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ramify {

/// Memory in whole cache lines, and from a few megabytes on straight from the
/// system: in huge pages where it has them, since walks through a large tree would
/// otherwise wait as long for addresses to be translated as for the data, and given
/// back for good when freed.
template <class T>
class LineAllocator {
 public:
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
#if defined(__linux__)
    if (bytes >= kMany) return static_cast<T*>(map(whole_pages(bytes)));
#endif
    return static_cast<T*>(::operator new(bytes, std::align_val_t{kLine}));
  }
  void deallocate(T* memory, std::size_t count) {
#if defined(__linux__)
    if (count * sizeof(T) >= kMany) {
      ::munmap(memory, whole_pages(count * sizeof(T)));
      return;
    }
#endif
    ::operator delete(memory, std::align_val_t{kLine});
  }
  template <class U>
  friend bool operator==(const LineAllocator&, const LineAllocator<U>&) {
    return true;
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

template <class T>
using BigVector = std::vector<T, LineAllocator<T>>;

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
