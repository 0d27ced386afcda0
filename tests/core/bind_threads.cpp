// SPDX-License-Identifier: BSD-3-Clause
// bind_threads.cpp: the threads of the bindings, doing pieces of work written in Python.
#include "breath.hpp"
#include "crew.hpp"
#include "helpers.hpp"
#include "parts.hpp"
#include "turn_lock.hpp"

namespace ramify::parts {
namespace {

/// Threads whose pieces are Python's: each takes the GIL, and whoever waits for one gives it
/// up first.
class PyThreads {
 public:
  explicit PyThreads(std::size_t threads) : threads_(std::in_place, threads) {}
  PyThreads(const PyThreads&) = delete;
  PyThreads& operator=(const PyThreads&) = delete;
  ~PyThreads() {
    const nb::gil_scoped_release release;
    threads_.reset();
  }

  void begin(std::size_t pieces, nb::callable work) {
    work_ = std::move(work);
    const nb::handle call = work_;  // the threads' copies of their work must not own it
    const nb::gil_scoped_release release;
    threads_->begin(pieces, [call](std::size_t piece, const Breathe& breathe) {
      const nb::gil_scoped_acquire gil;
      call(piece, nb::cpp_function([&breathe] {
             const nb::gil_scoped_release without;
             if (breathe) breathe();
           }));
    });
  }
  void finish(nb::object breathe) {
    const nb::handle call = breathe;
    const bool quiet = breathe.is_none();
    const nb::gil_scoped_release release;
    threads_->finish(quiet ? Breathe{} : Breathe([call] {
      const nb::gil_scoped_acquire gil;
      call();
    }));
  }
  void abandon() {
    const nb::gil_scoped_release release;
    threads_->abandon();
  }

 private:
  nb::object work_;
  std::optional<bindings::Threads> threads_;
};

/// A TurnLock that is waited for without the GIL. Turns belong to nobody: any thread may end
/// one.
class PyTurnLock {
 public:
  void lock() {
    const nb::gil_scoped_release release;
    lock_.lock();
  }
  bool try_lock() { return lock_.try_lock(); }
  void unlock() { lock_.unlock(); }
  void pass_on() {
    const nb::gil_scoped_release release;
    lock_.pass_on();
  }
  std::uint64_t in_line() const { return lock_.in_line(); }

 private:
  bindings::TurnLock lock_;
};

/// Call work(block, keep_going) for each block; report(blocks done) may raise.
void run_crew(std::size_t blocks, std::size_t threads, nb::callable work, nb::object report) {
  bindings::Breath breath(std::move(report));
  {
    const nb::handle call = work;
    const nb::gil_scoped_release release;
    bindings::Crew crew;
    crew.run(
        blocks, threads, breath,
        [&](std::size_t block, const auto& keep_going) {
          const nb::gil_scoped_acquire gil;
          call(block, nb::cpp_function([&keep_going] { return keep_going(); }));
        },
        [](std::size_t done) { return done; });
  }
  breath.rethrow();
}

}  // namespace

void bind_threads(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const Stopped&) {
      PyErr_SetString(PyExc_InterruptedError, "stopped");
    }
  });
  nb::class_<PyThreads>(m, "Threads")
      .def(nb::init<std::size_t>())
      .def("begin", &PyThreads::begin)
      .def("finish", &PyThreads::finish, nb::arg("breathe") = nb::none())
      .def("abandon", &PyThreads::abandon);
  nb::class_<PyTurnLock>(m, "TurnLock")
      .def(nb::init<>())
      .def("lock", &PyTurnLock::lock)
      .def("try_lock", &PyTurnLock::try_lock)
      .def("unlock", &PyTurnLock::unlock)
      .def("pass_on", &PyTurnLock::pass_on)
      .def_prop_ro("in_line", &PyTurnLock::in_line);
  m.def("run_crew", &run_crew, nb::arg("blocks"), nb::arg("threads"), nb::arg("work"),
        nb::arg("report") = nb::none());
}

}  // namespace ramify::parts
