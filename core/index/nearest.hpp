// SPDX-License-Identifier: BSD-3-Clause
// nearest.hpp: the nearest rows offered so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "math/order.hpp"
#include "tree/ids.hpp"

namespace ramify {

/// The k smallest neighbours offered so far, in order, at found[0] .. found[k - 1]. What is not
/// filled is infinitely far. Asks for no memory.
class Nearest {
 public:
  static constexpr Neighbour kNone{std::numeric_limits<double>::infinity(), 0xFFFFFFFFU};

  /// Rows whose entry in `ruled_out` is not 0 are left out, if it is given.
  Nearest(std::size_t k, Neighbour* found, const std::uint8_t* ruled_out = nullptr)
      : k_(k), found_(found), ruled_out_(ruled_out) {
    std::fill_n(found, k, kNone);
  }

  double limit() const { return found_[k_ - 1].distance; }
  /// Of equal rows, how many can matter.
  std::size_t equals() const {
    return ruled_out_ == nullptr ? k_ : std::numeric_limits<std::size_t>::max();
  }
  void offer(double distance, RowSlot row) {
    if (ruled_out_ != nullptr && ruled_out_[row] != 0) return;
    const Neighbour candidate{distance, row};
    if (!(candidate < found_[k_ - 1])) return;
    std::size_t i = k_ - 1;
    for (; i > 0 && candidate < found_[i - 1]; --i) found_[i] = found_[i - 1];
    found_[i] = candidate;
  }

 private:
  std::size_t k_;
  Neighbour* found_;
  const std::uint8_t* ruled_out_;
};

}  // namespace ramify
