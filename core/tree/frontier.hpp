// SPDX-License-Identifier: BSD-3-Clause
// frontier.hpp: flat clusters of a live tree, without a snapshot of it.
//
// A cut splits some nodes, always with all above them; the clusters are what is left,
// the *frontier*. A cut into k splits the k - 1 greatest nodes, by the order in which a
// snapshot numbers them: (monotone height, leaves, first leaf). They are found from the
// root down with a heap, and to find a point's cluster, a caller climbs from its
// leaf to the last node that is not split. The answers are those of a cut of the
// snapshot. A cut by variance splits nodes in the order of pruning.hpp, which the
// caller has worked out.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "tree/tree.hpp"

namespace ramify {

enum class CutBy { kCount, kHeight, kMaxSize, kVariance };

struct CutRule {
  CutBy by = CutBy::kCount;
  std::size_t number = 1;  // of clusters, or of points in the largest
  double height = 0;       // merges below it are kept

  friend bool operator==(const CutRule&, const CutRule&) = default;
};

/// Of every row, by slot, the place of the node above it among these, which together are
/// above all rows, and none above another; holes are left alone. O(n).
template <class Real>
void label_rows(const Tree<Real>& tree, std::span<const NodeId> nodes, std::int64_t* out);

/// Of a tree that is not stale and does not change as long as this one is used.
template <class Real>
class Frontier {
 public:
  /// A cut into k: O(k log k). By height, size or variance: O(k). Numbers of clusters
  /// are 1 to n. `rank`, for kVariance only: when each slot is split, from 0.
  Frontier(const Tree<Real>& tree, const CutRule& rule, std::span<const std::uint32_t> rank = {});

  /// In order of their first points.
  std::span<const NodeId> clusters() const { return clusters_; }
  /// The cluster of a node that is in one. O(path).
  NodeId cluster_of(NodeId v) const;
  /// The number of a cluster in clusters(). O(log k).
  std::size_t label_of(NodeId cluster) const;
  /// Labels of all rows by slot; holes are left alone. O(n).
  void label_all(std::int64_t* out) const { label_rows<Real>(tree_, clusters_, out); }

 private:
  // What decides which of two nodes a cut splits first: the greater.
  struct Key {
    double height;
    std::uint32_t count;
    RowSlot first;
    friend bool operator<(const Key& a, const Key& b) {
      if (a.height != b.height) return a.height < b.height;  // mostly
      return std::tie(a.height, a.count, a.first) < std::tie(b.height, b.count, b.first);
    }
  };
  struct Found {
    RowSlot first;
    NodeId node;
  };
  Key key(NodeId v) const {
    return {tree_.heights(v).monotone, tree_.count(v), tree_.first_leaf(v)};
  }
  bool is_split(NodeId v) const;
  void split_greatest();
  void split_from_root();

  const Tree<Real>& tree_;
  CutRule rule_;
  std::span<const std::uint32_t> rank_;
  Key least_{};               // of the nodes that a cut into k splits
  std::vector<Found> found_;  // clusters, in order of their first points
  std::vector<NodeId> clusters_;
};

}  // namespace ramify
