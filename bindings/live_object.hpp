// SPDX-License-Identifier: BSD-3-Clause
// live_object.hpp: a live tree that several Python threads may use: one changes it, or some read
// it at once.
//
// A thread that wants the tree takes a turn, which is the only way to it: a WritingTurn to change
// it, a ReadingTurn, which readers share, to read it. What is read without a turn is as it was at
// the end of the last turn. A reader who has a turn runs no Python, which might ask for another.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "live/live.hpp"
#include "live_options.hpp"
#include "turn_lock.hpp"

namespace ramify::bindings {

template <class Real>
class WritingTurn;
template <class Real, class Gil>
class ReadingTurn;
template <class Real>
class QuietTime;

/// Arrays by name.
using State = nb::typed<nb::dict, nb::str, nb::object>;

inline std::size_t width_of(std::size_t dim) {
  if (dim < 1) throw std::invalid_argument("rows need at least one column");
  return dim;
}

template <class Real>
class LiveObject {
 public:
  LiveObject(std::size_t dim, const Options& options) : dim_(width_of(dim)), live_(dim, options) {}

  LiveObject(std::size_t dim, const Options& options, const typename Tree<Real>::Arrays& arrays,
             const Memory& memory, std::vector<Members::Member> members)
      : dim_(width_of(dim)), live_(dim, options, arrays, memory, std::move(members)) {
    publish();
  }

  // As they were at the end of the last turn: no reader waits for these.
  std::size_t size() const { return size_; }
  std::uint64_t version() const { return version_; }
  std::size_t n_points() const { return n_points_; }
  std::uint64_t next_arrival() const { return next_arrival_; }
  std::size_t dim() const { return dim_; }
  /// Whether a thread has the turn: a question may have to wait for it.
  bool busy() const { return turn_.in_line() > 0; }

  void require_width(std::size_t width) const {
    if (width != dim_)
      throw std::invalid_argument("expected rows of " + std::to_string(dim_) + " numbers, got " +
                                  std::to_string(width));
  }

 private:
  template <class, class>
  friend class ReadingTurn;
  friend class WritingTurn<Real>;
  friend class QuietTime<Real>;

  void publish() {
    size_ = live_.size();
    n_points_ = live_.n_points();
    next_arrival_ = live_.points().next_arrival() - (live_.points().slots() - live_.end());
    version_ = live_.version();
  }

  std::size_t dim_;
  Live<Real> live_;
  TurnLock writing_;  // taken before turn_
  TurnLock turn_;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<std::size_t> n_points_ = 0;
  std::atomic<std::uint64_t> next_arrival_ = 0;
  std::atomic<std::uint64_t> version_ = 0;
};

/// Holds a lock; who has to wait for it waits without the GIL.
class Held {
 public:
  explicit Held(TurnLock& lock) : lock_(lock) {
    if (lock_.try_lock()) return;
    const nb::gil_scoped_release release;
    lock_.lock();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { lock_.unlock(); }

 private:
  TurnLock& lock_;
};

// What a reader does with the GIL while it waits.
struct HasGil {
  nb::gil_scoped_release without;
};
struct HasNoGil {};

/// The turn of readers. If something that they need is not ready, the first to see so has the
/// turn alone until it is.
template <class Real, class Gil = HasGil>
class ReadingTurn {
 public:
  explicit ReadingTurn(LiveObject<Real>& object) : object_(object) {
    if (object_.turn_.try_lock_shared()) return;
    [[maybe_unused]] const Gil gil{};
    object_.turn_.lock_shared();
  }
  /// needs(live): what the reader needs, or an error.
  template <class NeedsOf>
  ReadingTurn(LiveObject<Real>& object, const NeedsOf& needs) : ReadingTurn(object) {
    if (object.live_.is_ready(needs(**this))) return;
    [[maybe_unused]] const Gil gil{};
    object.turn_.unlock_shared();
    object.turn_.lock();
    const Alone alone{object.turn_};
    object.live_.have_ready(needs(**this));
  }
  ReadingTurn(const ReadingTurn&) = delete;
  ReadingTurn& operator=(const ReadingTurn&) = delete;
  ~ReadingTurn() { object_.turn_.unlock_shared(); }

  const Live<Real>& operator*() const { return object_.live_; }
  const Live<Real>* operator->() const { return &object_.live_; }

 private:
  struct Alone {
    TurnLock& turn;
    ~Alone() { turn.share(); }
  };

  LiveObject<Real>& object_;
};

/// The turn of one who changes the tree, and no other does before it is over: a long batch
/// passes its turn on to readers. At its end the figures are told that are read without a turn.
template <class Real>
class WritingTurn {
 public:
  explicit WritingTurn(LiveObject<Real>& object)
      : object_(object), writing_(object.writing_), turn_(object.turn_) {}
  WritingTurn(const WritingTurn&) = delete;
  WritingTurn& operator=(const WritingTurn&) = delete;
  ~WritingTurn() { object_.publish(); }

  Live<Real>& operator*() const { return object_.live_; }
  Live<Real>* operator->() const { return &object_.live_; }
  void let_readers_in() const {
    object_.publish();
    object_.turn_.pass_on();
  }

 private:
  LiveObject<Real>& object_;
  const Held writing_, turn_;
};

/// No thread may change the tree meanwhile, and readers go on.
template <class Real>
class QuietTime {
 public:
  explicit QuietTime(LiveObject<Real>& object) : live_(object.live_), writing_(object.writing_) {}

  const Live<Real>* operator->() const { return &live_; }

 private:
  const Live<Real>& live_;
  const Held writing_;
};

// What Python sees, file by file: float and double.
template <class Real>
void bind_live_writes(nb::class_<LiveObject<Real>>& object);
template <class Real>
void bind_live_reads(nb::class_<LiveObject<Real>>& object);
template <class Real>
void bind_live_state(nb::class_<LiveObject<Real>>& object);

}  // namespace ramify::bindings
