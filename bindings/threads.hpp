// SPDX-License-Identifier: BSD-3-Clause
// threads.hpp: threads that do independent pieces of work, while the caller goes on with
// something else or does pieces of its own.
//
// Threads live here and not in the core, like all that belongs to the world outside.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "helpers.hpp"
#include "partners.hpp"

namespace ramify::bindings {

/// Up to `threads` in all, the caller among them; the others come when there is
/// work for them. Which of them does which piece is chance; what a piece computes
/// is not, so results kept by number do not depend on how many threads there are.
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

  /// Throws the first failure. No thread is at work any more then: pieces refer to what the
  /// caller owns.
  void finish(const Pulse& pulse) override {
    try {
      help([&](std::size_t) {
        pulse.check();
        return !stop_;
      });
    } catch (...) {
      fail(std::current_exception());
    }
    const std::exception_ptr failed = abandon_all();
    if (failed) std::rethrow_exception(failed);
  }

  void abandon() noexcept override { abandon_all(); }

  std::size_t count() const override { return others_ + 1; }
  void share(std::size_t pieces, const ShortWork& work) override {
    if (!partners_) partners_.emplace(others_);
    partners_->run(pieces, work);
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{20};

  void help(const Pulse& pulse) {
    std::unique_lock lock(mutex_);
    while (next_ < pieces_ && !failed_) {
      const std::size_t piece = next_++;
      lock.unlock();
      work_(piece, pulse);
      lock.lock();
    }
    while (!somebody_left_.wait_for(lock, kPatience, [&] { return at_work_ == 0 || failed_; })) {
      lock.unlock();
      pulse.check();
      lock.lock();
    }
  }

  /// Also stops the threads that are at work: of several failures, the first counts.
  void fail(const std::exception_ptr& failed) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = failed;
    stop_ = true;
  }

  /// Have no thread at work and nothing left to do; what had failed until then.
  std::exception_ptr abandon_all() noexcept {
    std::unique_lock lock(mutex_);
    next_ = pieces_ = 0;
    stop_ = true;
    somebody_left_.wait(lock, [&] { return at_work_ == 0; });
    stop_ = false;
    return std::exchange(failed_, nullptr);
  }

  void hire(std::size_t wanted) {
    try {
      while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      others_ = threads_.size();  // the machine has no more of them to give
    }
  }

  void serve() {
    const Pulse pulse = [this](std::size_t) { return !stop_.load(std::memory_order_relaxed); };
    std::unique_lock lock(mutex_);
    for (;;) {
      something_to_do_.wait(lock, [&] { return closing_ || (next_ < pieces_ && !failed_); });
      if (closing_) return;
      const std::size_t piece = next_++;
      ++at_work_;
      lock.unlock();
      try {
        work_(piece, pulse);
      } catch (...) {
        fail(std::current_exception());
      }
      lock.lock();
      --at_work_;
      somebody_left_.notify_all();
    }
  }

  std::size_t others_;  // than the caller
  std::optional<Partners> partners_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable something_to_do_, somebody_left_;
  Work work_;  // changed only while no thread is at work
  std::size_t pieces_ = 0, next_ = 0, at_work_ = 0;
  bool closing_ = false;
  std::exception_ptr failed_;
};

}  // namespace ramify::bindings
