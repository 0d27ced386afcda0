// SPDX-License-Identifier: BSD-3-Clause
#include "math/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "math/product_bounds.hpp"
#include "math/scales.hpp"

namespace ramify {
namespace {

constexpr double kTells = 1e30;  // squares of lengths above, and what is no number, are too long

}  // namespace

/// Entries of broad vectors, for rows that are centred; each has to be completed.
template <class Real>
void Projection<Real>::project(const float* rows, std::size_t count, float* out) const {
  if (!is_whole())
    return directions().project(rows, count, broad_basis_.data(), dim_, whole(directions_, kLanes),
                                out, stride());
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(rows + i * dim_, dim_, out + i * stride());
    rotation_.apply(out + i * stride());
  }
}

template <class Real>
void Projection<Real>::complete(float* entries, double radius) const {
  if (has_rest_) entries[directions_] = rest(entries, radius);
  for (std::size_t b = directions_ + (has_rest_ ? 1 : 0); b < broad_; ++b) entries[b] = 0;
}

/// The length of what the directions leave out.
template <class Real>
float Projection<Real>::rest(const float* entries, double radius) const {
  double inside = 0;
  for (std::size_t b = 0; b < directions_; ++b)
    inside += static_cast<double>(entries[b]) * static_cast<double>(entries[b]);
  return static_cast<float>(std::sqrt(std::max(0.0, radius - inside)) - rest_shift_);
}

/// The row as both rooms have it, and the square of its length.
template <class Real>
double Projection<Real>::centred(const Real* row, ProjectionRoom& room, float* narrow) const {
  double* centred = room.centred.data();
  for (std::size_t d = 0; d < dim_; ++d) {
    centred[d] = (static_cast<double>(row[d]) - centre_[d]) * scale_;
    narrow[d] = static_cast<float>(centred[d]);
  }
  return dot(centred, centred, dim_);
}

/// The leading vector of the row in the room.
template <class Real>
void Projection<Real>::lead(const ProjectionRoom& room, double radius, ShortRow& out) const {
  const double length = std::sqrt(radius);
  const bool tells = radius < kTells;
  const double shorter = std::sqrt(1 - kShrink);
  double inside = 0;
  for (std::size_t b = 0; b + 1 < leading_; ++b) {
    const double along = dot(room.centred.data(), leading_basis_.data() + b * dim_, dim_);
    inside += along * along;
    out.leading[b] = tells ? static_cast<float>(shorter * along) : 0.0F;
  }
  const double rest = std::sqrt(std::max(0.0, radius - inside));
  out.leading[leading_ - 1] = tells ? static_cast<float>(shorter * rest) : 0.0F;
  // Rounding to float, and the length of the rest as a difference of squares in double.
  out.leading_doubt = tells ? 1e-6 * length + 1e-30 : std::numeric_limits<double>::infinity();
}

template <class Real>
void Projection<Real>::apply(const Real* row, ProjectionRoom& room, ShortRow& out) const {
  make_room(room);
  apply_some<true>(&row, 1, room, &out);
}

template <class Real>
void Projection<Real>::apply_leading(const Real* row, ProjectionRoom& room, ShortRow& out) const {
  make_room(room);
  const double radius = centred(row, room, room.narrow.data());
  lead(room, radius, out);
}

template <class Real>
void Projection<Real>::apply_broad(const Real* row, ProjectionRoom& room, ShortRow& out) const {
  make_room(room);
  apply_some<false>(&row, 1, room, &out);
}

template <class Real>
void Projection<Real>::apply_to_each(const std::function<const Real*(std::size_t)>& row,
                                     std::size_t count, ShortRow* out) const {
  apply_to_each<true>(row, count, out);
}

template <class Real>
void Projection<Real>::apply_broad_to_each(const std::function<const Real*(std::size_t)>& row,
                                           std::size_t count, ShortRow* out) const {
  apply_to_each<false>(row, count, out);
}

template <class Real>
template <bool kLeads>
void Projection<Real>::apply_to_each(const std::function<const Real*(std::size_t)>& row,
                                     std::size_t count, ShortRow* out) const {
  ProjectionRoom room;
  make_room(room, kTogether);
  for (std::size_t from = 0; from < count; from += kTogether) {
    const std::size_t some = std::min(kTogether, count - from);
    const Real* rows[kTogether];
    for (std::size_t i = 0; i < some; ++i) rows[i] = row(from + i);
    apply_some<kLeads>(rows, some, room, out + from);
  }
}

/// There is room for `count` rows.
template <class Real>
template <bool kLeads>
void Projection<Real>::apply_some(const Real* const* rows, std::size_t count, ProjectionRoom& room,
                                  ShortRow* out) const {
  double radii[kTogether];
  for (std::size_t i = 0; i < count; ++i) {
    radii[i] = centred(rows[i], room, room.narrow.data() + i * dim_);
    if constexpr (kLeads) lead(room, radii[i], out[i]);
  }
  project(room.narrow.data(), count, room.entries.data());
  for (std::size_t i = 0; i < count; ++i) {
    float* entries = room.entries.data() + i * stride();
    if (radii[i] < kTells) {
      complete(entries, radii[i]);
      encode(entries, radii[i], out[i]);
    } else {  // float cannot tell
      out[i].broad.assign(broad_, std::int8_t{0});
      out[i].broad_doubt = std::numeric_limits<double>::infinity();
    }
  }
}

template <class Real>
DirectionKernels Projection<Real>::directions() const {
  if (rounding_ == Rounding::kOne) return ordered_directions();
  return {product_kernels().project, product_kernels().add_products};
}

/// What rounding can have moved its entries by, as a share of a row's length.
template <class Real>
double Projection<Real>::broad_rounding() const {
  if (is_whole()) return rotation_.rounding();
  // A sum of dim products in float, for each direction.
  return 6e-8 * static_cast<double>(dim_ + 8) * std::sqrt(static_cast<double>(directions_));
}

/// The broad vector in bytes.
template <class Real>
void Projection<Real>::encode(const float* entries, double radius, ShortRow& out) const {
  make_room(out);
  const double length = std::sqrt(radius);
  double rounded = 0;
  for (std::size_t b = 0; b < broad_; ++b) {
    const double steps = static_cast<double>(entries[b]) / step_;
    const double byte = std::clamp(std::nearbyint(steps), -double{kMostByte}, double{kMostByte});
    out.broad[b] = static_cast<std::int8_t>(byte);
    rounded += (steps - byte) * (steps - byte);
  }
  const double part = 1e-6 + broad_rounding();
  double doubt = part * length + 1e-30;
  if (has_rest_) {  // |a - b| <= |a^2 - b^2| / a, and <= sqrt |a^2 - b^2|
    const double squares = 2.1 * part * radius;
    const double left_out = static_cast<double>(entries[directions_]) + rest_shift_;
    doubt += std::min(std::sqrt(squares), squares / std::max(left_out, 1e-30)) + 1e-7 * length;
  }
  out.broad_doubt = (std::sqrt(rounded) + doubt / step_) * (1 + 1e-6);
}

template <class Real>
Multiplier Projection<Real>::turn(const Real* row, ProjectionRoom& room,
                                  std::vector<std::int8_t>& codes) const {
  Multiplier out;
  double largest = 0, terms = 0;
  for (std::size_t d = 0; d < dim_; ++d) {
    const double entry = static_cast<double>(row[d]);
    largest = std::max(largest, std::fabs(entry));
    out.shift += entry * centre_[d];
    terms += std::fabs(entry * centre_[d]);
  }
  out.slack = 4.6e-16 * static_cast<double>(dim_ + 64) * terms;  // here, and in whole products
  const double scale = scale_to_one(largest);
  double radius = 0;
  for (std::size_t d = 0; d < dim_; ++d) {
    const double entry = static_cast<double>(row[d]) * scale;
    radius += entry * entry;
    room.entries[d] = static_cast<float>(entry);
  }
  codes.assign(broad_, std::int8_t{0});
  if (!(radius < kTells)) {
    out.doubt = std::numeric_limits<double>::infinity();
    return out;
  }
  rotation_.apply(room.entries.data());
  double most = 0;
  for (std::size_t b = 0; b < dim_; ++b)
    most = std::max(most, std::fabs(static_cast<double>(room.entries[b])));
  const double step = most > 0 ? most / kMostByte : 1;
  double rounded = 0;
  for (std::size_t b = 0; b < dim_; ++b) {
    const double steps = static_cast<double>(room.entries[b]) / step;
    const double byte = std::nearbyint(steps);
    codes[b] = static_cast<std::int8_t>(byte);
    rounded += (steps - byte) * (steps - byte);
  }
  const double part = 1e-6 + broad_rounding();
  out.doubt = (std::sqrt(rounded) + (part * std::sqrt(radius) + 1e-30) / step) * (1 + 1e-6);
  out.unit = step / scale * (step_ / scale_);
  return out;
}

// --- storage ------------------------------------------------------------------------

template <class Real>
void Projection<Real>::write(std::vector<double>& out) const {
  out.insert(out.end(), {static_cast<double>(directions_), static_cast<double>(has_rest_), scale_,
                         step_, usual_doubt_, rest_shift_});
  out.insert(out.end(), centre_.begin(), centre_.end());
  out.insert(out.end(), broad_basis_.begin(), broad_basis_.end());
}

template <class Real>
void Projection<Real>::read(std::span<const double>& numbers) {
  const auto require = [](bool holds) {
    if (!holds) throw std::invalid_argument("a stored projection is damaged");
  };
  const auto take = [&](std::size_t count) {
    require(numbers.size() >= count);
    const std::span<const double> some = numbers.first(count);
    numbers = numbers.subspan(count);
    return some;
  };
  const std::span<const double> traits = take(6);
  require(traits[0] >= 1 && traits[0] < static_cast<double>(kMostBroad) && traits[2] > 0 &&
          traits[3] > 0 && traits[4] >= 0);
  directions_ = static_cast<std::size_t>(traits[0]);
  require(directions_ <= dim_);
  has_rest_ = traits[1] != 0;
  scale_ = traits[2];
  step_ = traits[3];
  usual_doubt_ = traits[4];
  rest_shift_ = traits[5];
  broad_ = whole(directions_ + (has_rest_ ? 1 : 0), kGroup);
  const std::span<const double> centre = take(dim_);
  centre_.assign(centre.begin(), centre.end());
  broad_basis_.clear();
  for (const double entry : take(whole(directions_, kLanes) * dim_))
    broad_basis_.push_back(static_cast<float>(entry));
}

template class Projection<float>;
template class Projection<double>;

}  // namespace ramify
