// SPDX-License-Identifier: BSD-3-Clause
// dispatch.hpp: how one body of code is compiled for several sets of
// instructions, and which of them this machine runs.
//
// A hot body is a RAMIFY_INLINE function; one small function a set, marked
// RAMIFY_AVX2 or RAMIFY_AVX512, calls it, and is chosen by level() at run time.
// The bodies fix the order of every sum, so that all sets give the same bits.
#pragma once

#include <string_view>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define RAMIFY_X86 1
#define RAMIFY_AVX2 [[gnu::target("avx2")]]
#ifdef __clang__  // does not know the last, and then ignores them all
#define RAMIFY_AVX512 [[gnu::target("avx512f,avx512vl,avx512dq")]]
#else
#define RAMIFY_AVX512 [[gnu::target("avx512f,avx512vl,avx512dq,prefer-vector-width=512")]]
#endif
#endif
#if defined(__GNUC__) || defined(__clang__)
#define RAMIFY_INLINE [[gnu::always_inline]] inline
#else
#define RAMIFY_INLINE inline
#endif

namespace ramify {

enum class Level { kBaseline, kAvx2, kAvx512 };

/// The set of instructions in use: the best the CPU has, unless a lesser one
/// was selected.
Level level();

/// "avx512", "avx2" or "baseline".
std::string_view instructions();

/// Use a given set from now on. False, and no change, when the CPU lacks it or
/// the name is unknown. Not to be called while trees grow.
bool select_instructions(std::string_view name);

}  // namespace ramify
