// SPDX-License-Identifier: BSD-3-Clause
// crew.hpp: independent blocks of work, handed out to a few threads.
//
// Threads live here and not in the core, like all that belongs to the world
// outside. Which thread does which block is chance; what a block computes is not,
// so results kept by block number do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "breath.hpp"

namespace ramify::bindings {

class Crew {
 public:
  /// Call work(block, keep_going) for every block below `blocks`, from `threads`
  /// threads, while this one breathes: news(blocks_done) is what it reports.
  /// keep_going() turns false when somebody failed or Python wants to stop.
  template <class Work, class News>
  void run(std::size_t blocks, std::size_t threads, Breath& breath, const Work& work,
           const News& news) {
    const auto labour = [&] {
      try {
        for (std::size_t block = next_++; block < blocks && !stop_; block = next_++) {
          work(block, [this] { return !stop_.load(std::memory_order_relaxed); });
          ++done_;
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failed_ = std::current_exception();
        stop_ = true;
      }
      const std::lock_guard lock(mutex_);
      --at_work_;
      somebody_left_.notify_one();
    };
    const Joined crew(*this, std::min(std::max<std::size_t>(threads, 1), blocks), labour);
    std::unique_lock lock(mutex_);
    while (!somebody_left_.wait_for(lock, std::chrono::milliseconds(20),
                                    [&] { return at_work_ == 0; })) {
      lock.unlock();
      if (!breath(news(done_))) stop_ = true;
      lock.lock();
    }
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  // Threads that are waited for, whatever happens: also when the machine has no
  // more of them to give.
  class Joined {
   public:
    template <class Labour>
    Joined(Crew& crew, std::size_t threads, const Labour& labour) {
      threads_.reserve(threads);
      try {
        while (threads_.size() < threads) {
          {
            const std::lock_guard lock(crew.mutex_);
            ++crew.at_work_;
          }
          threads_.emplace_back(labour);
        }
      } catch (...) {
        const std::lock_guard lock(crew.mutex_);
        --crew.at_work_;
        if (threads_.empty()) throw;
      }
    }
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;
    ~Joined() {
      for (std::thread& thread : threads_) thread.join();
    }

   private:
    std::vector<std::thread> threads_;
  };

  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable somebody_left_;
  std::size_t at_work_ = 0;
  std::exception_ptr failed_;
};

}  // namespace ramify::bindings
