// SPDX-License-Identifier: BSD-3-Clause
// tally.hpp: which engine merged how many forests, counted in a test build alone (RAMIFY_TALLY).
//
// `python -m benchmarks.engines` prints the counts. Elsewhere nothing is counted, and nothing is
// compiled.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ramify {

/// Who merges a forest. Those from kRun on are parts of the table's work, by merge.
enum class Engine {
  kTableChain,
  kTableGreedy,
  kStableFoot,
  kFewHac,
  kMatrix,
  kBuckets,
  kScan,
  kRun,
  kOneByOne,
  kExactly,
  kAsMatrix,
  kCount
};

#ifdef RAMIFY_TALLY
struct Tally {
  std::uint64_t forests = 0, merges = 0, given_up = 0, largest = 0;
};
inline Tally tallies[static_cast<std::size_t>(Engine::kCount)];

/// It has merged a forest of so many, or could not tell.
inline void tally(Engine engine, std::size_t items, bool decided = true) {
  Tally& one = tallies[static_cast<std::size_t>(engine)];
  ++(decided ? one.forests : one.given_up);
  one.merges += decided ? items - 1 : 0;
  if (decided && items > one.largest) one.largest = items;
}
#else
inline void tally(Engine /*engine*/, std::size_t /*items*/, bool /*decided*/ = true) {}
#endif

}  // namespace ramify
