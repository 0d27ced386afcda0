// SPDX-License-Identifier: BSD-3-Clause
#include "tree/best_frontier.hpp"

#include <algorithm>
#include <utility>

namespace ramify {
namespace {

// What the best frontier below a node is worth, by its number of clusters.
struct Worth {
  double gains;
  double prizes;
  std::uint64_t rows;  // sum of 1 + row over the undone merges

  double value(double weight) const { return gains + weight * prizes; }
};

bool is_better(const Worth& a, const Worth& b, double weight) {
  const double worth = a.value(weight);
  const double other = b.value(weight);
  if (worth != other) return worth > other;
  if (a.prizes != b.prizes) return a.prizes > b.prizes;
  return a.rows > b.rows;
}

using Table = std::vector<Worth>;  // entry j - 1: of j clusters

class Frontiers {
 public:
  Frontiers(Children children, std::span<const double> gains, std::span<const double> prizes,
            double weight, std::size_t k)
      : children_(children),
        gains_(gains),
        prizes_(prizes),
        weight_(weight),
        leaves_(leaf_count(children)),
        room_(sizes_of(children)),
        first_(2 * leaves_ - 1, 0) {
    const std::vector<std::int64_t> depths = depths_of(children);
    for (std::size_t v = 0; v < room_.size(); ++v)
      room_[v] = std::min(room_[v], static_cast<std::int64_t>(k) - depths[v]);
    std::size_t total = 0;
    for (std::size_t v = leaves_; v < room_.size(); ++v) {
      first_[v] = total;
      if (room_[v] > 1) total += static_cast<std::size_t>(room_[v]);
    }
    split_.resize(total);
  }

  std::vector<std::int64_t> best(std::size_t k) {
    std::vector<Table> tables(room_.size());
    for (std::size_t v = 0; v < room_.size(); ++v) {
      if (room_[v] < 1) continue;
      Table& table = tables[v];
      table.assign(1, {0, prizes_[v], 0});
      if (v < leaves_ || room_[v] < 2) continue;
      Table& left = tables[child(v, 0)];
      Table& right = tables[child(v, 1)];
      join(v, left, right, table);
      Table().swap(left);
      Table().swap(right);
    }
    return chosen(k);
  }

 private:
  std::size_t child(std::size_t v, std::size_t side) const {
    return static_cast<std::size_t>(children_[2 * (v - leaves_) + side]);
  }

  void join(std::size_t v, const Table& left, const Table& right, Table& table) {
    const auto most = static_cast<std::size_t>(room_[v]);
    const std::size_t row = v - leaves_;
    table.resize(most);
    std::uint32_t* split = split_.data() + first_[v];
    std::fill(split, split + most, 0U);  // 0: not yet
    for (std::size_t a = 1; a <= left.size(); ++a)
      for (std::size_t b = 1; b <= right.size() && a + b <= most; ++b) {
        const Worth& x = left[a - 1];
        const Worth& y = right[b - 1];
        const Worth both{x.gains + y.gains + gains_[row], x.prizes + y.prizes,
                         x.rows + y.rows + row + 1};
        const std::size_t j = a + b - 1;
        if (split[j] != 0 && !is_better(both, table[j], weight_)) continue;
        table[j] = both;
        split[j] = static_cast<std::uint32_t>(a);
      }
  }

  std::vector<std::int64_t> chosen(std::size_t k) const {
    std::vector<std::int64_t> nodes;
    std::vector<std::pair<std::size_t, std::size_t>> open{{room_.size() - 1, k}};
    while (!open.empty()) {
      const auto [v, j] = open.back();
      open.pop_back();
      if (j == 1) {
        nodes.push_back(static_cast<std::int64_t>(v));
        continue;
      }
      const std::size_t a = split_[first_[v] + j - 1];
      open.emplace_back(child(v, 0), a);
      open.emplace_back(child(v, 1), j - a);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  Children children_;
  std::span<const double> gains_;
  std::span<const double> prizes_;
  double weight_;
  std::size_t leaves_;
  std::vector<std::int64_t> room_;    // of each node: the most clusters below it
  std::vector<std::size_t> first_;    // where its entries of split_ begin
  std::vector<std::uint32_t> split_;  // of j clusters, how many are in the first child
};

}  // namespace

std::vector<std::int64_t> best_frontier(Children children, std::span<const double> gains,
                                        std::span<const double> prizes, double weight,
                                        std::size_t k) {
  return Frontiers(children, gains, prizes, weight, k).best(k);
}

}  // namespace ramify
