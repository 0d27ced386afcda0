// SPDX-License-Identifier: BSD-3-Clause
// byte_codes.hpp: how far apart are vectors of bytes? In whole numbers, and so the
// same with any set of instructions.
//
//   q  a vector of whole numbers from -127 to 127, kGroup of them a group
//
// Of rows and queries the kernels compute  q_x.q_y - floor(|q_y|^2 / 2),  which is half
// of |q_x|^2 - |q_x - q_y|^2, rounded up: large where the two are near. Rows lie in
// blocks of kBlock, group by group, as q + 128, because the quickest instruction there
// is multiplies unsigned bytes by signed ones; a query knows what that adds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "math/kernels.hpp"

namespace ramify {

inline constexpr std::size_t kGroup = 4;    // bytes that one instruction adds up
inline constexpr std::size_t kQueries = 8;  // of a tile
inline constexpr int kMostByte = 127;

/// What the rows of a block are compared with.
struct ByteQueries {
  const std::int8_t* codes;          // of query q: codes[q * width]
  std::size_t width;                 // a multiple of kGroup
  std::int32_t bias[kQueries];       // 128 times the sum of a query's codes
  std::int32_t threshold[kQueries];  // values below are of no interest
};

struct ByteKernels {
  /// values[q * kBlock + i] of kQueries queries and a block of rows, and for each query a
  /// mask of the rows that reach its threshold. Zero if none does for any.
  std::uint32_t (*tile)(const ByteQueries& queries, const std::uint8_t* block,
                        const std::int32_t* offsets, std::int32_t* values, std::uint32_t* masks);
  /// The same for the first query alone.
  std::uint32_t (*one)(const ByteQueries& queries, const std::uint8_t* block,
                       const std::int32_t* offsets, std::int32_t* values);
};

/// The kernels for the set of instructions in use (dispatch.hpp).
const ByteKernels& byte_kernels();

/// Where the code of row i of a block, entry j, lies in it.
inline std::size_t place_in_block(std::size_t i, std::size_t j) {
  return (j / kGroup * kBlock + i) * kGroup + j % kGroup;
}

}  // namespace ramify
