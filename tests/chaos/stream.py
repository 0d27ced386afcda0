"""stream.py: operations that anybody can make again from their numbers alone.

Operation i is a function of i, so whoever knows how many a journal holds knows the tree
that an uncrashed run would have.
"""

import numpy as np

import ramify

DIM = 4

#: Points that the tree "large" begins with.
LARGE = 200_000

#: Trees that are killed, by name.
KINDS = {
    "ohac": lambda: ramify.OHAC(n_clusters=4),
    "window": lambda: ramify.OHAC(keep=ramify.Last(300), linkage="ward"),
    "otd": lambda: ramify.OTD(),
    "large": lambda: ramify.OHAC().fit(
        np.random.default_rng(0).normal(size=(LARGE, DIM)).astype(np.float32),
        ids=[f"begin/{i}" for i in range(LARGE)],
    ),
}


def rows_of(i: int) -> np.ndarray:
    """The rows that operation i inserts, a few or one."""
    rng = np.random.default_rng(i)
    return rng.normal(size=(1 + i % 4 if i % 3 == 0 else 1, DIM)).astype(np.float32)


def ids_of(i: int) -> list[str]:
    return [f"{i}/{j}" for j in range(len(rows_of(i)))]


def is_forget(i: int) -> bool:
    return i % 11 == 10


def is_edit(i: int) -> bool:
    return i % 11 == 4 and i > 11


def edit(tree, i: int, **key: str) -> None:
    """What somebody says about the two points that came just before; a name, if it is refused.

    What is refused is not written down, and an operation has to be the i-th of its journal.
    """
    one, other = f"{i - 1}/0", f"{i - 2}/0"
    try:
        match i // 11 % 5 if hasattr(getattr(tree, "model", tree).edit, "move") else 1 + i % 2:
            case 0:
                tree.edit.must_link(one, other, **key)
            case 1:
                tree.edit.cannot_link(one, other, **key)
            case 2:
                tree.edit.rename(-1 - tree.number_of(one), f"named by {i}", **key)
            case 3:
                tree.edit.move(one, other, **key)
            case 4:
                tree.edit.unlink(f"{i - 45}/0", f"{i - 46}/0", **key)
    except ValueError:
        tree.edit.rename(-1 - tree.number_of(one), f"refused at {i}", **key)


def forgotten(i: int) -> str:
    """The point that operation i forgets, which came three operations before."""
    return f"{i - 3}/0"


def operate(tree, i: int) -> None:
    """Carry out operation i on a model, or on a tree in a folder."""
    if is_forget(i):
        tree.forget(forgotten(i))
    elif is_edit(i):
        edit(tree, i, **({"key": f"op {i}"} if hasattr(tree, "add") else {}))
    elif hasattr(tree, "add"):
        payloads = [f"payload of {one}" for one in ids_of(i)]
        tree.add(rows_of(i), ids=ids_of(i), payloads=payloads, key=f"op {i}")
    else:
        tree.partial_fit(rows_of(i), ids=ids_of(i))


def uncrashed(kind: str, count: int):
    """The tree after so many operations, in a run without a crash."""
    model = KINDS[kind]()
    for i in range(count):
        operate(model, i)
    return model
