// SPDX-License-Identifier: BSD-3-Clause
// helpers.hpp: who does pieces of work that are independent of each other. The core has no
// threads; whoever calls it may have some (bindings/threads.hpp).
#pragma once

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
  /// nobody is at work afterwards.
  virtual void finish(const Pulse& pulse) = 0;
  /// Forget pieces not yet begun, and stop those that are.
  virtual void abandon() noexcept = 0;
};

/// Nobody but the caller.
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

 private:
  std::size_t pieces_ = 0;
  Work work_;
};

}  // namespace ramify
