// SPDX-License-Identifier: BSD-3-Clause
// nearest.hpp: the nearest rows offered so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "math/growth.hpp"
#include "math/order.hpp"
#include "tree/ids.hpp"

namespace ramify {

inline BigVector<RowSlot> in_order_of_arrival(std::size_t begin, std::size_t end) {
  BigVector<RowSlot> out(end - begin);
  std::iota(out.begin(), out.end(), static_cast<RowSlot>(begin));
  return out;
}

/// The k smallest neighbours offered so far, in order.
class Nearest {
 public:
  Nearest(std::size_t k, std::vector<Neighbour>& found) : k_(k), found_(found) { found_.clear(); }

  double limit() const { return limit_; }
  std::size_t equals() const { return k_; }
  void offer(double distance, RowSlot point) {
    const Neighbour candidate{distance, point};
    if (found_.size() == k_) {
      if (!(candidate < found_.back())) return;
      found_.pop_back();
    }
    found_.insert(std::upper_bound(found_.begin(), found_.end(), candidate), candidate);
    if (found_.size() == k_) limit_ = found_.back().distance;
  }

 private:
  std::size_t k_;
  std::vector<Neighbour>& found_;
  double limit_ = std::numeric_limits<double>::infinity();
};

/// The nearest one offered so far that is not ruled out.
class NearestAllowed {
 public:
  NearestAllowed(const std::uint8_t* ruled_out, Neighbour& found)
      : ruled_out_(ruled_out), found_(found) {
    found_ = {std::numeric_limits<double>::infinity(), 0};
  }

  double limit() const { return found_.distance; }
  std::size_t equals() const { return std::numeric_limits<std::size_t>::max(); }
  bool allows(RowSlot point) const { return ruled_out_[point] == 0; }
  void offer(double distance, RowSlot point) {
    if (!allows(point)) return;
    const Neighbour candidate{distance, point};
    if (!any_ || candidate < found_) found_ = candidate;
    any_ = true;
  }
  bool any() const { return any_; }

 private:
  const std::uint8_t* ruled_out_;
  Neighbour& found_;
  bool any_ = false;
};

}  // namespace ramify
