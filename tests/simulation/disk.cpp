// SPDX-License-Identifier: BSD-3-Clause
// disk.cpp: writes down what a program does to the files of one folder, call by call.
//
// Loaded before everything else (LD_PRELOAD), it takes the place of the system's calls that change
// files, names or what is safe. The calls are made, except that nothing is synced for real, and
// each is appended to a log. tests/simulation/disk.py reads the log and works out what a disk may
// hold after a power cut at any of these calls. So the code under test is the real one, with
// SQLite as Python has it, and knows nothing of this.
//
//   record   kind, inode, place, length (8 bytes each), then so many bytes of data or of names
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace {

enum Kind : std::uint64_t { kCreate, kWrite, kCut, kSync, kRename, kUnlink, kMakeDir, kRemoveDir };

constexpr int kMostFiles = 4096;

std::mutex guard;
std::string watched;                     // absolute, with a slash at the end; empty: nothing is
std::vector<char> record;                // of the watched folder
std::atomic<long> calls{0};              // that are in the record
std::atomic<long> last{LONG_MAX};        // the power is cut after so many
std::uint64_t inode_of[kMostFiles] = {}; // of open files that are watched, 0 for others

template <class Call>
Call real(const char* name) {
  return reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
}

std::string absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  char place[PATH_MAX] = {};
  if (folder == AT_FDCWD) {
    if (getcwd(place, sizeof place) == nullptr) return path;
  } else {
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    if (readlink(link, place, sizeof place - 1) < 0) return path;
  }
  return std::string(place) + "/" + path;
}

/// The path inside the watched folder; empty if it is elsewhere, or a file of shared memory.
std::string inside(int folder, const char* path) {
  if (watched.empty()) return "";
  std::string whole = absolute(folder, path);
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  if (whole.size() + 1 == watched.size() && watched.compare(0, whole.size(), whole) == 0) return ".";
  if (whole.compare(0, watched.size(), watched) != 0) return "";
  if (whole.size() > 4 && whole.compare(whole.size() - 4, 4, "-shm") == 0) return "";
  return whole.substr(watched.size());
}

void append(Kind kind, std::uint64_t inode, std::uint64_t place, const void* data,
            std::uint64_t length) {
  if (calls >= last) return;
  ++calls;
  const std::uint64_t head[4] = {kind, inode, place, length};
  const auto* begin = reinterpret_cast<const char*>(head);
  record.insert(record.end(), begin, begin + sizeof head);
  const auto* bytes = static_cast<const char*>(data);
  if (bytes != nullptr) record.insert(record.end(), bytes, bytes + length);
}

void append_names(Kind kind, std::uint64_t inode, const std::string& names) {
  append(kind, inode, 0, names.data(), names.size());
}

std::uint64_t watched_inode(int file) {
  return file >= 0 && file < kMostFiles ? inode_of[file] : 0;
}

void wrote(int file, const void* data, ssize_t count, off_t place) {
  const std::uint64_t inode = watched_inode(file);
  if (inode == 0 || count <= 0) return;
  const std::lock_guard lock(guard);
  append(kWrite, inode, static_cast<std::uint64_t>(place), data, static_cast<std::uint64_t>(count));
}

int opened(int file, const std::string& name, bool is_new, int flags) {
  if (file < 0 || file >= kMostFiles || name.empty()) return file;
  struct stat found {};
  if (fstat(file, &found) != 0) return file;
  const std::lock_guard lock(guard);
  inode_of[file] = found.st_ino;
  if (is_new) append_names(kCreate, found.st_ino, name);
  if (!is_new && (flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_RDONLY) {
    append(kCut, found.st_ino, 0, nullptr, 0);
  }
  return file;
}

template <class Open>
int open_watched(int folder, const char* path, int flags, Open open) {
  const std::string name = inside(folder, path);
  const bool is_new = !name.empty() && (flags & O_CREAT) != 0 &&
                      faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
  return opened(open(), name, is_new, flags);
}

template <class Change>
int change(Kind kind, const std::string& names, Change make) {
  const int result = make();
  if (result == 0 && !names.empty()) {
    const std::lock_guard lock(guard);
    append_names(kind, 0, names);
  }
  return result;
}

int synced(int file, const char* name) {
  const std::uint64_t inode = watched_inode(file);
  if (inode == 0) return real<int (*)(int)>(name)(file);
  struct stat found {};
  fstat(file, &found);
  char link[64], path[PATH_MAX] = {};
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const std::lock_guard lock(guard);
  if (S_ISDIR(found.st_mode) && readlink(link, path, sizeof path - 1) >= 0) {
    append_names(kSync, 0, inside(AT_FDCWD, path));
  } else {
    append(kSync, inode, 0, nullptr, 0);
  }
  return 0;
}

int cut(int file, off_t size, const char* name) {
  const int result = real<int (*)(int, off_t)>(name)(file, size);
  const std::uint64_t inode = watched_inode(file);
  if (result == 0 && inode != 0) {
    const std::lock_guard lock(guard);
    append(kCut, inode, static_cast<std::uint64_t>(size), nullptr, 0);
  }
  return result;
}

std::string both(const std::string& from, const std::string& to) {
  return from.empty() || to.empty() ? "" : from + '\n' + to;
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

#define RAMIFY_OPEN(NAME)                                                                        \
  int NAME(const char* path, int flags, ...) {                                                   \
    va_list rest;                                                                                \
    va_start(rest, flags);                                                                       \
    const mode_t mode = mode_of(flags, rest);                                                    \
    va_end(rest);                                                                                \
    return open_watched(AT_FDCWD, path, flags, [&] {                                             \
      return real<int (*)(const char*, int, ...)>(#NAME)(path, flags, mode);                     \
    });                                                                                          \
  }                                                                                              \
  int NAME##_of(int folder, const char* path, int flags, mode_t mode, const char* name) {        \
    return open_watched(folder, path, flags, [&] {                                               \
      return real<int (*)(int, const char*, int, ...)>(name)(folder, path, flags, mode);         \
    });                                                                                          \
  }

extern "C" {

/// Watch a folder from now on, with an empty record; the power is cut after so many calls.
void disk_watch(const char* folder, long most) {
  const std::lock_guard lock(guard);
  watched = folder;
  record.clear();
  calls = 0;
  last = most;
  std::memset(inode_of, 0, sizeof inode_of);
}

/// Whether the power has been cut.
int disk_is_off() { return calls >= last ? 1 : 0; }

/// So many calls are in the record.
long disk_calls() { return calls; }

/// Cut the power now.
void disk_cut() { last = calls.load(); }

const char* disk_record(std::uint64_t* length) {
  *length = record.size();
  return record.data();
}

RAMIFY_OPEN(open)
RAMIFY_OPEN(open64)

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_of(folder, path, flags, mode, "openat");
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open64_of(folder, path, flags, mode, "openat64");
}

int close(int file) {
  if (file >= 0 && file < kMostFiles) inode_of[file] = 0;
  return real<int (*)(int)>("close")(file);
}

ssize_t write(int file, const void* data, std::size_t count) {
  static auto call = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  const ssize_t result = call(file, data, count);
  if (watched_inode(file) != 0) wrote(file, data, result, lseek(file, 0, SEEK_CUR) - result);
  return result;
}

ssize_t pwrite(int file, const void* data, std::size_t count, off_t at) {
  static auto call = real<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
  const ssize_t result = call(file, data, count, at);
  wrote(file, data, result, at);
  return result;
}

ssize_t pwrite64(int file, const void* data, std::size_t count, off64_t at) {
  static auto call = real<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  const ssize_t result = call(file, data, count, at);
  wrote(file, data, result, at);
  return result;
}

/// Copies that the kernel makes by itself would not be seen: callers then copy by hand.
ssize_t sendfile64(int, int, off64_t*, std::size_t) {
  errno = ENOTSOCK;
  return -1;
}

int ftruncate(int file, off_t size) { return cut(file, size, "ftruncate"); }
int ftruncate64(int file, off64_t size) { return cut(file, size, "ftruncate64"); }
int fsync(int file) { return synced(file, "fsync"); }
int fdatasync(int file) { return synced(file, "fdatasync"); }

int rename(const char* from, const char* to) {
  return change(kRename, both(inside(AT_FDCWD, from), inside(AT_FDCWD, to)),
                [&] { return real<int (*)(const char*, const char*)>("rename")(from, to); });
}

int renameat(int folder, const char* from, int other, const char* to) {
  return change(kRename, both(inside(folder, from), inside(other, to)), [&] {
    return real<int (*)(int, const char*, int, const char*)>("renameat")(folder, from, other, to);
  });
}

int unlink(const char* path) {
  return change(kUnlink, inside(AT_FDCWD, path),
                [&] { return real<int (*)(const char*)>("unlink")(path); });
}

int unlinkat(int folder, const char* path, int flags) {
  const Kind kind = (flags & AT_REMOVEDIR) != 0 ? kRemoveDir : kUnlink;
  return change(kind, inside(folder, path), [&] {
    return real<int (*)(int, const char*, int)>("unlinkat")(folder, path, flags);
  });
}

int mkdir(const char* path, mode_t mode) {
  return change(kMakeDir, inside(AT_FDCWD, path),
                [&] { return real<int (*)(const char*, mode_t)>("mkdir")(path, mode); });
}

int rmdir(const char* path) {
  return change(kRemoveDir, inside(AT_FDCWD, path),
                [&] { return real<int (*)(const char*)>("rmdir")(path); });
}
}
