// SPDX-License-Identifier: BSD-3-Clause
#include "math/dispatch.hpp"

#include <array>
#include <cstddef>

namespace ramify {
namespace {

constexpr std::array<std::string_view, 3> kNames{"baseline", "avx2", "avx512"};

Level best_level() {
#ifdef RAMIFY_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return Level::kAvx512;
  if (__builtin_cpu_supports("avx2")) return Level::kAvx2;
#endif
  return Level::kBaseline;
}

// The one piece of process-wide state in the core: a fact about the machine.
Level& current() {
  static Level chosen = best_level();
  return chosen;
}

}  // namespace

Level level() { return current(); }

std::string_view instructions() { return kNames[static_cast<std::size_t>(level())]; }

bool select_instructions(std::string_view name) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(best_level()); ++i) {
    if (kNames[i] != name) continue;
    current() = static_cast<Level>(i);
    return true;
  }
  return false;
}

}  // namespace ramify
