// SPDX-License-Identifier: BSD-3-Clause
// pulse.hpp: how long work reports, lets others in and is told to stop. The core has no
// clock, no signals and no threads; it calls back often, and the listener has them.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

namespace ramify {

/// Thrown out of work that has changed nothing yet, or nothing that will be kept.
struct Stopped {};

/// Handed down by reference, to one thread. An empty one always goes on.
class Pulse {
 public:
  Pulse() = default;
  /// `goes_on(done)` is told how many rows of this call are done, and false means: stop.
  /// `rest()` may do what needs a tree and an index that do not change.
  template <std::predicate<std::size_t> GoesOn>
  Pulse(GoesOn goes_on, std::function<void()> rest = {})
      : goes_on_(std::move(goes_on)), rest_(std::move(rest)) {}

  explicit operator bool() const { return static_cast<bool>(goes_on_); }

  /// This many rows are done. False: stop now, leaving everything valid.
  bool operator()(std::size_t done) const {
    done_ = done;
    return !goes_on_ || goes_on_(done);
  }
  /// The same, but throws Stopped; without a number where there are no rows to count.
  void check(std::size_t done) const {
    if (!(*this)(done)) throw Stopped{};
  }
  void check() const { check(done_); }

  /// Between two pieces of work, when everything is at rest for a moment.
  void rest() const {
    if (rest_) rest_();
  }

 private:
  std::function<bool(std::size_t done)> goes_on_;
  std::function<void()> rest_;
  mutable std::size_t done_ = 0;  // as told last
};

}  // namespace ramify
