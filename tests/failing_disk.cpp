// SPDX-License-Identifier: BSD-3-Clause
// failing_disk.cpp: a disk that fills up, tears writes or fails to sync when a test says so.
//
// Loaded before everything else (LD_PRELOAD), it takes the place of the system's calls that
// write and sync, for files below the folder in RAMIFY_FAILING_DISK; others are left alone.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Trouble : int { kNone, kFull, kShort, kSync };

std::atomic<int> trouble{kNone};
std::atomic<long> left{0};          // calls until it happens
std::atomic<bool> for_good{false};  // and again for all that follow
std::atomic<long> happened{0};

bool is_ours(int file) {
  static const char* folder = std::getenv("RAMIFY_FAILING_DISK");
  if (folder == nullptr) return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  return std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool strikes(int kind, int file) {
  if (trouble != kind || !is_ours(file)) return false;
  if (left.fetch_sub(1) > 0) return false;
  if (!for_good) trouble = kNone;
  left = 0;
  ++happened;
  return true;
}

template <class Call>
Call real(const char* name) {
  return reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
}

template <class Write>
ssize_t guarded(int file, std::size_t count, Write write) {
  if (strikes(kFull, file)) {
    errno = ENOSPC;
    return -1;
  }
  if (strikes(kShort, file)) {
    trouble = kFull;  // a part, and then no more
    return write(count / 2);
  }
  return write(count);
}

int synced(int file, const char* name) {
  if (strikes(kSync, file)) {
    errno = EIO;
    return -1;
  }
  return real<int (*)(int)>(name)(file);
}

}  // namespace

extern "C" {

void disk_will_fail(int kind, long after, int always) {
  left = after;
  for_good = always != 0;
  trouble = kind;
}

long disk_has_failed() { return happened.exchange(0); }

ssize_t write(int file, const void* data, std::size_t count) {
  static auto call = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  return guarded(file, count, [&](std::size_t n) { return call(file, data, n); });
}

ssize_t pwrite(int file, const void* data, std::size_t count, off_t at) {
  static auto call = real<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  return guarded(file, count, [&](std::size_t n) { return call(file, data, n, at); });
}

ssize_t pwrite64(int file, const void* data, std::size_t count, off64_t at) {
  static auto call = real<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  return guarded(file, count, [&](std::size_t n) { return call(file, data, n, at); });
}

int fsync(int file) { return synced(file, "fsync"); }
int fdatasync(int file) { return synced(file, "fdatasync"); }
}
