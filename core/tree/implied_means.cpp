// SPDX-License-Identifier: BSD-3-Clause
#include "tree/implied_means.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "math/summary.hpp"
#include "tree/ids.hpp"

namespace ramify {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

/// Nodes after their children, and the weights of nodes; nothing here is led outside of arrays.
template <class Real>
class BottomUp {
 public:
  explicit BottomUp(const StoredLinks<Real>& tree) : tree_(tree), slots_(tree.links.size() / 3) {
    if (tree.dim == 0) throw std::invalid_argument("a stored tree has rows of no width");
    rows_ = tree.points.size() / tree.dim;
    require(tree.points.size() == rows_ * tree.dim && tree.links.size() == 3 * slots_ &&
                slots_ == (rows_ > 0 ? rows_ - 1 : 0) &&
                (tree.standings.empty() || tree.standings.size() == 2 * rows_),
            "the arrays of a stored tree do not fit each other");
    sort();
    weigh();
  }

  std::size_t slots() const { return slots_; }
  std::span<const Slot> order() const { return order_; }

  /// Merge the summaries of a node's children, given the means of all nodes below it.
  void merge(Slot slot, const Real* means, Real* out) const {
    merged_mean(summary(child(slot, 1), means), summary(child(slot, 2), means), tree_.dim, out);
  }

 private:
  NodeId child(Slot slot, std::size_t k) const {
    return NodeId::from_raw(tree_.links[3 * std::size_t{slot} + k]);
  }

  SummaryView<Real> summary(NodeId v, const Real* means) const {
    if (v.is_leaf()) return {weight(v), tree_.points.data() + v.row() * tree_.dim, 0};
    return {weight(v), means + v.slot() * tree_.dim, 0};
  }

  double weight(NodeId v) const {
    if (!v.is_leaf()) return weights_[v.slot()];
    return tree_.standings.empty() ? 1 : tree_.standings[2 * std::size_t{v.row()}];
  }

  void sort() {
    constexpr Slot kNobody = ~Slot{0};
    std::vector<Slot> parent(slots_, kNobody);
    std::vector<std::uint8_t> waits_for(slots_, 0);
    order_.reserve(slots_);
    for (Slot slot = 0; slot < slots_; ++slot) {
      for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
        const NodeId v = child(slot, k);
        require(v.is_leaf() ? v.row() < rows_ : v.slot() < slots_,
                "a stored tree links to a node that does not exist");
        if (v.is_leaf()) continue;
        require(parent[v.slot()] == kNobody, "a node of a stored tree has two parents");
        parent[v.slot()] = slot;
        ++waits_for[slot];
      }
      if (waits_for[slot] == 0) order_.push_back(slot);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Slot above = parent[order_[i]];
      if (above != kNobody && --waits_for[above] == 0) order_.push_back(above);
    }
    require(order_.size() == slots_, "the links of a stored tree go in a circle");
  }

  /// As a tree adds them up.
  void weigh() {
    weights_.resize(slots_);
    for (const Slot slot : order_) weights_[slot] = weight(child(slot, 1)) + weight(child(slot, 2));
  }

  const StoredLinks<Real>& tree_;
  std::size_t rows_ = 0, slots_;
  std::vector<Slot> order_;
  std::vector<double> weights_;
};

}  // namespace

template <class Real>
std::vector<std::uint32_t> listed_means(const StoredLinks<Real>& tree,
                                        std::span<const Real> means) {
  const BottomUp<Real> nodes(tree);
  require(means.size() == nodes.slots() * tree.dim,
          "the arrays of a stored tree do not fit each other");
  std::vector<std::uint32_t> out;
  if (nodes.slots() == 0) return out;  // rows may be said to be as wide as one likes
  std::vector<Real> merged(tree.dim);
  for (Slot slot = 0; slot < nodes.slots(); ++slot) {
    nodes.merge(slot, means.data(), merged.data());
    const Real* const own = means.data() + std::size_t{slot} * tree.dim;
    if (std::memcmp(own, merged.data(), tree.dim * sizeof(Real)) != 0) out.push_back(slot);
  }
  return out;
}

template <class Real>
std::vector<Real> all_means(const StoredLinks<Real>& tree, std::span<const std::uint32_t> places,
                            std::span<const Real> listed) {
  const BottomUp<Real> nodes(tree);
  require(
      listed.size() == places.size() * tree.dim &&
          (places.empty() || places.back() < nodes.slots()) &&
          std::adjacent_find(places.begin(), places.end(), std::greater_equal<>{}) == places.end(),
      "a stored tree lists the mean of a node that does not exist");
  std::vector<Real> out(nodes.slots() * tree.dim);
  std::vector<bool> is_listed(nodes.slots(), false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    is_listed[places[i]] = true;
    std::copy_n(listed.data() + i * tree.dim, tree.dim, out.data() + places[i] * tree.dim);
  }
  for (const Slot slot : nodes.order())
    if (!is_listed[slot]) nodes.merge(slot, out.data(), out.data() + std::size_t{slot} * tree.dim);
  return out;
}

#define RAMIFY_OF(Real)                                                                          \
  template std::vector<std::uint32_t> listed_means(const StoredLinks<Real>&,                     \
                                                   std::span<const Real>);                       \
  template std::vector<Real> all_means(const StoredLinks<Real>&, std::span<const std::uint32_t>, \
                                       std::span<const Real>)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
