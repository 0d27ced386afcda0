# SPDX-License-Identifier: BSD-3-Clause
"""Trees of whole numbers are those that were written down, with every set of instructions.

The same digests are asked of other architectures by ``make portable``.
"""

from pathlib import Path

import pytest

from tests.core_parts import parts

KEPT = Path(__file__).parent / "golden" / "portable.txt"
INSTRUCTIONS = ("baseline", "avx2", "avx512", "neon", "neon-dot")


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_trees_are_those_of_every_other_machine(instructions):
    before = parts.instructions()
    if not parts.select_instructions(instructions):
        pytest.skip(f"this processor has no {instructions}")
    try:
        found = parts.portable_lines()
    finally:
        parts.select_instructions(before)
    assert found == KEPT.read_text(encoding="utf-8").splitlines()
    assert len(set(found)) == len(found) > 400
