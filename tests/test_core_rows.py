# SPDX-License-Identifier: BSD-3-Clause
"""The core's row store alone: rows come, go and close up, and keep their numbers."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.core_parts import part, run_machine
from tests.oracles.row_store import Rows


class RowStoreMachine(RuleBasedStateMachine):
    """Anything may happen to a row store, in any order."""

    dtype: type

    @initialize(dim=st.integers(1, 4))
    def start(self, dim):
        self.dim, self.came = dim, 0
        self.store, self.model = part("RowStore", self.dtype)(dim), Rows()

    @rule(count=st.integers(1, 5))
    def append(self, count):
        for _ in range(count):
            self.came += 1
            row = np.arange(self.dim, dtype=self.dtype) + self.came
            self.store.append(row)
            self.model.append(row)

    @rule(count=st.integers(0, 20))
    def make_room(self, count):
        self.store.make_room(count)

    @rule(share=st.floats(0, 1))
    def truncate(self, share):
        """Only what is not yet a hole is ever forgotten as if it had never come."""
        living = [one is not None for one in self.model.slots]
        last_hole = max((at for at, lives in enumerate(living) if not lives), default=-1)
        slots = last_hole + 1 + round(share * (len(living) - last_hole - 1))
        self.store.truncate(slots)
        self.model.truncate(slots)

    @precondition(lambda self: self.model.living())
    @rule(share=st.floats(0, 1), all_of_them=st.booleans())
    def erase(self, share, all_of_them):
        living = self.model.living()
        for slot in living if all_of_them else [living[int(share * (len(living) - 1))]]:
            self.store.make_room_to_erase()
            self.store.erase(slot)
            self.model.erase(slot)

    @rule()
    def make_room_to_erase(self):
        self.store.make_room_to_erase()

    @precondition(lambda self: len(self.model.living()) < len(self.model.slots))
    @rule()
    def compact(self):
        self.store.compact(self.model.new_slots())
        self.model.compact()

    @precondition(lambda self: self.model.slots and self.model.living())
    @rule(steps=st.lists(st.integers(1, 3), min_size=60, max_size=60))
    def number(self, steps):
        """Rows from a file: closed up, and given the numbers that they had there."""
        if len(self.model.living()) < len(self.model.slots):
            self.compact()
        numbers = np.cumsum(steps)[: len(self.model.slots)].tolist()
        if len(numbers) < len(self.model.slots):
            return
        self.store.number(numbers, numbers[-1] + 1)
        rows = [row for _, row in self.model.slots]
        self.model.slots = list(zip(numbers, rows, strict=True))
        self.model.next = numbers[-1] + 1

    @invariant()
    def holds_the_same(self):
        if not hasattr(self, "store"):
            return
        slots = self.model.slots
        assert self.store.slots == len(slots)
        assert self.store.living == len(self.model.living())
        assert self.store.holes == len(slots) - self.store.living
        assert self.store.next_arrival == self.model.next
        values = self.store.values()
        for at, one in enumerate(slots):
            assert self.store.is_hole(at) == (one is None)
            if one is None:
                assert not values[at].any(), "what is forgotten is gone"
            else:
                assert self.store.arrival(at) == one[0]
                assert values[at].tolist() == one[1].tolist()
        for number in range(self.model.next + 2):
            assert self.store.find(number) == self.model.find(number)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_store_is_a_list_with_holes(dtype):
    run_machine(type("Machine", (RowStoreMachine,), {"dtype": dtype}), runs=60)


def test_numbers_go_on_after_everybody_has_left():
    """A store that had closed up to nothing took itself for one that nothing had ever left,
    and began to count from 0 again."""
    store = part("RowStore", np.float64)(1)
    store.append(np.array([1.0]))
    store.make_room_to_erase()
    store.erase(0)
    store.compact([0])
    store.append(np.array([2.0]))
    assert store.arrival(0) == 1
    assert store.find(0) is None
    assert store.find(1) == 0
