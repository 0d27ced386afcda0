// SPDX-License-Identifier: BSD-3-Clause
// trees.hpp: digests of trees that the core alone grows, on any machine.
//
// Streams are made of whole numbers and exact divisions: the same rows wherever they are made.
// tests/test_portable.py compares the lines with tests/golden/portable.txt for every set of
// instructions that the processor has; `make portable` does so for other architectures, under
// an emulator and without Python. A line is
//
//   stream  type  model  digest (FNV-1a of children, heights and node ids)
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "live/live.hpp"

namespace ramify::portable {

/// SplitMix64.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  /// A multiple of 2^-21 between 0 and 1.
  double unit() { return static_cast<double>(next() >> 43) / 2097152.0; }

 private:
  std::uint64_t state_;
};

enum class Kind { kMixture, kLattice, kBits, kFar, kCopies };

struct Stream {
  const char* name;
  Kind kind;
  std::size_t n, width;
};

template <class Real>
std::vector<Real> rows_of(const Stream& stream) {
  Chance chance(stream.n * 1000 + stream.width);
  constexpr std::size_t kGroups = 12;
  std::vector<double> centres(kGroups * stream.width);
  for (double& value : centres) value = static_cast<double>(chance.below(64));
  std::vector<Real> rows;
  rows.reserve(stream.n * stream.width);
  for (std::size_t i = 0; i < stream.n; ++i) {
    if (stream.kind == Kind::kCopies && i >= 20 && chance.below(2) == 0) {
      const std::size_t from = chance.below(i);
      for (std::size_t j = 0; j < stream.width; ++j) rows.push_back(rows[from * stream.width + j]);
      continue;
    }
    const std::size_t group = chance.below(kGroups);
    for (std::size_t j = 0; j < stream.width; ++j) {
      const double noise = chance.unit() + chance.unit() + chance.unit() + chance.unit();
      const double value = centres[group * stream.width + j] + 2 * noise;
      switch (stream.kind) {
        case Kind::kMixture:
        case Kind::kCopies:
          rows.push_back(static_cast<Real>(value));
          break;
        case Kind::kLattice:
          rows.push_back(static_cast<Real>(chance.below(4)));
          break;
        case Kind::kBits:
          rows.push_back(static_cast<Real>(chance.below(5) == 0));
          break;
        case Kind::kFar:
          rows.push_back(static_cast<Real>(1e6 + value));
          break;
      }
    }
    rows.back() += Real{1};  // no row is all zeros, which cosine refuses
  }
  return rows;
}

class Digest {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    for (const T value : values) {
      auto bits = std::bit_cast<std::uint64_t>(value);
      for (int k = 0; k < 8; ++k, bits >>= 8) state_ = (state_ ^ (bits & 255)) * 0x100000001B3U;
    }
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

struct Model {
  const char* name;
  Options options;
  bool offline = false;
  bool forgets = true;
};

inline std::vector<Model> models() {
  std::vector<Model> out;
  const auto add = [&](const char* name, Metric metric, Linkage linkage, AlgorithmOptions own,
                       bool offline = false) {
    Options options{};
    options.rule = Rule{metric, linkage};
    options.algorithm = own;
    const bool forgets = !std::holds_alternative<GrinchOptions>(own);
    out.push_back({name, options, offline, forgets});
  };
  constexpr Metric kPlain = Metric::kSqeuclidean;
  add("OHAC", kPlain, Linkage::kAverage, OhacOptions{});
  add("OHAC-k3", kPlain, Linkage::kAverage, OhacOptions{3});
  add("OHAC-ward", kPlain, Linkage::kWard, OhacOptions{});
  add("OHAC-centroid", kPlain, Linkage::kCentroid, OhacOptions{});
  add("OHAC-cosine", Metric::kCosine, Linkage::kAverage, OhacOptions{});
  add("OHAC-dot", Metric::kDot, Linkage::kAverage, OhacOptions{});
  add("HAC", kPlain, Linkage::kAverage, OhacOptions{}, true);
  add("HAC-ward", kPlain, Linkage::kWard, OhacOptions{}, true);
  add("OTD", kPlain, Linkage::kAverage, OtdOptions{});
  add("OTD-cosine", Metric::kCosine, Linkage::kAverage, OtdOptions{});
  add("NaiveNN", kPlain, Linkage::kAverage, NaiveNnOptions{});
  add("PERCH", kPlain, Linkage::kAverage, PerchOptions{});
  add("GRINCH", kPlain, Linkage::kAverage, GrinchOptions{});
  add("RandomCut", kPlain, Linkage::kAverage, RandomCutOptions{7});
  return out;
}

/// Three batches and a few single rows, then every seventh point leaves if it can.
template <class Real>
std::uint64_t digest_of(const Stream& stream, const Model& model) {
  const std::vector<Real> rows = rows_of<Real>(stream);
  Live<Real> live(stream.width, model.options);
  const Pulse pulse;
  Alone alone;
  const auto insert = [&](std::size_t from, std::size_t to) {
    live.insert_many(Batch<Real>(rows.data() + from * stream.width, to - from), pulse, alone);
  };
  if (model.offline) {
    live.begin_with_hac(Batch<Real>(rows.data(), stream.n), pulse, alone);
  } else {
    const std::size_t cut = stream.n - 20;
    insert(0, cut / 10);
    insert(cut / 10, cut);
    for (std::size_t i = cut; i < stream.n; ++i) insert(i, i + 1);
    std::vector<Arrival> leaving;
    for (std::size_t i = 3; model.forgets && i < stream.n; i += 7) leaving.push_back(i);
    live.erase_many(leaving);
  }
  live.check();
  const Snapshot tree = number(live.flat());
  Digest digest;
  digest.add(tree.children);
  digest.add(tree.heights);
  digest.add(tree.ids);
  return digest.value();
}

inline constexpr Stream kStreams[] = {
    {"mixture", Kind::kMixture, 300, 1},   {"mixture", Kind::kMixture, 300, 2},
    {"mixture", Kind::kMixture, 800, 3},   {"mixture", Kind::kMixture, 300, 10},
    {"mixture", Kind::kMixture, 300, 15},  {"mixture", Kind::kMixture, 300, 16},
    {"mixture", Kind::kMixture, 800, 20},  {"mixture", Kind::kMixture, 300, 40},
    {"mixture", Kind::kMixture, 300, 200}, {"lattice", Kind::kLattice, 300, 3},
    {"lattice", Kind::kLattice, 300, 20},  {"bits", Kind::kBits, 300, 64},
    {"far", Kind::kFar, 300, 3},           {"far", Kind::kFar, 300, 31},
    {"copies", Kind::kCopies, 300, 5},     {"copies", Kind::kCopies, 300, 24},
};

template <class Real>
std::string line(const Stream& stream, const Model& model) {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::uint64_t digest = digest_of<Real>(stream, model);
  std::string out = std::string(stream.name) + "-" + std::to_string(stream.n) + "x" +
                    std::to_string(stream.width) + (sizeof(Real) == 4 ? " float " : " double ") +
                    model.name + " ";
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(digest >> shift) & 15];
  return out;
}

/// All of them, in a fixed order.
inline std::vector<std::string> lines() {
  std::vector<std::string> out;
  for (const Stream& stream : kStreams)
    for (const Model& model : models()) {
      out.push_back(line<float>(stream, model));
      out.push_back(line<double>(stream, model));
    }
  return out;
}

}  // namespace ramify::portable
