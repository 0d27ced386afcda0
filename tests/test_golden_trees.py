# SPDX-License-Identifier: BSD-3-Clause
"""The trees of the benchmark streams are those that were written down, to the bit."""

import json

from benchmarks.golden import PATH, differences, digests


def test_every_benchmark_stream_gives_the_tree_it_gave_before():
    kept = json.loads(PATH.read_text(encoding="utf-8"))
    found = digests(small=True)
    assert len(found) > 20
    assert differences(found, kept) == []
