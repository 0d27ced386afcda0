// SPDX-License-Identifier: BSD-3-Clause
// growth.hpp: arrays that grow with the stream, whose length nobody knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ramify {

/// Memory in whole cache lines, and from a few megabytes on in huge pages where
/// the system has them: walks through a large tree would otherwise wait as long
/// for addresses to be translated as for the data.
template <class T>
class LineAllocator {
 public:
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    const std::align_val_t align{bytes < kMany ? kLine : kHugePage};
    void* memory = ::operator new(bytes, align);
#if defined(__linux__)
    if (bytes >= kMany) ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    ::operator delete(memory, std::align_val_t{count * sizeof(T) < kMany ? kLine : kHugePage});
  }
  template <class U>
  friend bool operator==(const LineAllocator&, const LineAllocator<U>&) {
    return true;
  }

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;
  static constexpr std::size_t kMany = 4 * kHugePage;
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
