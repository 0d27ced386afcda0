// SPDX-License-Identifier: BSD-3-Clause
// helpers.hpp: threads that do the core's independent pieces of work while it
// goes on with something else (core/lookahead.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "index/lookahead.hpp"

namespace ramify::bindings {

/// Up to `threads` in all, the caller among them; the others come when there is
/// work for them. Which of them does which piece is chance; what a piece computes
/// is not.
class Threads final : public Helpers {
 public:
  explicit Threads(std::size_t threads) : others_(std::max<std::size_t>(threads, 1) - 1) {}
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() override {
    abandon();
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    something_to_do_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void begin(std::size_t pieces, Work work) override {
    hire(std::min(others_, pieces));
    {
      const std::lock_guard lock(mutex_);
      pieces_ = pieces;
      next_ = 0;
      work_ = std::move(work);
    }
    something_to_do_.notify_all();
  }

  /// When this throws, nobody is at work any more: pieces refer to what the caller owns.
  void finish(const Breathe& breathe) override {
    try {
      help(breathe);
    } catch (...) {
      abandon();  // whoever catches this may change what the others are still reading
      throw;
    }
  }

  void abandon() noexcept override {
    std::unique_lock lock(mutex_);
    next_ = pieces_ = 0;
    stop_ = true;
    all_done_.wait(lock, [&] { return at_work_ == 0; });
    stop_ = false;
    failed_ = nullptr;
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{20};

  void help(const Breathe& breathe) {
    std::unique_lock lock(mutex_);
    while (next_ < pieces_ && !failed_) {
      const std::size_t piece = next_++;
      lock.unlock();
      work_(piece, breathe);
      lock.lock();
    }
    while (!all_done_.wait_for(lock, kPatience, [&] { return at_work_ == 0; })) {
      lock.unlock();
      if (breathe) breathe();
      lock.lock();
    }
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
  }

  void hire(std::size_t wanted) {
    try {
      while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      others_ = threads_.size();  // the machine has no more of them to give
    }
  }

  void serve() {
    const Breathe breathe = [this] {
      if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    };
    std::unique_lock lock(mutex_);
    for (;;) {
      something_to_do_.wait(lock, [&] { return closing_ || (next_ < pieces_ && !failed_); });
      if (closing_) return;
      const std::size_t piece = next_++;
      ++at_work_;
      lock.unlock();
      std::exception_ptr failed;
      try {
        work_(piece, breathe);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      if (failed) failed_ = failed;
      if (--at_work_ == 0) all_done_.notify_all();
    }
  }

  std::size_t others_;  // than the caller
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable something_to_do_, all_done_;
  Work work_;  // changed only while nobody is at work
  std::size_t pieces_ = 0, next_ = 0, at_work_ = 0;
  bool closing_ = false;
  std::exception_ptr failed_;
};

}  // namespace ramify::bindings
