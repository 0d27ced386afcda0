// SPDX-License-Identifier: BSD-3-Clause
#include "index/cell_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ramify {
namespace {

constexpr std::size_t kFitted = 1024;                   // rows that the projection is fitted to
constexpr std::size_t kTraining = 16;                   // rows a centroid
constexpr int kSteps = 2;                               // of Lloyd's
constexpr std::int32_t kNever = std::int32_t{1} << 30;  // offset of what is no centroid

void require(bool holds) {
  if (!holds) throw std::invalid_argument("the stored cells are damaged");
}

std::size_t whole_number(double number, double most) {
  require(number >= 0 && number <= most && number == std::floor(number));
  return static_cast<std::size_t>(number);
}

/// The mean of whole numbers, rounded to the nearest one; halves go up.
std::int8_t rounded_mean(std::int64_t sum, std::int64_t count) {
  const std::int64_t twice = 2 * sum + count, by = 2 * count;
  return static_cast<std::int8_t>(twice >= 0 ? twice / by : -((by - 1 - twice) / by));
}

ByteQueries queries_at(const std::int8_t* codes, std::size_t width) {
  ByteQueries out{};
  out.codes = codes;
  out.width = width;
  std::fill_n(out.threshold, kQueries, kNever);
  return out;
}

}  // namespace

template <class Real>
CellShape<Real>::CellShape(std::size_t dim, const RowOf& row, std::size_t count, std::size_t cells,
                           const Pulse& pulse)
    : projection_(dim, Rounding::kOne), cells_(cells) {
  const auto spread = [count](std::size_t i, std::size_t of) { return i * count / of; };
  const std::size_t fitted = std::min(count, kFitted);
  projection_.fit([&](std::size_t i) { return row(spread(i, fitted)); }, fitted, pulse);
  make_centroids();
  if (cells_ == 1) return;
  ProjectionRoom room;
  ShortRow shortened;
  for (std::size_t c = 0; c < cells_; ++c) {
    projection_.apply_broad(row(spread(c, cells_)), room, shortened);
    set_centroid(c, shortened.broad.data());
  }
  std::vector<CodeQuery> training(std::min(count, kTraining * cells_));
  for (std::size_t i = 0; i < training.size(); ++i) {
    if (i % kBlock == 0) pulse.check();
    projection_.apply_broad(row(spread(i, training.size())), room, shortened);
    training[i] = query(shortened);
  }
  for (int step = 0; step < kSteps; ++step) move_to_means(training, pulse);
}

/// Room for them, all zero.
template <class Real>
void CellShape<Real>::make_centroids() {
  const std::size_t padded = (cells_ + kBlock - 1) / kBlock * kBlock;
  codes_.assign(padded * projection_.broad(), 128);
  offsets_.assign(padded, kNever);
  std::fill_n(offsets_.begin(), cells_, 0);
}

template <class Real>
void CellShape<Real>::set_centroid(std::size_t cell, const std::int8_t* codes) {
  std::int32_t squares = 0;
  for (std::size_t j = 0; j < projection_.broad(); ++j) {
    codes_[place(cell, j)] = static_cast<std::uint8_t>(codes[j] + 128);
    squares += std::int32_t{codes[j]} * codes[j];
  }
  offsets_[cell] = squares / 2;
}

/// One of Lloyd's steps; a centroid to which no row is nearest stays.
template <class Real>
void CellShape<Real>::move_to_means(const std::vector<CodeQuery>& rows, const Pulse& pulse) {
  const std::size_t width = projection_.broad();
  std::vector<std::int64_t> sums(cells_ * width), counts(cells_);
  std::vector<std::int32_t> room(kQueries * padded());
  for (std::size_t i = 0; i < rows.size(); i += kQueries) {
    pulse.check();
    const std::size_t count = std::min(kQueries, rows.size() - i);
    values(rows.data() + i, count, room.data());
    for (std::size_t q = 0; q < count; ++q) {
      const std::size_t cell = home(room.data() + q * padded());
      ++counts[cell];
      for (std::size_t j = 0; j < width; ++j) sums[cell * width + j] += rows[i + q].codes[j];
    }
  }
  std::int8_t mean[kMostBroad];
  for (std::size_t c = 0; c < cells_; ++c) {
    if (counts[c] == 0) continue;
    for (std::size_t j = 0; j < width; ++j) mean[j] = rounded_mean(sums[c * width + j], counts[c]);
    set_centroid(c, mean);
  }
}

template <class Real>
CodeQuery CellShape<Real>::query(const ShortRow& row) const {
  CodeQuery out;
  out.set(row);
  return out;
}

template <class Real>
void CellShape<Real>::values(const CodeQuery* queries, std::size_t count, std::int32_t* out) const {
  const std::size_t width = projection_.broad();
  std::int8_t codes[kQueries * kMostBroad] = {};
  ByteQueries tile = queries_at(codes, width);
  for (std::size_t q = 0; q < count; ++q) {
    std::copy_n(queries[q].codes.begin(), width, codes + q * width);
    tile.bias[q] = queries[q].bias;
  }
  const ByteKernels& kernels = byte_kernels();
  std::int32_t some[kQueries * kBlock];
  std::uint32_t masks[kQueries];
  for (std::size_t c = 0; c < padded(); c += kBlock) {
    kernels.tile(tile, codes_.data() + c * width, offsets_.data() + c, some, masks);
    for (std::size_t q = 0; q < count; ++q)
      std::copy_n(some + q * kBlock, kBlock, out + q * padded() + c);
  }
}

template <class Real>
void CellShape<Real>::value(const CodeQuery& query, std::int32_t* out) const {
  const std::size_t width = projection_.broad();
  ByteQueries one = queries_at(query.codes.data(), width);
  one.bias[0] = query.bias;
  const ByteKernels& kernels = byte_kernels();
  for (std::size_t c = 0; c < padded(); c += kBlock)
    kernels.one(one, codes_.data() + c * width, offsets_.data() + c, out + c);
}

template <class Real>
std::uint32_t CellShape<Real>::home(const std::int32_t* values) const {
  return static_cast<std::uint32_t>(std::max_element(values, values + cells_) - values);
}

// --- storage ------------------------------------------------------------------------

template <class Real>
void CellShape<Real>::write(std::vector<double>& out) const {
  projection_.write(out);
  out.push_back(static_cast<double>(cells_));
  for (std::size_t c = 0; c < cells_; ++c)
    for (std::size_t j = 0; j < projection_.broad(); ++j) out.push_back(entry(c, j));
}

template <class Real>
CellShape<Real>::CellShape(std::size_t dim, std::span<const double>& numbers)
    : projection_(dim, Rounding::kOne) {
  projection_.read(numbers);
  require(!numbers.empty());
  cells_ = whole_number(numbers[0], 1e9);
  numbers = numbers.subspan(1);
  const std::size_t width = projection_.broad();
  require(cells_ >= 1 && numbers.size() / width >= cells_);
  make_centroids();
  std::int8_t codes[kMostBroad];
  for (std::size_t c = 0; c < cells_; ++c) {
    for (std::size_t j = 0; j < width; ++j) {
      const double code = numbers[c * width + j];
      require(code >= -kMostByte && code <= kMostByte && code == std::floor(code));
      codes[j] = static_cast<std::int8_t>(code);
    }
    set_centroid(c, codes);
  }
  numbers = numbers.subspan(cells_ * width);
}

template <class Real>
void CellPlan<Real>::learn(std::span<const std::int32_t> slacks, double recall) {
  needed.insert(needed.end(), slacks.begin(), slacks.end());
  if (needed.size() > kRemembered)
    needed.erase(needed.begin(), needed.end() - static_cast<std::ptrdiff_t>(kRemembered));
  if (needed.empty()) return;
  std::vector<std::int32_t> sorted = needed;
  std::sort(sorted.begin(), sorted.end());
  const double rank = std::ceil(recall * static_cast<double>(sorted.size() + 1));
  slack = sorted[std::min(static_cast<std::size_t>(rank), sorted.size()) - 1];
}

template <class Real>
std::vector<double> CellPlan<Real>::stored() const {
  std::vector<double> out{static_cast<double>(slack),
                          static_cast<double>(begun),
                          static_cast<double>(next),
                          static_cast<double>(made),
                          static_cast<double>(made_at),
                          rows,
                          hits,
                          static_cast<double>(needed.size())};
  out.insert(out.end(), needed.begin(), needed.end());
  if (shape) shape->write(out);
  return out;
}

template <class Real>
CellPlan<Real> CellPlan<Real>::restored(std::size_t dim, std::span<const double> numbers) {
  CellPlan out;
  if (numbers.empty()) return out;
  constexpr double kMostRows = 1e15;
  constexpr std::size_t kTraits = 8;
  require(numbers.size() >= kTraits);
  out.slack = static_cast<std::int32_t>(whole_number(numbers[0], kNever));
  out.begun = whole_number(numbers[1], kMostRows);
  out.next = whole_number(numbers[2], kMostRows);
  out.made = whole_number(numbers[3], kMostRows);
  out.made_at = whole_number(numbers[4], kMostRows);
  out.rows = numbers[5];
  out.hits = numbers[6];
  require(out.begun <= out.next && out.hits >= 0 && out.hits <= out.rows && out.rows <= kMostRows);
  const std::size_t known = whole_number(numbers[7], static_cast<double>(kRemembered));
  numbers = numbers.subspan(kTraits);
  require(numbers.size() >= known);
  for (const double one : numbers.first(known))
    out.needed.push_back(static_cast<std::int32_t>(whole_number(one, kNever)));
  numbers = numbers.subspan(known);
  if (!numbers.empty()) out.shape = std::make_shared<const CellShape<Real>>(dim, numbers);
  require(numbers.empty());
  return out;
}

template class CellShape<float>;
template class CellShape<double>;
template struct CellPlan<float>;
template struct CellPlan<double>;

}  // namespace ramify
