// SPDX-License-Identifier: BSD-3-Clause
// What must hold of a tree.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "tree/tree.hpp"

namespace ramify {
namespace {

void require(bool holds, int invariant, const std::string& what) {
  if (!holds)
    throw std::logic_error("tree invariant " + std::to_string(invariant) + " broken: " + what);
}

}  // namespace

template <class Real>
void Tree<Real>::check_links() const {
  const std::size_t n = points_.living();
  if (n == 0) {
    require(root_ == kNone && slots() == free_.size(), 1, "an empty tree has a node");
    return;
  }
  require(root_ != kNone, 1, "no root");
  require(parent(root_) == kNone, 1, "the root has a parent");
  require(attached() == n, 2, "inner nodes are not points - 1");
  std::vector<bool> met_slot(slots()), met_point(points_.slots());
  std::vector<NodeId> stack{root_};
  std::size_t met = 0;
  while (!stack.empty()) {
    const NodeId v = stack.back();
    stack.pop_back();
    const bool again = v.is_leaf() ? met_point[v.row()] : met_slot[v.slot()];
    require(!again, 2, "a node is met twice");
    (v.is_leaf() ? met_point[v.row()] : met_slot[v.slot()]) = true;
    ++met;
    if (v.is_leaf()) continue;
    for (const NodeId child : {left(v), right(v)}) {
      require(child != kNone && parent(child) == v, 1, "a child does not know its parent");
      stack.push_back(child);
    }
  }
  require(met == 2 * n - 1, 2, "some node is not below the root");
}

template <class Real>
void Tree<Real>::check_summaries() const {
  // A mean of n points is rounded up to n times on its way here, each time by half a
  // unit in the last place: of the column's largest number, or of the smallest there is.
  const double unit = std::numeric_limits<Real>::epsilon();
  const double smallest = std::numeric_limits<Real>::denorm_min();
  const auto slack_for = [&](double n) {
    return std::max(sizeof(Real) == sizeof(float) ? 1e-3 : 1e-9, n * unit);
  };
  std::vector<double> sum(slots() * dim()), deviation(slots());
  std::vector<double> scale(dim());
  for (std::size_t i = 0; i < points_.slots(); ++i)
    for (std::size_t j = 0; j < dim(); ++j)
      scale[j] = std::max(scale[j],
                          std::fabs(static_cast<double>(points_.row(static_cast<RowSlot>(i))[j])));
  double spread = 0;
  for (const double s : scale) spread += s * s;
  // Fresh means in double: a leaf's is its row, an inner node's its children's.
  std::vector<double> mean_a(dim()), mean_b(dim());
  std::vector<Real> room(dim());
  const auto fresh_mean = [&](NodeId v, std::vector<double>& out) {
    for (std::size_t j = 0; j < dim(); ++j)
      out[j] =
          v.is_leaf() ? static_cast<double>(points_.row(v.row())[j]) : sum[v.slot() * dim() + j];
  };
  for (const Slot slot : bottom_up()) {
    const NodeId a = inner(slot).left;
    const NodeId b = inner(slot).right;
    require(inner(slot).stale != kAllStale, 4, "stale, in a check of a refreshed tree");
    require(inner(slot).count == count(a) + count(b), 3, "count");
    require(std::fabs(weight(NodeId::inner(slot)) - (weight(a) + weight(b))) <=
                1e-9 * (weight(a) + weight(b)),
            4, "weight");
    require(inner(slot).first_leaf == std::min(first_leaf(a), first_leaf(b)), 3, "first_leaf");
    fresh_mean(a, mean_a);
    fresh_mean(b, mean_b);
    const double n_a = weight(a), n_b = weight(b), n = n_a + n_b;
    const double slack = slack_for(inner(slot).count);
    const Real* const own = this->mean(NodeId::inner(slot), room.data());
    double gap = 0;
    for (std::size_t j = 0; j < dim(); ++j) {
      const double step = mean_b[j] - mean_a[j];
      gap += step * step;
      const double mean = mean_a[j] + n_b / (n_a + n_b) * step;
      sum[slot * dim() + j] = mean;
      require(std::fabs(mean - static_cast<double>(own[j])) <= slack * scale[j] + n * smallest, 4,
              "mean");
    }
    const auto below = [&](NodeId v) { return v.is_leaf() ? ssd(v) : deviation[v.slot()]; };
    deviation[slot] = merged_ssd(n_a, below(a), n_b, below(b), gap);
    // A mean wrong by e moves the ssd by up to n e (sqrt(ssd/n) + e).
    const double wrong = slack * std::sqrt(spread) + n * smallest;
    require(inner(slot).ssd >= 0, 4, "negative ssd");
    require(
        std::fabs(deviation[slot] - inner(slot).ssd) <=
            slack * deviation[slot] + n * wrong * (std::sqrt(deviation[slot] / n) + wrong) + 1e-300,
        4, "ssd");
  }
}

template <class Real>
void Tree<Real>::check_stale() const {
  for (const Slot slot : bottom_up()) {
    const NodeId above = inner(slot).parent;
    require(inner(slot).stale == kFresh || above == kNone || inner(above.slot()).stale != kFresh, 6,
            "the parent of a stale node is not");
    if (inner(slot).stale != kFresh) continue;
    for (const NodeId child : {inner(slot).left, inner(slot).right})
      require(child.is_leaf() || heights_[child.slot()].monotone <= heights_[slot].monotone, 6,
              "a height below is larger");
  }
}

template <class Real>
void Tree<Real>::check_ids() const {
  std::vector<std::uint64_t> ids = this->ids();
  std::sort(ids.begin(), ids.end());
  require(std::adjacent_find(ids.begin(), ids.end()) == ids.end(), 5, "an id twice");
  require(ids.empty() || ids.back() < next_id_, 5, "an id from the future");
}

template <class Real>
void Tree<Real>::check_marks() const {
  if (!marked()) return;
  require(marks_.size() == slots(), 7, "marks for other nodes than there are");
  for_each_slot([&](Slot slot) {
    if (marks_[slot] != Mark::kLinked) return;
    for (const NodeId child : {inner(slot).left, inner(slot).right})
      require(child.is_leaf() || mark(child) == Mark::kLinked, 7, "a node below is not linked");
  });
}

template <class Real>
void Tree<Real>::check() const {
  check_links();
  nodes_.check();
  check_summaries();
  check_stale();
  check_ids();
  check_marks();
}

template void Tree<float>::check_links() const;
template void Tree<double>::check_links() const;
template void Tree<float>::check_marks() const;
template void Tree<double>::check_marks() const;
template void Tree<float>::check() const;
template void Tree<double>::check() const;

}  // namespace ramify
