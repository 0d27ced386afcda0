// SPDX-License-Identifier: BSD-3-Clause
#include "graph/bit_neighbours.hpp"

#include <algorithm>
#include <bit>

#include "math/dispatch.hpp"

namespace ramify {
namespace {

/// So many rows are asked about at once, while another row is at hand.
constexpr std::size_t kTogether = 32;

struct Candidate {
  std::uint64_t differing;
  std::uint64_t whole;  // not 0
  std::uint32_t rank;
  Vertex point;

  bool operator<(const Candidate& other) const {
    const std::uint64_t mine = differing * other.whole, theirs = other.differing * whole;
    return mine != theirs ? mine < theirs : rank < other.rank;
  }
};

/// The k least candidates so far, the worst of them first.
class Shortest {
 public:
  explicit Shortest(std::size_t k) : k_(k) { heap_.reserve(k); }

  void offer(const Candidate& one) {
    if (heap_.size() < k_) {
      heap_.push_back(one);
      std::push_heap(heap_.begin(), heap_.end());
    } else if (one < heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = one;
      std::push_heap(heap_.begin(), heap_.end());
    }
  }

  std::span<const Candidate> sorted() {
    std::sort_heap(heap_.begin(), heap_.end());
    return heap_;
  }

 private:
  std::size_t k_;
  std::vector<Candidate> heap_;
};

RAMIFY_INLINE std::uint32_t both(const std::uint64_t* a, const std::uint64_t* b,
                                 std::size_t words) {
  std::uint32_t count = 0;
  for (std::size_t w = 0; w < words; ++w)
    count += static_cast<std::uint32_t>(std::popcount(a[w] & b[w]));
  return count;
}

/// Ones in common of some rows with each of all rows: `out` has a line for each of the latter.
RAMIFY_INLINE void count_common(const std::uint64_t* asked, std::size_t n_asked,
                                const std::uint64_t* rows, std::size_t n, std::size_t words,
                                std::uint32_t* out) {
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t q = 0; q < n_asked; ++q)
      out[j * n_asked + q] = both(asked + q * words, rows + j * words, words);
}

/// How many rows are counted before their counts are looked at.
constexpr std::size_t kBlock = 512;

}  // namespace

BitLists bit_neighbours(const BitRows& rows, BitMetric metric, std::size_t k, std::size_t first,
                        std::size_t last, std::span<const std::uint32_t> ranks) {
  const auto count = chosen<count_common>();
  const std::size_t n = rows.size(), words = rows.words;
  std::vector<std::uint32_t> ones(n);
  for (std::size_t i = 0; i < n; ++i) ones[i] = both(rows.row(i), rows.row(i), words);
  BitLists found;
  found.points.assign((last - first) * k, kNoVertex);
  found.distances.assign((last - first) * k, 0.0);
  std::vector<std::uint32_t> common(kBlock * kTogether);
  for (std::size_t begin = first; begin < last; begin += kTogether) {
    const std::size_t asked = std::min(kTogether, last - begin);
    std::vector<Shortest> lists(asked, Shortest(k));
    for (std::size_t from = 0; from < n; from += kBlock) {
      const std::size_t block = std::min(kBlock, n - from);
      count(rows.row(begin), asked, rows.row(from), block, words, common.data());
      for (std::size_t j = from; j < from + block; ++j) {
        for (std::size_t q = 0; q < asked; ++q) {
          if (begin + q == j) continue;
          const std::uint64_t in_both = common[(j - from) * asked + q];
          const std::uint64_t in_any = std::uint64_t{ones[begin + q]} + ones[j] - in_both;
          const std::uint64_t whole = metric == BitMetric::kJaccard ? in_any : rows.columns;
          lists[q].offer({in_any - in_both, std::max<std::uint64_t>(whole, 1), ranks[j],
                          static_cast<Vertex>(j)});
        }
      }
    }
    for (std::size_t q = 0; q < asked; ++q) {
      std::size_t at = (begin - first + q) * k;
      for (const Candidate& one : lists[q].sorted()) {
        found.points[at] = one.point;
        found.distances[at++] = static_cast<double>(one.differing) / static_cast<double>(one.whole);
      }
    }
  }
  return found;
}

}  // namespace ramify
