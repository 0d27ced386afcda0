// SPDX-License-Identifier: BSD-3-Clause
#include "tree/outline.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace ramify {

template <class Real>
Outline<Real>::Outline(const Tree<Real>& tree, std::size_t m, const CutRule& rule) : tree_(tree) {
  open_top(m);
  open_below(rule);
  for (std::size_t place = 0; place < nodes_.size(); ++place)
    if (children_[place] == kNobody) unit_.emplace(nodes_[place].raw(), place);
}

/// Split the widest node until there are m, or only leaves.
template <class Real>
void Outline<Real>::open_top(std::size_t m) {
  struct Entry {
    double spread;
    std::uint32_t count;
    RowSlot first;
    NodeId node;
    bool operator<(const Entry& other) const {
      return std::tie(spread, count, first) < std::tie(other.spread, other.count, other.first);
    }
  };
  std::priority_queue<Entry> widest;
  const auto offer = [&](NodeId v) {
    if (v.is_leaf())
      nodes_.push_back(v);
    else
      widest.push({tree_.weight(v) * tree_.ssd(v), tree_.count(v), tree_.first_leaf(v), v});
  };
  offer(tree_.root());
  while (nodes_.size() + widest.size() < m && !widest.empty()) {
    const NodeId v = widest.top().node;
    widest.pop();
    offer(tree_.left(v));
    offer(tree_.right(v));
  }
  for (; !widest.empty(); widest.pop()) nodes_.push_back(widest.top().node);
  std::sort(nodes_.begin(), nodes_.end(),
            [&](NodeId a, NodeId b) { return tree_.first_leaf(a) < tree_.first_leaf(b); });
  frontier_size_ = nodes_.size();
  children_.assign(frontier_size_, kNobody);
}

template <class Real>
void Outline<Real>::open(std::size_t place) {
  const NodeId v = nodes_[place];
  children_[place] = static_cast<std::int64_t>(nodes_.size());
  nodes_.insert(nodes_.end(), {tree_.left(v), tree_.right(v)});
  children_.resize(nodes_.size(), kNobody);
}

template <class Real>
void Outline<Real>::open_below(const CutRule& rule) {
  if (rule.by == CutBy::kCount) return open_highest(rule.number - 1);
  for (std::size_t place = 0; place < nodes_.size(); ++place) {  // which open() makes longer
    const NodeId v = nodes_[place];
    if (v.is_leaf()) continue;
    const bool splits = rule.by == CutBy::kHeight
                            ? tree_.heights(v).monotone >= rule.height
                            : tree_.weight(v) > static_cast<double>(rule.number);
    if (splits) open(place);
  }
}

/// Open the nodes that are greatest in the order of cuts (frontier.hpp).
template <class Real>
void Outline<Real>::open_highest(std::size_t splits) {
  struct Entry {
    double height;
    std::uint32_t count;
    RowSlot first;
    std::size_t place;
    bool operator<(const Entry& other) const {
      return std::tie(height, count, first) < std::tie(other.height, other.count, other.first);
    }
  };
  std::priority_queue<Entry> greatest;
  const auto offer = [&](std::size_t place) {
    const NodeId v = nodes_[place];
    if (!v.is_leaf())
      greatest.push({tree_.heights(v).monotone, tree_.count(v), tree_.first_leaf(v), place});
  };
  if (splits == 0) return;
  for (std::size_t place = 0; place < frontier_size_; ++place) offer(place);
  for (; splits > 0 && !greatest.empty(); --splits) {
    const std::size_t place = greatest.top().place;
    greatest.pop();
    open(place);
    offer(nodes_.size() - 2);
    offer(nodes_.size() - 1);
  }
}

template <class Real>
std::size_t Outline<Real>::unit_of(NodeId v) const {
  auto found = unit_.find(v.raw());
  for (; found == unit_.end(); found = unit_.find(v.raw())) v = tree_.parent(v);
  return found->second;
}

template <class Real>
void Outline<Real>::units_of_all(std::int64_t* out) const {
  std::vector<NodeId> units;
  std::vector<std::int64_t> places;
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    if (children_[place] != kNobody) continue;
    units.push_back(nodes_[place]);
    places.push_back(static_cast<std::int64_t>(place));
  }
  label_rows<Real>(tree_, units, out);
  for (RowSlot row = 0; row < tree_.points().slots(); ++row)
    if (!tree_.points().is_hole(row)) out[row] = places[static_cast<std::size_t>(out[row])];
}

template class Outline<float>;
template class Outline<double>;

}  // namespace ramify
