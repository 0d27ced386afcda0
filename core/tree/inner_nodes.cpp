// SPDX-License-Identifier: BSD-3-Clause
#include "tree/inner_nodes.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace ramify {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("tree invariant 8 broken: ") + what);
}

}  // namespace

template <class Real>
void InnerNodes<Real>::check() const {
  if (!are_long_) return;
  std::vector<bool> met(means_.size() / dim_);
  const auto meet = [&](std::uint32_t at) {
    require(at < met.size() && !met[at], "a mean is kept twice");
    met[at] = true;
  };
  for (std::uint32_t at = free_mean_; at != kNotKept;) {
    meet(at);
    std::memcpy(&at, means_.data() + at * dim_, sizeof(at));
  }
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    const Inner& node = (*this)[slot];
    if (keeps_mean(slot))
      meet(kept_at(slot));
    else
      require(node.left == kNone || node.count == 2 || node.stale == kAllStale,
              "a node has no mean");
  }
  require(std::find(met.begin(), met.end(), false) == met.end(), "a mean is lost");
}

template class InnerNodes<float>;
template class InnerNodes<double>;

}  // namespace ramify
