// SPDX-License-Identifier: BSD-3-Clause
// failing_allocator.cpp: memory that runs out when a test says so.
//
// Loaded before everything else (LD_PRELOAD), it takes the place of C++'s operator
// new, and of mmap for pieces as large as core/math/growth.hpp asks for. Python's own
// memory comes from malloc and is left alone, so what fails is the core.
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> left{-1};        // requests until one is refused; below 0: none is
std::atomic<bool> for_good{false};  // refuse all that follow, too
std::atomic<long> refused{0};
constexpr std::size_t kLargePiece = std::size_t{4} << 20;

bool refuses() {
  long now = left.load();
  while (now > 0)
    if (left.compare_exchange_weak(now, now - 1)) return false;
  if (now < 0) return false;
  if (!for_good) left = -1;
  ++refused;
  return true;
}

void* take(std::size_t bytes, std::size_t alignment) {
  if (refuses()) throw std::bad_alloc();
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t))
    memory = std::malloc(bytes > 0 ? bytes : 1);
  else if (posix_memalign(&memory, alignment, bytes) != 0)
    memory = nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

extern "C" {

/// Grant so many requests and refuse the next, or all from there on.
void fail_after(long requests, int all) {
  refused = 0;
  for_good = all != 0;
  left = requests;
}

/// Grant everything again; how many requests were refused.
long stop_failing() {
  left = -1;
  return refused;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  static const auto real =
      reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(dlsym(RTLD_NEXT, "mmap"));
  if (file == -1 && bytes >= kLargePiece && refuses()) return MAP_FAILED;
  return real(address, bytes, protection, flags, file, offset);
}
}

void* operator new(std::size_t bytes) { return take(bytes, 0); }
void* operator new[](std::size_t bytes) { return take(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
