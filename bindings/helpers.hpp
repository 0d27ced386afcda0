// SPDX-License-Identifier: BSD-3-Clause
// helpers.hpp: threads that do the core's independent pieces of work while it
// goes on with something else (core/lookahead.hpp).
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "lookahead.hpp"

namespace ramify::bindings {

/// `threads` in all, the caller among them. Which of them does which piece is
/// chance; what a piece computes is not.
class Threads final : public Helpers {
 public:
  explicit Threads(std::size_t threads) {
    const std::size_t others = std::max<std::size_t>(threads, 1) - 1;
    threads_.reserve(others);
    try {
      while (threads_.size() < others) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The machine has no more of them to give: those we have will do.
    }
  }
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
    {
      const std::lock_guard lock(mutex_);
      pieces_ = pieces;
      next_ = 0;
      work_ = std::move(work);
    }
    something_to_do_.notify_all();
  }

  void finish(const Breathe& breathe) override {
    std::unique_lock lock(mutex_);
    while (next_ < pieces_ && !failed_) {
      const std::size_t piece = next_++;
      lock.unlock();
      if (breathe) breathe();
      work_(piece);
      lock.lock();
    }
    all_done_.wait(lock, [&] { return at_work_ == 0; });
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
  }

  void abandon() noexcept override {
    std::unique_lock lock(mutex_);
    next_ = pieces_ = 0;
    all_done_.wait(lock, [&] { return at_work_ == 0; });
    failed_ = nullptr;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      something_to_do_.wait(lock, [&] { return closing_ || (next_ < pieces_ && !failed_); });
      if (closing_) return;
      const std::size_t piece = next_++;
      ++at_work_;
      lock.unlock();
      std::exception_ptr failed;
      try {
        work_(piece);
      } catch (...) {
        failed = std::current_exception();
      }
      lock.lock();
      if (failed) failed_ = failed;
      if (--at_work_ == 0) all_done_.notify_all();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable something_to_do_, all_done_;
  Work work_;  // changed only while nobody is at work
  std::size_t pieces_ = 0, next_ = 0, at_work_ = 0;
  bool closing_ = false;
  std::exception_ptr failed_;
};

}  // namespace ramify::bindings
