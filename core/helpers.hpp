// SPDX-License-Identifier: BSD-3-Clause
// helpers.hpp: who does pieces of work that are independent of each other. The core has no
// threads; its caller may have some (bindings/threads.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

#include "pulse.hpp"

namespace ramify {

class Helpers {
 public:
  /// A piece of work checks its pulse now and then, and may be thrown out of.
  using Work = std::function<void(std::size_t piece, const Pulse& pulse)>;
  virtual ~Helpers() = default;
  /// Start on pieces 0 .. pieces-1 in the background, if there is one.
  virtual void begin(std::size_t pieces, Work work) = 0;
  /// Have all pieces done, with the caller's help; `pulse` may throw. However this ends,
  /// no piece is at work afterwards.
  virtual void finish(const Pulse& pulse) = 0;
  /// Forget pieces not yet begun, and stop those that are.
  virtual void abandon() noexcept = 0;

  /// How many there are, the caller among them.
  virtual std::size_t count() const = 0;
  /// Have pieces 0 .. pieces-1 of work done that takes some microseconds in all, while nothing
  /// has been begun. Worth it only if the next call follows soon.
  using ShortWork = std::function<void(std::size_t piece)>;
  virtual void share(std::size_t pieces, const ShortWork& work) = 0;
};

/// The least of the numbers that pieces of work come upon at the same time. What one of them reads
/// may be a moment old.
class SharedLeast {
 public:
  explicit SharedLeast(double value) : value_(value) {}
  double value() const { return value_.load(std::memory_order_relaxed); }
  void lower(double to) {
    double now = value();
    while (to < now && !value_.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<double> value_;
};

/// The caller alone.
class Alone final : public Helpers {
 public:
  void begin(std::size_t pieces, Work work) override {
    pieces_ = pieces;
    work_ = std::move(work);
  }
  void finish(const Pulse& pulse) override {
    for (std::size_t piece = 0; piece < pieces_; ++piece) work_(piece, pulse);
    pieces_ = 0;
  }
  void abandon() noexcept override { pieces_ = 0; }
  std::size_t count() const override { return 1; }
  void share(std::size_t pieces, const ShortWork& work) override {
    for (std::size_t piece = 0; piece < pieces; ++piece) work(piece);
  }

 private:
  std::size_t pieces_ = 0;
  Work work_;
};

/// Things 0 .. count-1, some at a time: all helpers prepare them, and then the caller uses one
/// after the other. Nothing may have been begun.
///   prepare(first, last)  those from first on, before last
///   use(i)
inline constexpr std::size_t kPrepared = 1024;
template <class Prepare, class Use>
void prepare_and_use(std::size_t count, Helpers& helpers, const Pulse& pulse, Prepare&& prepare,
                     Use&& use) {
  constexpr std::size_t kPiece = 64;
  for (std::size_t from = 0; from < count; from += kPrepared) {
    const std::size_t end = std::min(from + kPrepared, count);
    helpers.begin((end - from + kPiece - 1) / kPiece, [&](std::size_t piece, const Pulse& own) {
      own.check();
      const std::size_t first = from + piece * kPiece;
      prepare(first, std::min(first + kPiece, end));
    });
    helpers.finish(pulse);
    for (std::size_t i = from; i < end; ++i) use(i);
  }
}

}  // namespace ramify
