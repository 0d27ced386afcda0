// SPDX-License-Identifier: BSD-3-Clause
// dispatch.hpp: how one body of code is compiled for several sets of
// instructions, and which of them this machine runs.
//
// A hot body is a RAMIFY_INLINE function; chosen<body>() is that body as compiled for
// the best set there is. Several go into a table, one a set, which with_level() finds.
// The bodies fix the order of every sum, so that all sets give the same bits.
#pragma once

#include <string_view>
#include <type_traits>

#ifdef __x86_64__
#define RAMIFY_X86 1
#define RAMIFY_AVX2 [[gnu::target("avx2")]]
#ifdef __clang__  // does not know the last, and then ignores them all
#define RAMIFY_AVX512 [[gnu::target("avx512f,avx512vl,avx512dq")]]
#else
#define RAMIFY_AVX512 [[gnu::target("avx512f,avx512vl,avx512dq,prefer-vector-width=512")]]
#endif
#else
#define RAMIFY_AVX2
#define RAMIFY_AVX512
#endif
// On ARM the bodies are compiled once, for NEON, which every such processor has. Sweeps of bytes
// (byte_codes.cpp) are there with dot products as well, where the compiler has a name for them.
#ifdef __aarch64__
#define RAMIFY_ARM64 1
#ifdef __ARM_FEATURE_DOTPROD
#define RAMIFY_ARM64_DOT
#elif !defined(__clang__) || __clang_major__ >= 16
#define RAMIFY_ARM64_DOT [[gnu::target("arch=armv8.2-a+dotprod")]]
#endif
#endif
#define RAMIFY_INLINE [[gnu::always_inline]] inline

namespace ramify {

/// What a processor has. The two rungs above the lowest are named once for each architecture.
enum class Level { kBaseline, kAvx2, kAvx512, kNeon = kAvx2, kDot = kAvx512 };

/// The set of instructions in use: the best the CPU has, unless a lesser one
/// was selected.
Level level();

/// "avx512", "avx2" or "baseline"; on ARM "neon-dot", "neon" or "baseline".
std::string_view instructions();

/// Use a given set from now on. False, and no change, when the CPU lacks it or
/// the name is unknown. Not to be called while trees grow.
bool select_instructions(std::string_view name);

/// Call `use` with the set in use as a type, whose `value` is the level.
template <class Use>
inline decltype(auto) with_level(const Use& use) {
#ifdef RAMIFY_X86
  const Level now = level();
  if (now == Level::kAvx512) return use(std::integral_constant<Level, Level::kAvx512>{});
  if (now == Level::kAvx2) return use(std::integral_constant<Level, Level::kAvx2>{});
#endif
  return use(std::integral_constant<Level, Level::kBaseline>{});
}

// A target attribute cannot be a template argument, hence the three spellings.
template <auto kBody>
struct Compiled;
template <class Result, class... Arguments, Result (*kBody)(Arguments...)>
struct Compiled<kBody> {
  static Result baseline(Arguments... arguments) { return kBody(arguments...); }
  RAMIFY_AVX2 static Result avx2(Arguments... arguments) { return kBody(arguments...); }
  RAMIFY_AVX512 static Result avx512(Arguments... arguments) { return kBody(arguments...); }
};

/// A body as compiled for one set.
template <auto kBody, Level kLevel>
inline constexpr auto compiled = kLevel == Level::kAvx512 ? &Compiled<kBody>::avx512
                                 : kLevel == Level::kAvx2 ? &Compiled<kBody>::avx2
                                                          : &Compiled<kBody>::baseline;

/// A body as compiled for the set in use.
template <auto kBody>
inline auto chosen() {
  return with_level([](auto set) { return compiled<kBody, set.value>; });
}

}  // namespace ramify
