# SPDX-License-Identifier: BSD-3-Clause
"""Trees that become chains: centroid linkage in many dimensions says so, once."""

import warnings

import numpy as np
import pytest

from ramify import HAC, OHAC, NaiveHAC
from ramify.errors import DeepTreeWarning

DEEP = np.random.default_rng(0).normal(size=(620, 64))


def warnings_of(act) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        act()
    assert all(warning.category is DeepTreeWarning for warning in seen)
    return [str(warning.message) for warning in seen]


def test_centroid_linkage_grew_a_chain_and_said_nothing():
    """2,000 such rows took 38 s, and 15,000 of them did not end."""
    model = OHAC(linkage="centroid")
    (said,) = warnings_of(lambda: model.fit(DEEP))
    assert "500 points" in said  # while there is still time to stop
    assert "linkage='ward' or 'average'" in said
    assert model.hierarchy().depths().max() > 400


def test_once_for_a_model_however_many_batches():
    model = OHAC(linkage="centroid")

    def act():
        for begin in range(0, 620, 31):
            model.partial_fit(DEEP[begin : begin + 31])

    assert len(warnings_of(act)) == 1
    assert len(warnings_of(lambda: model.partial_fit(DEEP[:9] + 1))) == 0


@pytest.mark.parametrize("Model", [HAC, NaiveHAC])
def test_offline_trees_too(Model):
    (said,) = warnings_of(lambda: Model(linkage="centroid").fit(DEEP))
    assert "620 points" in said


def test_looking_does_not_change_the_tree():
    with pytest.warns(DeepTreeWarning):
        whole = OHAC(linkage="centroid").fit(DEEP)
    one_by_one = OHAC(linkage="centroid")
    for row in DEEP:
        one_by_one.insert(row)
    assert whole.hierarchy() == one_by_one.hierarchy()
    steps = []
    with pytest.warns(DeepTreeWarning):
        OHAC(linkage="centroid").fit(DEEP, progress=lambda done, total: steps.append((done, total)))
    assert steps == sorted(steps)
    assert steps[-1] == (620, 620)


@pytest.mark.parametrize("linkage", ["average", "ward"])
def test_others_are_not_suspected(linkage):
    assert warnings_of(lambda: OHAC(linkage=linkage).fit(DEEP)) == []


def test_centroid_linkage_in_the_plane_is_fine():
    X = np.random.default_rng(1).normal(size=(4_000, 2))
    model = OHAC(linkage="centroid")
    assert warnings_of(lambda: model.fit(X)) == []
    assert model.hierarchy().depths().max() < 100
