// SPDX-License-Identifier: BSD-3-Clause
// trees.cpp: prints the digests of trees.hpp. `make portable` compiles it for several
// architectures and compares what it prints with tests/golden/portable.txt.
#include "trees.hpp"

#include <cstdio>

#include "math/dispatch.hpp"

/// The first argument, if there is one, is the set of instructions to use.
int main(int count, char** arguments) {
  if (count > 1 && !ramify::select_instructions(arguments[1])) {
    std::fprintf(stderr, "this machine has no %s\n", arguments[1]);
    return 2;
  }
  std::fprintf(stderr, "instructions: %s\n", std::string(ramify::instructions()).c_str());
  for (const std::string& line : ramify::portable::lines()) std::puts(line.c_str());
  return 0;
}
