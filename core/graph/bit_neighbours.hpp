// SPDX-License-Identifier: BSD-3-Clause
// bit_neighbours.hpp: the nearest of rows of zeros and ones, exactly, by counts of bits.
//
//   |a|   ones in a row      both = |a and b|      differing = |a| + |b| - 2 both
//
//   hamming   differing / columns
//   jaccard   differing / (|a| + |b| - both), and 0 of two rows without ones
//
// Distances are compared as fractions of whole numbers, so that equal ones are equal. Rows
// at equal distances are taken in order of rank, the same for every row: two rows with the
// same rows around them then have the same list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace ramify {

/// Rows of `words` words each; bits beyond `columns` are 0.
struct BitRows {
  std::span<const std::uint64_t> bits;
  std::size_t words;
  std::uint32_t columns;

  std::size_t size() const { return bits.size() / words; }
  const std::uint64_t* row(std::size_t i) const { return bits.data() + i * words; }
};

enum class BitMetric { kHamming, kJaccard };

/// A list of k others for each row that was asked about, the nearest first; kNoVertex and 0
/// where there are fewer others.
struct BitLists {
  std::vector<Vertex> points;
  std::vector<double> distances;
};

/// The k nearest others of rows `first` to `last`. O((last - first) n words).
BitLists bit_neighbours(const BitRows& rows, BitMetric metric, std::size_t k, std::size_t first,
                        std::size_t last, std::span<const std::uint32_t> ranks);

}  // namespace ramify
