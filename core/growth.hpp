// SPDX-License-Identifier: BSD-3-Clause
// growth.hpp: how arrays grow when the length of the stream is unknown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ramify {

/// Make room for `extra` more entries. A large batch gets exactly its room, so
/// that bulk loading wastes nothing; single inserts grow by half, so that n of
/// them copy O(n) entries in all.
template <class T>
void make_room(std::vector<T>& entries, std::size_t extra) {
  const std::size_t need = entries.size() + extra;
  if (need > entries.capacity())
    entries.reserve(std::max(need, entries.capacity() + entries.capacity() / 2));
}

}  // namespace ramify
