// SPDX-License-Identifier: BSD-3-Clause
// reshaping.cpp: a stream's tree takes another shape: from elsewhere, or by local search.
#include <bit>
#include <new>
#include <stdexcept>

#include "algorithms/hac.hpp"
#include "live/live.hpp"

namespace ramify {
namespace {

constexpr Arrival kFirstPolish = 1024;  // trees are polished by themselves from here on

}  // namespace

/// Refuse what only algorithms can take that keep no notes of the tree's shape.
template <class Real>
void Live<Real>::require_any_shape() const {
  if (!algorithm_->takes_any_shape())
    throw std::invalid_argument("this algorithm's trees have no shape but their own");
}

template <class Real>
void Live<Real>::require_empty() const {
  require_any_shape();
  if (points().slots() > 0 || options_.tracks_members() || options_.max_leaves > 0)
    throw std::invalid_argument("only an empty tree of single points can begin with a shape");
}

template <class Real>
std::size_t Live<Real>::begin_with_hac(const Batch<Real>& batch, const Pulse& pulse,
                                       Helpers& helpers) {
  require_empty();
  if (batch.count == 0) return 0;
  make_room(batch);
  const Unattached unattached{*this};
  take_rows(batch);
  if (!build_hac(tree_, options_.rule.metric, options_.rule.linkage, pulse, helpers)) return 0;
  end_ = points().slots();
  ++version_;
  source_.settle(points(), end_);
  return batch.count;
}

template <class Real>
void Live<Real>::adopt(const Batch<Real>& batch, std::span<const std::int64_t> children) {
  require_empty();
  if (children.size() / 2 + 1 != batch.count)
    throw std::invalid_argument("there must be a row for each leaf");
  make_room(batch);
  const Unattached unattached{*this};
  take_rows(batch);
  const auto node = [&](std::size_t v) {
    return v < batch.count ? NodeId::leaf(static_cast<RowSlot>(v))
                           : NodeId::inner(static_cast<Slot>(v - batch.count));
  };
  typename Tree<Real>::Remake remake(tree_);
  for (std::size_t row = 0; row + 1 < batch.count; ++row)
    tree_.join(node(static_cast<std::size_t>(children[2 * row])),
               node(static_cast<std::size_t>(children[2 * row + 1])),
               tree_.new_slot(tree_.new_id()));
  tree_.set_root(node(2 * batch.count - 2));
  remake.keep();
  end_ = points().slots();
  ++version_;
  source_.settle(points(), end_);
}

template <class Real>
std::vector<PolishRound> Live<Real>::polish(std::optional<std::size_t> m, const Pulse& pulse) {
  require_any_shape();
  std::vector<PolishRound> rounds;
  for (const std::size_t each : m ? std::vector{*m} : polish_rounds(size()))
    rounds.push_back(polish_top(each, pulse));
  return rounds;
}

template <class Real>
PolishRound Live<Real>::polish_top(std::size_t m, const Pulse& pulse) {
  const auto& [metric, linkage] = options_.rule;
  refresh();
  const PolishRound round = Polish<Real>(tree_.dim(), metric, linkage)(tree_, m, pulse);
  if (round.is_better) ++version_;
  return round;
}

/// A point has come. If its number says so, polish the tree; one that cannot be had for
/// want of memory is left as it is.
template <class Real>
void Live<Real>::polish_if_due(Arrival number) noexcept {
  if (number + 1 < kFirstPolish || !std::has_single_bit(number + 1)) return;
  try {
    for (const std::size_t each : polish_rounds(size())) polish_top(each, {});
  } catch (const std::bad_alloc&) {
    return;
  }
}

template <class Real>
Refinement Live<Real>::refine(std::size_t sweeps, double slack, const Pulse& pulse) {
  require_any_shape();
  refresh();
  const Refinement done = ramify::refine(tree_, options_.rule.metric, sweeps, slack, pulse);
  if (done.interchanges > 0) ++version_;
  return done;
}

template <class Real>
void Live<Real>::regroup(std::span<const std::uint32_t> group_of,
                         std::span<const std::uint32_t> above) {
  algorithm_->regroup(tree_, group_of, above);
  ++version_;
}

#define RAMIFY_OF(Real)                                                                           \
  template void Live<Real>::require_any_shape() const;                                            \
  template std::size_t Live<Real>::begin_with_hac(const Batch<Real>&, const Pulse&, Helpers&);    \
  template void Live<Real>::adopt(const Batch<Real>&, std::span<const std::int64_t>);             \
  template std::vector<PolishRound> Live<Real>::polish(std::optional<std::size_t>, const Pulse&); \
  template void Live<Real>::polish_if_due(Arrival) noexcept;                                      \
  template Refinement Live<Real>::refine(std::size_t, double, const Pulse&);                      \
  template void Live<Real>::regroup(std::span<const std::uint32_t>, std::span<const std::uint32_t>)
RAMIFY_OF(float);
RAMIFY_OF(double);
#undef RAMIFY_OF

}  // namespace ramify
