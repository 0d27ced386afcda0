// SPDX-License-Identifier: BSD-3-Clause
// triplets.hpp: on how many triples of leaves do two trees agree?
//
// A binary tree resolves three leaves i, j, k as ij|k when k is outside of the
// lowest common ancestor of i and j. Two trees agree on a triple when they
// resolve it alike.
//
// Every triple is resolved at one node v = (A,B) of the first tree: two of its
// leaves are in one child and the third is in the other. Paint the leaves of the
// light child red and those of the heavy child blue: then v's triples are those
// of two colours, and the second tree agrees on a triple when its two of
// one colour are the pair it joins first. How many there are is kept in a tree of
// sums over the second tree, which answers in O(1) and takes a repainted leaf in
// O(log n). Going up the heavy paths of the first tree, a leaf is repainted at
// most 2 log2(n) times: O(n log^2 n) in all, whatever the trees look like.
//
// Derivation: docs/math.md, "Triplets".
#pragma once

#include <cstdint>

#include "pulse.hpp"
#include "tree/dendrogram.hpp"

namespace ramify {

/// More leaves than this and the number of triples may not fit 64 bits.
inline constexpr std::size_t kMaxTripletLeaves = std::size_t{1} << 22;

/// Number of triples of leaves that both trees resolve alike. The trees must have
/// the same number of leaves, at most kMaxTripletLeaves. The pulse is told of
/// leaves of `first` done.
std::uint64_t agreeing_triplets(Children first, Children second, const Pulse& pulse);

}  // namespace ramify
