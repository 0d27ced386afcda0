// SPDX-License-Identifier: BSD-3-Clause
// bind_threads.cpp: the threads of the bindings, doing pieces of work written in Python.
#include "parts.hpp"
#include "threads.hpp"
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
    threads_->begin(pieces, [call](std::size_t piece, const Pulse& pulse) {
      const nb::gil_scoped_acquire gil;
      call(piece, nb::cpp_function([&pulse] {
             const nb::gil_scoped_release without;
             pulse.check();
           }));
    });
  }
  void finish(nb::object pulse) {
    const nb::handle call = pulse;
    const bool quiet = pulse.is_none();
    const nb::gil_scoped_release release;
    threads_->finish(quiet ? Pulse{} : Pulse([call](std::size_t) {
      const nb::gil_scoped_acquire gil;
      return nb::cast<bool>(call());
    }));
  }
  void abandon() {
    const nb::gil_scoped_release release;
    threads_->abandon();
  }
  void share(std::size_t pieces, const nb::callable& work) {
    const nb::handle call = work;
    const nb::gil_scoped_release release;
    threads_->share(pieces, [call](std::size_t piece) {
      const nb::gil_scoped_acquire gil;
      call(piece);
    });
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
  void lock_shared() {
    const nb::gil_scoped_release release;
    lock_.lock_shared();
  }
  bool try_lock() { return lock_.try_lock(); }
  bool try_lock_shared() { return lock_.try_lock_shared(); }
  void unlock() { lock_.unlock(); }
  void unlock_shared() { lock_.unlock_shared(); }
  void share() { lock_.share(); }
  void pass_on() {
    const nb::gil_scoped_release release;
    lock_.pass_on();
  }
  std::uint64_t in_line() const { return lock_.in_line(); }

 private:
  bindings::TurnLock lock_;
};

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
      .def("finish", &PyThreads::finish, nb::arg("pulse") = nb::none())
      .def("abandon", &PyThreads::abandon)
      .def("share", &PyThreads::share);
  nb::class_<PyTurnLock>(m, "TurnLock")
      .def(nb::init<>())
      .def("lock", &PyTurnLock::lock)
      .def("lock_shared", &PyTurnLock::lock_shared)
      .def("try_lock", &PyTurnLock::try_lock)
      .def("try_lock_shared", &PyTurnLock::try_lock_shared)
      .def("unlock", &PyTurnLock::unlock)
      .def("unlock_shared", &PyTurnLock::unlock_shared)
      .def("share", &PyTurnLock::share)
      .def("pass_on", &PyTurnLock::pass_on)
      .def_prop_ro("in_line", &PyTurnLock::in_line);
}

}  // namespace ramify::parts
