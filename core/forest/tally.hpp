// SPDX-License-Identifier: BSD-3-Clause
// tally.hpp: which engine merged how many forests, and how many linkages were looked at or
// computed for that; counted in test builds alone (RAMIFY_TALLY), each thread by itself.
//
// `python -m benchmarks.engines` prints what engines did, tests/test_core_work.py bounds the work.
// In other builds nothing is counted, and nothing is compiled.
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
inline thread_local Tally tallies[static_cast<std::size_t>(Engine::kCount)];

/// It has merged a forest of this many items, or could not tell.
inline void tally(Engine engine, std::size_t items, bool decided = true) {
  Tally& one = tallies[static_cast<std::size_t>(engine)];
  ++(decided ? one.forests : one.given_up);
  one.merges += decided ? items - 1 : 0;
  if (decided && items > one.largest) one.largest = items;
}

inline thread_local std::uint64_t work = 0;
inline void count_work(std::size_t linkages) { work += linkages; }
#else
inline void count_work(std::size_t /*linkages*/) {}
inline void tally(Engine /*engine*/, std::size_t /*items*/, bool /*decided*/ = true) {}
#endif

}  // namespace ramify
