// SPDX-License-Identifier: BSD-3-Clause
#include "math/dispatch.hpp"

#include <array>
#include <cstddef>

#if defined(RAMIFY_ARM64) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace ramify {
namespace {

#ifdef RAMIFY_ARM64
constexpr std::array<std::string_view, 3> kNames{"baseline", "neon", "neon-dot"};
#else
constexpr std::array<std::string_view, 3> kNames{"baseline", "avx2", "avx512"};
#endif

Level best_level() {
#ifdef RAMIFY_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return Level::kAvx512;
  if (__builtin_cpu_supports("avx2")) return Level::kAvx2;
#endif
#ifdef RAMIFY_ARM64
#ifdef __ARM_FEATURE_DOTPROD
  return Level::kDot;
#elif defined(RAMIFY_ARM64_DOT) && defined(__linux__)
  if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) return Level::kDot;
#endif
  return Level::kNeon;
#else
  return Level::kBaseline;
#endif
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
