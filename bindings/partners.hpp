// SPDX-License-Identifier: BSD-3-Clause
// partners.hpp: threads that share work of some microseconds with a caller, many times over.
//
// Waking a sleeper takes longer than such work does. So partners stay awake between two calls, as
// long as these follow soon upon each other, and fall asleep when they do not. A partner
// whom the machine has given no time has no piece either: the caller does what no other thread
// has begun, and waits only for what has been begun.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ramify::bindings {

class Partners {
 public:
  using Work = std::function<void(std::size_t piece)>;

  /// This many beside the caller, or as many as the machine has to give.
  explicit Partners(std::size_t others) {
    threads_.reserve(others);
    while (threads_.size() < others && hire()) {
    }
  }
  Partners(const Partners&) = delete;
  Partners& operator=(const Partners&) = delete;
  ~Partners() {
    closing_ = true;
    wake();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Have all pieces done. Throws the first failure, when no thread is at work any more.
  void run(std::size_t pieces, const Work& work) {
    work_ = &work;
    done_.store(0, std::memory_order_relaxed);
    tickets_.store(std::uint64_t{pieces} << kPlaces, std::memory_order_release);
    wake();
    help();
    for (std::size_t tries = 0; done_.load(std::memory_order_acquire) < pieces; ++tries)
      rest(tries);
    if (!has_failed_) return;
    has_failed_ = false;
    std::rethrow_exception(std::exchange(failed_, nullptr));
  }

 private:
  // How many pieces there are, and below it which is the next: so that a thread that takes a ticket
  // late knows from it alone that there is nothing left to do.
  static constexpr unsigned kPlaces = 32;
  static constexpr std::size_t kAwake = 20'000;  // looks, a few hundred microseconds
  static constexpr std::size_t kPatient = 200;   // before others get the processor

  bool hire() {
    try {
      threads_.emplace_back([this] { serve(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void help() {
    for (;;) {
      const std::uint64_t ticket = tickets_.fetch_add(1, std::memory_order_acq_rel);
      const std::uint64_t piece = ticket & ((std::uint64_t{1} << kPlaces) - 1);
      if (piece >= ticket >> kPlaces) return;
      try {
        (*work_)(piece);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failed_) failed_ = std::current_exception();
        has_failed_ = true;
      }
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  void serve() {
    std::uint32_t seen = 0;
    for (;;) {
      std::uint32_t now = calls_.load(std::memory_order_acquire);
      for (std::size_t tries = 0; now == seen && tries < kAwake; ++tries) {
        rest(tries);
        now = calls_.load(std::memory_order_acquire);
      }
      if (now == seen) {
        calls_.wait(seen, std::memory_order_acquire);
        continue;
      }
      seen = now;
      if (closing_) return;
      help();
    }
  }

  void wake() {
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
  }

  static void rest(std::size_t tries) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
    __asm__ __volatile__("yield");
#endif
    if (tries % kPatient == kPatient - 1) std::this_thread::yield();
  }

  std::vector<std::thread> threads_;
  std::atomic<std::uint32_t> calls_ = 0;
  std::atomic<std::uint64_t> tickets_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> closing_ = false, has_failed_ = false;
  const Work* work_ = nullptr;  // changed only while all pieces are done
  std::mutex mutex_;            // guards what follows
  std::exception_ptr failed_;
};

}  // namespace ramify::bindings
