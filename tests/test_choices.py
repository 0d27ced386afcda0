"""Lists that stand twice are the same: of the command line, of the library, of the oracles."""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import ramify
from ramify.cli import _choices
from ramify.estimators._options import LINKAGES, LINKED
from ramify.estimators._registry import BY_NAME
from ramify.estimators._settings import Duplicates
from ramify.estimators._skipping import ZeroRows
from ramify.files import FORMATS, TABLES
from ramify.hierarchy._cut_options import WAYS
from ramify.metric import METRICS, names_of
from tests.commands import done
from tests.oracles import linkages

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.mark.parametrize(
    ("choices", "known"),
    [
        (_choices.Algorithm, BY_NAME),
        (_choices.Metric, names_of(LINKED)),
        (_choices.ZeroRows, get_args(ZeroRows)),
        (_choices.Duplicates, get_args(Duplicates)),
        (_choices.Linkage, LINKAGES),
        (_choices.Similarity, ["rbf", *METRICS]),
        (_choices.By, WAYS),
        (_choices.Format, FORMATS),
        (_choices.TableFormat, TABLES),
    ],
)
def test_what_one_may_type_is_what_there_is(choices, known):
    assert list(choices) == list(known)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_linkage_without_an_oracle_or_missing_from_the_command_line(linkage, tmp_path):
    """Whoever adds one is told what is left to do, and CONTRIBUTING says how."""
    assert linkage in linkages.LINKAGES, "give it a definition in tests/oracles/linkages.py"
    X = np.random.default_rng(0).normal(size=(12, 3))
    by_definition = linkages.Linkage(X, "sqeuclidean", linkage)
    tree = ramify.HAC(linkage=linkage).fit(X).hierarchy()
    for node, (a, b) in enumerate(tree.children, start=len(X)):
        expected = by_definition.of_leaves(tuple(tree.leaves(a)), tuple(tree.leaves(b)))
        assert tree.heights[node - len(X)] == pytest.approx(expected)
    assert linkage in done("fit", "--help").out, "add it to src/ramify/cli/_choices.py"
    rows = "1,2\n2,1\n9,9\n"
    done("fit", "-", "-o", tmp_path / "t", "--linkage", linkage, "-q", stdin=rows)
    assert done("info", tmp_path / "t", "--json").json()["options"]["linkage"] == linkage


def test_contributing_says_how_to_add_a_linkage():
    text = CONTRIBUTING.read_text()
    section = text.split("## New linkage")[1].split("\n## ")[0]
    named = set(re.findall(r"`([^`]+\.(?:py|hpp|cpp|md))`", section))
    assert len(named) >= 6
    for path in named:
        assert (CONTRIBUTING.parent / path).is_file(), path
