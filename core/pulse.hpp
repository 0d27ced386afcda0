// SPDX-License-Identifier: BSD-3-Clause
// pulse.hpp: how long work lets its caller breathe. The core has no clock and
// no signals; it calls back often and stops when told to.
#pragma once

#include <cstddef>
#include <functional>

namespace ramify {

/// Called with the number of rows done so far in this call. False: stop now,
/// leaving everything valid.
using Pulse = std::function<bool(std::size_t done)>;

/// Called between two pieces of work, when everything is at rest for a moment.
using Pause = std::function<void()>;

/// Called inside a piece of work that has no rows to count. It may throw
/// Stopped, and the work, which has changed nothing yet, unwinds.
using Breathe = std::function<void()>;
struct Stopped {};

}  // namespace ramify
