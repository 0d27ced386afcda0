// SPDX-License-Identifier: BSD-3-Clause
// python_pulse.hpp: who listens to the pulse of work that runs without the GIL.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

#include "bind.hpp"
#include "pulse.hpp"

namespace ramify::bindings {

/// About every 50 ms it takes the GIL, looks for Ctrl-C and reports progress. What
/// Python raises is kept, and stops the work.
class PythonPulse {
 public:
  explicit PythonPulse(nb::object report) : report_(std::move(report)), last_(Clock::now()) {}

  bool operator()(std::size_t done) {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return true;
    last_ = now;
    const nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      if (!report_.is_none()) report_(done);
    } catch (nb::python_error&) {
      raised_ = std::current_exception();
      return false;
    }
    return true;
  }

  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  nb::object report_;
  Clock::time_point last_;
  std::exception_ptr raised_;
};

/// work(pulse) without the GIL; raises what Python raised meanwhile.
template <class Work>
auto with_pulse(nb::object report, const Work& work) {
  PythonPulse python(std::move(report));
  try {
    const nb::gil_scoped_release release;
    return work(Pulse(std::ref(python)));
  } catch (const Stopped&) {
    python.rethrow();
    throw;
  }
}

}  // namespace ramify::bindings
