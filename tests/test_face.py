# SPDX-License-Identifier: BSD-3-Clause
"""The face of every estimator fits in the head: names, parameters, and the chain of classes.

What scikit-learn gives every estimator is not counted, nor are parameters among the names.
"""

import inspect

import pytest
from sklearn.base import BaseEstimator, ClusterMixin

import ramify
from tests.every import ESTIMATORS

EVERY = [*dict.fromkeys([*ESTIMATORS, ramify.GraphHAC])]

MOST_NAMES, MOST_PARAMETERS, LONGEST_CHAIN = 37, 15, 6


def names(kind):
    """What a class shows that is its own."""
    common = {*dir(BaseEstimator), *dir(ClusterMixin), *kind._get_param_names()}
    shown = [one for one in dir(kind) if not one.startswith("_") and one not in common]
    return [one for one in shown if not one.startswith("set_")]


def chain(kind):
    return [one for one in kind.__mro__ if one.__module__.startswith("ramify")]


@pytest.mark.parametrize("Estimator", EVERY)
def test_a_face_fits_in_the_head(Estimator):
    assert len(names(Estimator)) <= MOST_NAMES, names(Estimator)
    assert len(inspect.signature(Estimator).parameters) <= MOST_PARAMETERS
    assert len(chain(Estimator)) <= LONGEST_CHAIN, chain(Estimator)


@pytest.mark.parametrize("Estimator", EVERY)
def test_parameters_are_no_names_of_the_class(Estimator):
    """A default there would hide that a model has lost one."""
    assert not set(Estimator._get_param_names()) & set(dir(Estimator)) - {"min_size"}


def test_what_only_some_trees_keep_to_only_they_have():
    for Estimator in ESTIMATORS:
        edit = Estimator().edit
        assert hasattr(edit, "rename"), Estimator
        assert hasattr(edit, "cannot_link"), Estimator
        for verb in ("must_link", "move", "release"):
            assert hasattr(edit, verb) == (Estimator is ramify.OHAC), (Estimator, verb)
    assert repr(ramify.OTD().edit).startswith(
        "<cannot_link, list, rename, unlink, violations of OTD"
    )
    assert "changes, dirty, lineage" in repr(ramify.OTD().past)
