// SPDX-License-Identifier: BSD-3-Clause
// turn_lock.hpp: one at a time, or several who share a turn, in the order in which they came.
//
// A long batch lets readers in between two inserts: it passes its turn on, and as turns
// come in order, it has the next one after those who were waiting. A plain mutex would
// mostly come back to the batch, which has just let go of it. std::shared_mutex promises no
// order: readers who come one after another may keep a writer waiting for ever. Here a reader
// who comes after a writer waits behind the writer. So who has a turn must not ask for another.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>

namespace ramify::bindings {

/// Forks that this process came from, and who may make a lock anew that one of them has copied.
struct Forks {
  std::atomic<std::uint64_t> count = 0;
  std::mutex repairing;  // held over every fork, so that no child is born with it locked
};

inline Forks& forks() {
  static Forks all;
#if defined(__unix__) || defined(__APPLE__)
  static const int registered =
      pthread_atfork([] { all.repairing.lock(); }, [] { all.repairing.unlock(); },
                     [] {
                       ++all.count;
                       all.repairing.unlock();
                     });
  static_cast<void>(registered);
#endif
  return all;
}

/// As in std::shared_mutex: lock() is for one alone, lock_shared() for those who share.
class TurnLock {
 public:
  TurnLock() : forks_(forks().count.load()) {}
  TurnLock(const TurnLock&) = delete;
  TurnLock& operator=(const TurnLock&) = delete;

  bool try_lock() {
    look_for_a_fork();
    const std::lock_guard guard(mutex_);
    if (in_line_ > 0) return false;
    ++in_line_;
    return true;
  }
  bool try_lock_shared() {
    look_for_a_fork();
    const std::lock_guard guard(mutex_);
    if (!is_open_to_sharers()) return false;
    ++in_line_;
    ++sharing_;
    return true;
  }
  void lock() {
    look_for_a_fork();
    std::unique_lock guard(mutex_);
    if (in_line_++ > 0) wait(guard, false);
  }
  void lock_shared() {
    look_for_a_fork();
    std::unique_lock guard(mutex_);
    const bool open = is_open_to_sharers();
    ++in_line_;
    if (open)
      ++sharing_;
    else
      wait(guard, true);
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    --in_line_;
    call_next();
  }
  void unlock_shared() {
    const std::lock_guard guard(mutex_);
    --in_line_;
    if (--sharing_ == 0) call_next();
  }
  /// Who has the turn alone shares it from now on; nobody has it in between.
  void share() {
    const std::lock_guard guard(mutex_);
    sharing_ = 1;
    call_next();
  }
  /// Let in those who wait, and then go on.
  void pass_on() {
    if (in_line() == 1) return;
    unlock();
    lock();
  }
  /// How many have the turn or wait for it.
  std::uint64_t in_line() const { return in_line_.load(std::memory_order_relaxed); }

 private:
  // Each is called by itself: waking all callers for every turn would cost more than most turns.
  struct Waiting {
    explicit Waiting(bool with_others) : shares(with_others) {}
    bool shares;
    std::condition_variable called;
    bool has_turn = false;
    Waiting* behind = nullptr;
  };

  bool is_open_to_sharers() const { return first_ == nullptr && (in_line_ == 0 || sharing_ > 0); }

  void wait(std::unique_lock<std::mutex>& guard, bool shares) {
    Waiting me{shares};
    (last_ == nullptr ? first_ : last_->behind) = &me;
    last_ = &me;
    me.called.wait(guard, [&] { return me.has_turn; });
  }
  /// The first in line, if nobody has the turn; and those who share it, up to one who does not.
  void call_next() {
    while (first_ != nullptr && (first_->shares || sharing_ == 0)) {
      Waiting& next = *first_;
      first_ = next.behind;
      if (first_ == nullptr) last_ = nullptr;
      const bool shares = next.shares;
      if (shares) ++sharing_;
      next.has_turn = true;
      next.called.notify_one();  // with the mutex held: afterwards it may be gone
      if (!shares) return;
    }
  }

  /// Threads are not copied by a fork: a turn that one of them had would never end.
  void look_for_a_fork() {
    Forks& all = forks();
    if (forks_ == all.count) return;
    // The child may have threads of its own by now.
    const std::lock_guard guard(all.repairing);
    if (forks_ == all.count) return;
    if (in_line_ > 0)
      throw std::runtime_error(
          "this model was in use by another thread when this process was forked, so its copy here "
          "may be half changed; fork when no thread uses it, or load it from a file");
    new (&mutex_) std::mutex;
    forks_ = all.count.load();
  }

  std::mutex mutex_;  // guards what follows
  std::atomic<std::uint64_t> in_line_ = 0;
  std::uint64_t sharing_ = 0;  // 0: if somebody has the turn, then alone
  Waiting *first_ = nullptr, *last_ = nullptr;
  std::atomic<std::uint64_t> forks_;  // when the lock was made
};

}  // namespace ramify::bindings
