"""Every example in a docstring or on a page of the docs runs, and nothing public lacks one."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shlex
from pathlib import Path

import matplotlib as mpl
import pytest
from sklearn.metrics import adjusted_rand_score

import ramify
from ramify.tree import Keeps, TreeReads, TreeWrites, meaning_of
from tests.commands import done

pytestmark = pytest.mark.no_asan  # other libraries at work, and nothing new for the core

DOCS = Path(__file__).parent.parent / "docs"

#: Where users look: every name in the ``__all__`` of these, or the names given.
PUBLIC = {
    "ramify": None,
    "ramify.metrics": None,
    "ramify.datasets": None,
    "ramify.plot": None,
    "ramify.files": None,
    "ramify.estimators": None,
    "ramify.journal": None,
    "ramify.serve": None,
    "ramify.ray": ["ShardedOHAC", "Top", "PointChanges"],
    "ramify.client": None,
    "ramify.summaries": None,
    "ramify.summaries.retrievers": None,
    "ramify.naming": None,
    "ramify.naming.homes": None,
    "ramify.mcp": ["server"],
    "ramify.river": ["OnlineHierarchy"],
    "ramify.hierarchy": ["Hierarchy", "CondensedTree", "read_names"],
    "ramify.saving": ["load", "describe"],
    "ramify.errors": [
        *("NoLabelsError", "BrokenTreeError", "UnreadableFileError"),
        *("FlatKernelWarning", "DeepTreeWarning"),
    ],
    "ramify.demo": ["main"],
    "ramify.paper": ["Options", "Report", "reproduce", "write"],
}

#: Verbs that need a server to talk to, or never end: test_serve.py runs them.
SERVED = ("serve", "push", "mcp")

#: The extra's library, for modules that cannot be imported without it.
NEEDS = {
    "ramify.river": "river",
    "ramify.cli": "typer",
    "ramify.serve": "fastapi",
    "ramify.client": "httpx",
}


def module_names() -> list[str]:
    found = [one.name for one in pkgutil.walk_packages(ramify.__path__, "ramify.")]
    return ["ramify", *(name for name in found if not name.endswith(("._core", "__main__")))]


def load(name: str):
    for module, library in NEEDS.items():
        if name == module or name.startswith(f"{module}."):
            pytest.importorskip(library)
    return importlib.import_module(name)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")


def run(test: doctest.DocTest) -> int:
    """Run the examples of one docstring or page; fail with doctest's own story."""
    story: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=story.append)
    assert runner.failures == 0, "".join(story)
    return runner.tries


@pytest.mark.parametrize("name", module_names())
def test_docstrings(name):
    tests = doctest.DocTestFinder(exclude_empty=True).find(load(name))
    for test in tests:
        run(test)


def test_there_are_many_examples():
    """So that a finder that finds nothing is noticed."""
    modules = [load(name) for name in ("ramify.hierarchy._cuts", "ramify.metrics._revenue")]
    finder = doctest.DocTestFinder()
    assert sum(len(test.examples) for module in modules for test in finder.find(module)) > 15


# --- nothing public without an example --------------------------------------------------


def public_objects():
    for module_name, chosen in PUBLIC.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        for name in chosen or module.__all__:
            found = getattr(module, name)
            if callable(found):
                yield f"{module_name}.{name}", found


def public_methods():
    """Methods that are ours, once each, under the first public name.

    A method of a client needs no example of its own if that of its class calls it; and none does
    that has the words of a protocol, whose example calls it.
    """
    homes: dict = {}
    for name, kind in public_objects():
        if not inspect.isclass(kind):
            continue
        for attribute in dir(kind):
            method = inspect.getattr_static(kind, attribute)
            function = getattr(method, "__func__", method)
            function = getattr(function, "_method", function)  # behind needs_cut
            ours = (getattr(function, "__module__", None) or "").split(".")[0] == "ramify"
            if attribute.startswith("_") or not inspect.isfunction(function) or not ours:
                continue
            homes.setdefault(function, []).append((name, attribute, kind))
    for function, found in homes.items():
        name, attribute, _ = found[0]
        kinds = [kind for _, _, kind in found if kind.__module__.startswith("ramify.client")]
        if inspect.getdoc(function) == meaning_of(attribute):
            kinds += [TreeReads, TreeWrites, Keeps]
        if not any(f".{attribute}(" in examples_of(kind) for kind in kinds):
            yield f"{name}.{attribute}", function


def examples_of(found) -> str:
    """The lines of an object's examples."""
    text = inspect.getdoc(found) or ""
    return "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) .*$", text, re.MULTILINE))


PLACES = [*public_objects(), *public_methods()]


@pytest.mark.parametrize("found", [found for _, found in PLACES], ids=[name for name, _ in PLACES])
def test_everything_public_has_an_example(found):
    text = inspect.getdoc(found) or ""
    assert re.search(r"^Examples\n-+$", text, re.MULTILINE), "no section Examples"
    assert ">>>" in text.split("Examples\n")[1], "an Examples section without any"


def test_public_things_were_found():
    names = [name for name, _ in PLACES]
    assert len(names) > 80
    assert {"ramify.OHAC", "ramify.BIRCH.predict", "ramify.Hierarchy.cut"} <= set(names)


# --- the pages of the docs --------------------------------------------------------------


#: Pages that tell of other libraries, which the tests can do without.
OTHERS = {"splink": "splink", "dedupe": "dedupe", "anndata": "anndata"}


def pages() -> list[Path]:
    return [page for page in sorted(DOCS.rglob("*.md")) if ">>> " in page.read_text()]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_pages(page):
    """The pages of the site, from top to bottom, each in an empty folder of its own."""
    if page.stem in OTHERS:
        pytest.importorskip(OTHERS[page.stem])
    # The fence at the end of a block is no output.
    text = re.sub(r"^```.*$", "", page.read_text(), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    assert run(test) > 0


def commands() -> list[str]:
    """What the page of the command line shows, line by line."""
    blocks = re.findall(r"```console\n(.*?)```", (DOCS / "cli.md").read_text(), re.DOTALL)
    return [line.removeprefix("$ ramify ") for block in blocks for line in block.splitlines()]


def test_the_commands_of_the_page_work():
    """All in one folder, one after the other: later ones read what earlier ones wrote."""
    pytest.importorskip("typer")
    lines = commands()
    verbs = {line.split()[0] for line in lines}
    assert verbs == set(click_names())  # every verb has an example
    for line in lines:
        if line.split()[0] not in SERVED and "http://" not in line:  # those need a server
            done(*shlex.split(line))


def click_names() -> list[str]:
    """The verbs of the command."""
    from typer.main import get_command

    return list(get_command(load("ramify.cli.app").make_app("ramify")).commands)


#: Pages whose links are read elsewhere than on the site, too.
LINKED = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]
LINKED += [
    f"docs/{page}.md" for page in ("index", "recipes", "coming-from", "elsewhere", "gallery")
]


# --- the README -------------------------------------------------------------------------


def test_the_readme_runs_and_is_one_page(tmp_path):
    text = (DOCS.parent / "README.md").read_text()
    assert len(text.splitlines()) <= 100
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["model"]) == 4500
    assert names["model"].n_clusters_ == 150
    claimed = re.search(r"at (0\.\d\d) \(adjusted Rand", text)
    found = adjusted_rand_score(names["queries"].intent, names["model"].labels_)
    assert f"{found:.2f}" == claimed.group(1)
    assert (tmp_path / "tree.ramify").exists()


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_somewhere(page):
    """Sphinx checks the site; these are read elsewhere, too."""
    path = DOCS.parent / page
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    assert links
    for link in links:
        assert (path.parent / link).exists(), link
    for script in re.findall(r"examples/\w+\.py", path.read_text()):
        assert (DOCS.parent / script).exists(), script
