# SPDX-License-Identifier: BSD-3-Clause
"""Two models that are told the same; one of them is saved and read again, now and then.

What is not in a file must not be seen in a tree: neither what a model has counted, kept or timed
on its way, nor which questions it was asked. So the twin that went through files, and was asked
nothing, has the same children, heights, node ids, summaries, weights and numbers, to the bit,
after every operation. A stream is made from its number alone: `Twins(number)`.
"""

import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np

import ramify

#: Sizes of numbers, from below the least that single precision has to near the most.
SCALES = {
    np.float32: [1.0, 1.0, 1e-45, 1e-38, 1e-30, 1e-19, 1e-10, 1e5, 1e12, 1e18, 1e30, 1e37],
    np.float64: [1.0, 1.0, 1e-320, 1e-300, 1e-160, 1e-80, 1e-19, 1e5, 1e18, 1e37, 1e80, 1e140],
}


def options_of(rng):
    """A class and its options, every one with a fair chance."""

    def one(*values):
        return values[int(rng.integers(len(values)))]

    metric = one("sqeuclidean", "cosine", "dot")
    linkage = one("average", "average", "centroid", "ward")
    if metric == "dot":
        linkage = "average"
    if metric == "sqeuclidean" and linkage != "average":
        metric = one("sqeuclidean", "euclidean")  # which OTD and others have not
    leaving = {"keep": one(None, None, None, ramify.Last(5), ramify.Last(30))}
    kind = one("OHAC", "OHAC", "OHAC", "OHAC", "OTD", "OTD", "NaiveNN", "PERCH", "GRINCH")
    kind = one(
        kind, kind, kind, kind, kind, "BIRCH", "RandomCut", "NaiveHAC", "HAC", "LiveGraphHAC"
    )
    if kind == "OHAC":
        more = {"n_neighbors": one(1, 1, 1, 2, 5), "duplicates": one("keep", "keep", "count")}
        leaves = one(None, None, None, 2, 7, 40)
        more |= {"update": one("hac", "hac", "nni")}
        more |= {"start": one("online", "online", "online", "hac")}
        if leaves is not None or more["duplicates"] == "count":
            more["start"] = "online"
        more["polishing"] = one(None, None, None, "auto")
        if metric != "dot":
            more["neighbors"] = one("exact", "exact", "exact", ramify.Cells())
        if metric == "cosine":
            more["zero_rows"] = one("error", "skip", "apart")
        if leaves is not None and leaving["keep"] is None:
            leaving["keep"] = ramify.Budget(leaves)
        return ramify.OHAC, {"metric": metric, "linkage": linkage, **more, **leaving}
    if kind == "OTD":
        more = {"rule": one("paper", "paper", "split"), "rotate": one(False, False, True)}
        more |= {"duplicates": one("keep", "keep", "count")}
        return ramify.OTD, {"metric": metric, **more, **leaving}
    if kind == "NaiveNN":
        more = {"linkage": linkage, "duplicates": one("keep", "count")}
        return ramify.NaiveNN, {"metric": metric, **more, **leaving}
    if kind == "PERCH":
        more = {"bounds": one("reference", "reference", "sound"), "max_leaves": one(None, 9)}
        more["balance"] = one("reference", "reference", "python", None)
        if more["max_leaves"] is None:
            more["duplicates"] = one("keep", "count")
        return ramify.PERCH, {**more, **leaving}
    if kind == "GRINCH":
        return ramify.GRINCH, {"metric": one("cosine", "dot")}
    if kind == "LiveGraphHAC":
        metric = "cosine" if metric == "cosine" else "sqeuclidean"
        more = {"weight": one("snn", "jaccard", "similarity"), "n_neighbors": one(2, 5, 15)}
        return ramify.LiveGraphHAC, {"metric": metric, **more, **leaving}
    if kind == "RandomCut":
        more = {"random_state": int(rng.integers(9)), "duplicates": one("keep", "count")}
        return ramify.RandomCut, {**more, **leaving}
    if kind == "BIRCH":  # whose squared lengths must be numbers of the rows' own type
        return ramify.BIRCH, {"threshold": float(one(0.1, 0.5, 2.0))}
    return getattr(ramify, kind), {"metric": metric, "linkage": linkage}


class Rows:
    """Rows of one stream: loose ones, whole numbers, halves, heaps; of one scale and offset."""

    def __init__(self, rng):
        self.rng = rng
        self.width = int(rng.choice([1, 2, 3, 5, 9, 15, 16, 17, 24, 40, 70, 200]))
        self.dtype = [np.float32, np.float64][int(rng.integers(2))]
        self.scale = float(rng.choice(SCALES[self.dtype]))
        self.shape = ["loose", "whole", "few", "heaps", "mixture", "signs"][int(rng.integers(6))]
        self.offset = float(rng.choice([0, 0, 0, 1, 1000]))
        self.centres = 10 * rng.standard_normal((6, self.width))

    def some(self, count):
        rng, size = self.rng, (count, self.width)
        if self.shape == "loose":
            X = rng.standard_normal(size)
        elif self.shape == "whole":
            X = rng.integers(-3, 4, size).astype(float)
        elif self.shape == "few":
            X = rng.integers(0, 2, size) / 2
        elif self.shape == "heaps":
            X = np.round(self.centres[rng.integers(6, size=count)], 1)
        elif self.shape == "signs":
            X = rng.choice([-1.0, 1.0], size)
        else:
            X = self.centres[rng.integers(6, size=count)] + rng.standard_normal(size)
        X = (X + self.offset) * self.scale
        X[~X.any(axis=1), 0] = self.scale  # a row of zeros has no direction
        with np.errstate(over="ignore", under="ignore"):
            most = 1e37 if self.dtype == np.float32 else 1e144
            return np.clip(X, -most, most).astype(self.dtype)


class Twins:
    """`step()` lets the next operation happen to both, and `compare()` looks at them."""

    def __init__(self, number):
        self.rng = rng = np.random.default_rng(number)
        self.rows = Rows(rng)
        self.kind, self.options = self._possible_options()
        if self.kind is ramify.BIRCH:
            self.rows.scale, self.rows.offset = 1.0, 0.0
        self.left, self.right = self.kind(**self.options), self.kind(**self.options)
        self.done = []
        self.verbs = self._verbs()
        self.often = rng.random() < 0.5  # read again after every operation, or now and then
        self.weighed = rng.random() < 0.3

    def __repr__(self):
        what = ", ".join(f"{key}={value!r}" for key, value in self.options.items())
        rows = self.rows
        shape = f"{rows.shape} {rows.width} {rows.dtype.__name__} {rows.scale:g} +{rows.offset:g}"
        return f"{self.kind.__name__}({what}), {shape}: {' '.join(self.done[-6:])}"

    def _possible_options(self):
        """Options that go together: the door says of others that they do not."""
        while True:
            kind, options = options_of(self.rng)
            try:
                kind(**options).fit(self.rows.some(2))
            except ValueError:
                continue
            return kind, options

    def _verbs(self):
        verbs = ["insert"] * 6 + ["batch"] * 2 + ["ask"]
        if hasattr(self.left, "forget"):
            verbs += ["forget"] * int(self.rng.choice([0, 2, 6]))
        if self.kind is ramify.OHAC and self.rng.random() < 0.3:
            verbs += ["must_link", "move", "release", "unlink", "cannot_link", "rename"]
        if self.kind is ramify.OHAC and self.rng.random() < 0.2:
            verbs += ["polish"]
        if isinstance(self.options.get("keep"), ramify.Budget):
            verbs += ["budget"]
        return verbs

    # --- operations ---------------------------------------------------------------

    def both(self, use):
        """The same to both: the same answer, or the same refusal."""
        said = []
        for model in (self.left, self.right):
            try:
                said.append(("done", use(model)))
            except (ValueError, KeyError, IndexError, TypeError, NotImplementedError) as no:
                said.append((type(no).__name__, str(no)))
        assert [one[0] for one in said] == [said[0][0]] * 2, f"{said} {self!r}"
        if said[0][0] != "done":
            self.done[-1] += f"({said[0][0]})"

    def step(self):
        verb = self.verbs[int(self.rng.integers(len(self.verbs)))]
        self.done.append(verb)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(self, f"_{verb}")()
            if self.often or self.rng.random() < 0.2:
                self.right = again(self.right, self.rng)

    def _weights(self, count):
        if not self.weighed or self.rng.random() < 0.2:
            return {}
        return {"sample_weight": self.rng.choice([0.1, 0.5, 1, 2, 3.7, 1e3], count)}

    def _insert(self):
        if hasattr(self.left, "partial_fit"):
            X, more = self.rows.some(1), self._weights(1)
            self.both(lambda model: model.partial_fit(X, **more) and None)
        else:
            self._batch()

    def _batch(self):
        X = self.rows.some(int(self.rng.choice([2, 5, 20])))
        more = self._weights(len(X))
        if hasattr(self.left, "partial_fit"):
            self.both(lambda model: model.partial_fit(X, **more) and None)
        elif self.rng.random() < 0.2:
            self.both(lambda model: model.fit(X) and None)

    def _some_points(self, count):
        tree = self.left._live
        numbers = [] if tree is None else np.asarray(tree.numbers()).tolist()
        if len(numbers) < count:
            return None
        return [int(one) for one in self.rng.choice(numbers, count, replace=False)]

    def _forget(self):
        gone = self._some_points(1 if self.rng.random() < 0.8 else 4)
        if gone is not None:
            self.both(lambda model: model.forget(gone) and None)

    def _two_points(self, verb):
        two = self._some_points(2)
        if two is not None:
            self.both(lambda model: getattr(model.edit, verb)(*two))

    def _must_link(self):
        self._two_points("must_link")

    def _cannot_link(self):
        self._two_points("cannot_link")

    def _unlink(self):
        self._two_points("unlink")

    def _some_nodes(self, count):
        if self.left._live is None or len(self.left._live) < 3:
            return None
        ids = self.left.hierarchy().node_ids
        return [int(one) for one in self.rng.choice(ids, count)]

    def _move(self):
        nodes = self._some_nodes(2)
        if nodes is not None:
            self.both(lambda model: model.edit.move(*nodes) and None)

    def _release(self):
        if (
            self.left._live is not None
            and len(self.left._live)
            and len(held := self.left.edit.list().held)
        ):
            node = int(self.rng.choice(held))
            self.both(lambda model: model.edit.release(node))

    def _rename(self):
        nodes = self._some_nodes(1)
        if nodes is not None:
            self.both(lambda model: model.edit.rename(nodes[0], "text"))

    def _polish(self):
        self.both(lambda model: model.polish() and None)

    def _budget(self):
        most = int(self.rng.choice([2, 5, 12, 60]))
        self.both(lambda model: model.set_params(keep=ramify.Budget(most)) and None)

    def _ask(self):
        """Only of one: whoever is asked is the same afterwards."""
        if self.left._live is None or len(self.left._live) == 0:
            return
        self.left.hierarchy()
        if hasattr(self.left, "nearest"):
            self.left.nearest(self.rows.some(3))
        if hasattr(self.left, "clusters"):
            self.left.clusters(n_clusters=1)

    # --- looking ------------------------------------------------------------------

    def compare(self):
        mine, other = seen(self.left), seen(self.right)
        assert mine.keys() == other.keys(), self
        for name in mine:
            assert np.array_equal(mine[name], other[name], equal_nan=True), f"{name}: {self!r}"


def again(model, rng):
    """The model that a pickle, a copy of a file or a file of a copy has."""
    if rng.random() < 0.5:
        return pickle.loads(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "twin.ramify"
        model.save(path)
        return ramify.load(path)


def seen(model):
    """All that can be seen of a model, to the bit."""
    live = model._live
    if live is None or len(live) == 0:
        return {}
    tree = model.hierarchy()
    found = {"children": tree.children, "heights": tree.heights, "node ids": tree.node_ids}
    found["numbers"] = np.asarray(live.numbers())
    found["points"] = tree.points if hasattr(tree, "points") else live._core.points()
    state = live.state()["arrays"]
    found |= {name: state[name] for name in ("next_name", "next_arrival")}
    found["weights"] = np.zeros(0) if live.weights() is None else live.weights()
    core = getattr(live._core, "_store", live._core)
    if hasattr(core, "summaries"):
        found |= dict(zip(("sizes", "means", "ssds"), core.summaries(), strict=True))
    return found


def follow(number, steps):
    """Let the stream of this number go on for so many steps; raises where the twins differ."""
    twins = Twins(number)
    for _ in range(steps):
        twins.step()
        twins.compare()
    return twins
