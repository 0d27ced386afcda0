"""`import ramify` is light: it loads what is used, and no optional library."""

import json
import subprocess
import sys

import pytest

OPTIONAL = {
    *("pandas", "polars", "pyarrow", "narwhals", "matplotlib", "typer", "rich", "networkx"),
    *("river", "IPython", "torch", "safetensors"),
}

# scikit-learn imports pandas where it is installed, so it does not show whether one is
# loaded; what counts is who asks.
SCRIPT = """
import builtins, json, sys
import numpy, sklearn.base, sklearn.utils.validation
before, asked, real = set(sys.modules), set(), builtins.__import__

def watched(name, globals=None, *args, **kwargs):
    if (globals or {}).get("__name__", "").split(".")[0] == "ramify":
        asked.add(name.split(".")[0])
    return real(name, globals, *args, **kwargs)

builtins.__import__ = watched
import ramify
ramify.OHAC, ramify.load  # which are loaded only now
builtins.__import__ = real
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"new": sorted(new), "asked": sorted(asked)}))
"""


def import_once() -> dict:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_the_name_alone_loads_nothing():
    script = "import sys, ramify; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "sklearn", "ramify._core"} & set(done.stdout.split())


def test_every_name_of_the_front_door_is_there():
    import ramify

    for name in (*ramify.__all__, *ramify._MODULES):
        assert getattr(ramify, name) is not None
    assert {*ramify.__all__, *ramify._MODULES} <= set(dir(ramify))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ramify.nothing  # noqa: B018 - which must fail


def test_import_asks_for_no_optional_library():
    found = import_once()
    assert "numpy" in found["asked"]  # the watch works
    assert not OPTIONAL & {*found["new"], *found["asked"]}


def test_an_estimator_loads_no_other_room():
    script = "import sys, ramify; ramify.OHAC, ramify.load; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[1] for name in done.stdout.split() if name.startswith("ramify.")}
    assert "estimators" in loaded
    rooms = {"cli", "client", "datasets", "demo", "files", "journal", "mcp", "metrics", "paper"}
    rooms |= {"naming", "plot", "ray", "river", "serve", "settling", "summaries"}
    assert not rooms & loaded
