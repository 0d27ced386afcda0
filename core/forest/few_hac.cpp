// SPDX-License-Identifier: BSD-3-Clause
#include "forest/few_hac.hpp"

#include <bit>
#include <limits>
#include <utility>

#include "forest/tally.hpp"
#include "math/dispatch.hpp"

namespace ramify {
namespace {

constexpr std::size_t kWidth = kLanesWidth;
constexpr double kClosed = std::numeric_limits<double>::infinity();
constexpr double kFar = 1e300;   // of a cluster to itself; finite, so that means stay so
constexpr double kMost = 1e150;  // all linkages are far below kFar if the last one's are below this

/// All linkages, in both halves of the matrix: so the nearest of each is found at once, in the
/// columns. A union takes over the row and the lane of its earlier part.
template <std::size_t kVectors>
class FewHac {
 public:
  RAMIFY_INLINE explicit FewHac(FewClusters& clusters)
      : count_(clusters.count), ranks_(clusters.ranks) {
    const std::size_t last = count_ - 1;
    for (std::size_t i = 0; i < last; ++i) {
      read_row(clusters, i);
      set(rows_[i], last, clusters.last_row[i]);
      set(rows_[i], i, kFar);
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      load(rows_[last][v], clusters.last_row + v * kWidth);
      fill(closed_[v], 0);
    }
    set(rows_[last], last, kFar);
    for (std::uint32_t i = 0; i < count_; ++i) at_lane_[i] = lane_of_[i] = i;
  }

  /// As forest_hac() does it.
  RAMIFY_INLINE bool run(Merge* merges, double* linkages) {
    std::uint32_t chain[4 * kLanesHere];
    std::size_t length = 0, made = 0;
    std::uint32_t start = 0;
    find_nearest();
    for (;;) {
      while (length > 0 && !is_there(chain[length - 1])) --length;
      if (length == 0) chain[length++] = start;
      const std::uint32_t lane = lane_of_[chain[length - 1]], other = nearest(lane);
      if (length >= 2 && chain[length - 2] == at_lane_[other]) {
        length -= 2;
        start = static_cast<std::uint32_t>(count_ + made);
        merge(lane, other, start, merges[made], linkages[made]);
        if (++made + 1 == count_) return true;
        find_nearest();
      } else {
        if (length == std::size(chain)) return false;
        chain[length++] = at_lane_[other];
      }
    }
  }

 private:
  static constexpr std::size_t kLanesHere = kVectors * kWidth;

  RAMIFY_INLINE static void set(Lanes* row, std::size_t lane, double to) {
    set_lane(row[lane / kWidth], lane % kWidth, to);
  }

  RAMIFY_INLINE void read_row(const FewClusters& clusters, std::size_t i) {
    const double* row = clusters.rows + i * clusters.stride;
    for (std::size_t v = i / kWidth; v < kVectors; ++v) load(rows_[i][v], row + v * kWidth);
    if (kVectors == 1 || i < kWidth) return;
    double column[kWidth];
    for (std::size_t b = 0; b < kWidth; ++b) column[b] = clusters.rows[b * clusters.stride + i];
    load(rows_[i][0], column);
  }

  RAMIFY_INLINE bool is_there(std::uint32_t cluster) const {
    return at_lane_[lane_of_[cluster]] == cluster;
  }

  RAMIFY_INLINE void find_nearest() {
    for (std::size_t v = 0; v < kVectors; ++v) {
      Lanes least = rows_[0][v];
      for (std::size_t i = 1; i < count_; ++i) lower(least, rows_[i][v]);
      LaneBits nearest{};
      for (std::size_t i = 0; i < count_; ++i)
        mark_equal(rows_[i][v], least, std::uint64_t{1} << i, nearest);
      std::memcpy(nearest_ + v * kWidth, &nearest, sizeof nearest);
    }
  }

  RAMIFY_INLINE std::uint32_t nearest(std::uint32_t lane) const {
    std::uint64_t equals = nearest_[lane];
    auto first = static_cast<std::uint32_t>(std::countr_zero(equals));
    for (equals &= equals - 1; equals != 0; equals &= equals - 1) {
      const auto next = static_cast<std::uint32_t>(std::countr_zero(equals));
      if (comes_first(ranks_[next], ranks_[first])) first = next;
    }
    return first;
  }

  RAMIFY_INLINE void merge(std::uint32_t a, std::uint32_t b, std::uint32_t made, Merge& merge,
                           double& linkage) {
    if (ranks_[b].first_leaf < ranks_[a].first_leaf) std::swap(a, b);
    merge = {at_lane_[a], at_lane_[b]};
    double to_union[kLanesHere];
    std::memcpy(to_union, rows_[a], sizeof to_union);
    linkage = to_union[b];
    const double n_a = ranks_[a].weight, n_b = ranks_[b].weight, share = n_b / (n_a + n_b);
    set(closed_, b, kClosed);
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Lanes &to_a = rows_[a][v], &to_b = rows_[b][v];
      rows_[a][v] = to_a + share * (to_b - to_a);  // weighted_mean()
      store(rows_[a][v] + closed_[v], to_union + v * kWidth);
      fill(rows_[b][v], kClosed);
    }
    to_union[a] = kFar;
    for (std::size_t i = 0; i < count_; ++i) set(rows_[i], a, to_union[i]);
    ranks_[a] = merged(ranks_[a], ranks_[b]);
    at_lane_[a] = made;
    lane_of_[made] = a;
  }

  Lanes rows_[kLanesHere][kVectors];  // all kClosed if the cluster has gone
  Lanes closed_[kVectors];            // kClosed if the cluster there has gone, else 0
  std::size_t count_;
  Rank* ranks_;
  std::uint64_t nearest_[kLanesHere];      // for each lane a bit for each that is nearest
  std::uint32_t at_lane_[kLanesHere];      // the cluster
  std::uint32_t lane_of_[2 * kLanesHere];  // by cluster; is_there() says whether it has gone
};

template <std::size_t kVectors>
RAMIFY_INLINE bool run_few(FewClusters& clusters, Merge* merges, double* linkages) {
  return FewHac<kVectors>(clusters).run(merges, linkages);
}

}  // namespace

bool merge_few(FewClusters& clusters, std::vector<Merge>& merges, std::vector<double>& linkages) {
  const std::size_t last = clusters.count - 1;
  merges.resize(last);
  linkages.resize(last);
  for (std::size_t i = 0; i < last; ++i)
    if (!(clusters.last_row[i] < kMost)) return false;
  tally(Engine::kFewHac, clusters.count);
  count_work(clusters.count * clusters.count);
  return clusters.count <= kWidth ? chosen<run_few<1>>()(clusters, merges.data(), linkages.data())
                                  : chosen<run_few<2>>()(clusters, merges.data(), linkages.data());
}

}  // namespace ramify
