"""Data walks one way: who may include whom in the core, and a stub that is fresh.

(The Python rooms are import-linter's affair: `make check`.)
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "core"
BINDINGS = ROOT / "bindings"

# Every file of the core, in an order in which each includes only earlier ones.
# A new file must be given its place.
ORDER = [
    "tree/ids.hpp",
    "tree/change.hpp",
    "math/chance.hpp",
    "math/growth.hpp",
    "math/sum.hpp",
    "algorithms/certificate.hpp",
    "pulse.hpp",
    "helpers.hpp",
    "math/dispatch.hpp",
    "math/dispatch.cpp",
    "math/boxes.hpp",
    "math/expansion.hpp",
    "math/lanes.hpp",
    "math/least_two.hpp",
    "math/kernels.hpp",
    "math/kernels.cpp",
    "math/direction_products.hpp",
    "math/ordered_products.hpp",
    "math/ordered_products.cpp",
    "math/product_bounds.hpp",
    "math/product_bounds.cpp",
    "math/byte_codes.hpp",
    "math/byte_codes.cpp",
    "math/search_costs.hpp",
    "math/scales.hpp",
    "math/rotation.hpp",
    "math/rotation.cpp",
    "math/projection.hpp",
    "math/projection.cpp",
    "math/projection_fit.cpp",
    "index/code_scan.hpp",
    "index/shorten_each.hpp",
    "math/order.hpp",
    "index/nearest.hpp",
    "tree/row_store.hpp",
    "math/summary.hpp",
    "math/linkage.hpp",
    "tree/implied_means.hpp",
    "tree/implied_means.cpp",
    "tree/inner_nodes.hpp",
    "tree/inner_nodes.cpp",
    "tree/node_notes.hpp",
    "tree/node_notes.cpp",
    "tree/tree.hpp",
    "tree/tree.cpp",
    "tree/tree_changes.cpp",
    "tree/tree_check.cpp",
    "tree/tree_shrink.cpp",
    "tree/tree_storage.cpp",
    "tree/members.hpp",
    "tree/leaf_pairs.hpp",
    "tree/pruning.hpp",
    "tree/pruning.cpp",
    "tree/frontier.hpp",
    "tree/frontier.cpp",
    "tree/outline.hpp",
    "tree/outline.cpp",
    "tree/snapshot.hpp",
    "tree/snapshot.cpp",
    "index/row_hash.hpp",
    "index/bucket_blocks.hpp",
    "index/bucket_boxes.hpp",
    "index/bucket_tree.hpp",
    "index/bucket_tree.cpp",
    "index/fitting.hpp",
    "index/short_vectors.hpp",
    "index/equal_rows.hpp",
    "index/cell_plan.hpp",
    "index/cell_plan.cpp",
    "index/cell_lists.hpp",
    "index/neighbours.hpp",
    "index/cell_rows.hpp",
    "index/cell_epochs.cpp",
    "index/long_rows.hpp",
    "index/bucket_rows.hpp",
    "index/measured_rows.hpp",
    "index/neighbours.cpp",
    "index/lookahead.hpp",
    "index/lookahead.cpp",
    "index/earlier.hpp",
    "index/earlier.cpp",
    "index/part_boxes.hpp",
    "forest/tally.hpp",
    "forest/kept_linkages.hpp",
    "forest/forest_hac.hpp",
    "forest/forest_spaces.hpp",
    "forest/nearest_pairs.hpp",
    "forest/agglomerate.hpp",
    "forest/bucket_space.hpp",
    "forest/matrix_space.hpp",
    "forest/scan_space.hpp",
    "forest/forest_hac.cpp",
    "forest/summary_tree.hpp",
    "forest/summary_tree.cpp",
    "forest/few_hac.hpp",
    "forest/few_hac.cpp",
    "forest/stable_path.hpp",
    "forest/stable_path.cpp",
    "forest/union_means.hpp",
    "forest/matrix_linkages.hpp",
    "forest/path_table.hpp",
    "forest/path_table.cpp",
    "forest/path_linkages.cpp",
    "forest/path_rows.hpp",
    "forest/path_run.hpp",
    "forest/path_clusters.hpp",
    "forest/path_unions.hpp",
    "forest/path_hac.hpp",
    "forest/path_chain.cpp",
    "forest/path_greedy.cpp",
    "forest/path_hac.cpp",
    "graph/wide.hpp",
    "graph/graph.hpp",
    "graph/graph.cpp",
    "graph/bit_neighbours.hpp",
    "graph/bit_neighbours.cpp",
    "graph/contraction.hpp",
    "graph/graph_hac.hpp",
    "graph/tree_writer.hpp",
    "graph/graph_hac.cpp",
    "graph/bands.hpp",
    "graph/live_graph.hpp",
    "graph/live_graph.cpp",
    "graph/live_graph_step.cpp",
    "graph/live_graph_merge.cpp",
    "graph/live_graph_read.cpp",
    "graph/neighbour_lists.hpp",
    "graph/neighbour_lists.cpp",
    "graph/neighbour_lists_begin.cpp",
    "algorithms/gather.hpp",
    "algorithms/algorithm.hpp",
    "algorithms/interchange.hpp",
    "algorithms/refine.hpp",
    "algorithms/refine.cpp",
    "algorithms/otd_ties.hpp",
    "algorithms/otd_ties.cpp",
    "algorithms/otd.hpp",
    "algorithms/otd.cpp",
    "algorithms/hac.hpp",
    "algorithms/hac.cpp",
    "algorithms/naive.hpp",
    "algorithms/naive.cpp",
    "algorithms/edits.hpp",
    "algorithms/edits.cpp",
    "algorithms/cut_forest.hpp",
    "algorithms/cut_forest.cpp",
    "algorithms/write_back.hpp",
    "algorithms/write_back.cpp",
    "algorithms/repair.hpp",
    "algorithms/repair.cpp",
    "algorithms/polish.hpp",
    "algorithms/polish.cpp",
    "algorithms/nni.hpp",
    "algorithms/nni.cpp",
    "algorithms/ohac.hpp",
    "algorithms/ohac.cpp",
    "algorithms/group_tree.hpp",
    "algorithms/group_tree.cpp",
    "algorithms/perch.hpp",
    "algorithms/perch.cpp",
    "algorithms/perch_storage.cpp",
    "algorithms/grinch.hpp",
    "algorithms/grinch.cpp",
    "algorithms/random_cut.hpp",
    "algorithms/random_cut.cpp",
    "algorithms/neighbour_tree.hpp",
    "algorithms/neighbour_tree.cpp",
    "algorithms/registry.hpp",
    "algorithms/path_prefetch.hpp",
    "live/options.hpp",
    "live/batch.hpp",
    "live/change_log.hpp",
    "live/change_log.cpp",
    "live/neighbour_source.hpp",
    "live/neighbour_source.cpp",
    "live/leaf_budget.hpp",
    "live/live_cuts.hpp",
    "live/live_cuts.cpp",
    "live/node_finder.hpp",
    "live/live.hpp",
    "live/live.cpp",
    "live/stream.cpp",
    "live/batches.cpp",
    "live/leaving.cpp",
    "live/reshaping.cpp",
    "live/edits.cpp",
    "tree/dendrogram.hpp",
    "tree/dendrogram.cpp",
    "tree/best_frontier.hpp",
    "tree/best_frontier.cpp",
    "tree/modularity.hpp",
    "tree/modularity.cpp",
    "measures/heavy_paths.hpp",
    "measures/heavy_paths.cpp",
    "measures/measures.hpp",
    "measures/measures.cpp",
    "measures/spread.hpp",
    "measures/spread.cpp",
    "measures/rbf_sums.hpp",
    "measures/rbf_sums.cpp",
    "measures/triplets.hpp",
    "measures/triplets.cpp",
]

# No files, clocks, printing, threads or chance: the core computes.
OUTSIDE = {
    *("iostream", "ostream", "istream", "fstream", "sstream", "iomanip", "cstdio", "print"),
    *("filesystem", "chrono", "ctime", "random", "thread", "mutex", "future", "atomic"),
    *("csignal", "cstdlib", "locale"),
}

# What others do at the same time is their affair, but for one number.
SHARED = {"helpers.hpp": {"atomic"}}

# What no standard header has.
UNAVOIDABLE = {
    "math/growth.hpp": {"sys/mman.h"},  # huge pages, on Linux
    "math/dispatch.cpp": {"sys/auxv.h"},  # has this processor dot products? On Linux, ARM
    # products of bytes, which compilers do not find
    "math/byte_codes.cpp": {"immintrin.h", "arm_neon.h"},
    "math/boxes.hpp": {"emmintrin.h", "arm_neon.h"},  # the larger of two numbers, for two at once
}


def includes(path: Path) -> list[tuple[str, str]]:
    """('"' or '<', name) of every include line."""
    return re.findall(r'^\s*#\s*include\s*(["<])([^">]+)[">]', path.read_text(), re.MULTILINE)


def place(path: Path) -> str:
    """Where a file of the core lies: its room and its name."""
    return path.relative_to(CORE).as_posix()


def core_files() -> list[Path]:
    return sorted(path for path in CORE.rglob("*") if path.is_file())


def test_every_file_of_the_core_has_its_place():
    assert sorted(ORDER) == sorted(map(place, core_files()))


def test_a_forest_knows_no_tree():
    """HAC of a list of clusters: of trees it has only what their nodes are called."""
    for file in (CORE / "forest").iterdir():
        rooms = re.findall(r'#include "((?:tree|algorithms)/[^"]+)"', file.read_text("utf-8"))
        assert set(rooms) <= {"tree/ids.hpp"}, file.name


@pytest.mark.parametrize("path", core_files(), ids=place)
def test_the_core_includes_only_earlier_files_of_the_core(path):
    earlier = ORDER[: ORDER.index(place(path))]
    own = [name for mark, name in includes(path) if mark == '"']
    assert set(own) <= set(earlier), f"{path.name} looks ahead"


@pytest.mark.parametrize("path", core_files(), ids=place)
def test_the_core_knows_only_the_standard_library(path):
    headers = {name for mark, name in includes(path) if mark == "<"}
    strange = {name for name in headers if "." in name or "/" in name}
    strange -= UNAVOIDABLE.get(place(path), set())
    assert not strange, "standard headers have neither a dot nor a slash"
    headers -= SHARED.get(place(path), set())
    assert not headers & OUTSIDE, f"{path.name} reaches out of the core"
    assert not re.search(r"\b(PyObject|Py_|nanobind|nb::)", path.read_text())


def test_bindings_include_core_nanobind_and_the_standard_library_only():
    files = sorted(BINDINGS.glob("*.[ch]pp"))
    assert files
    known = {*ORDER, *(path.name for path in files)}
    for path in files:
        for mark, name in includes(path):
            if mark == '"':
                assert name in known, f"{path.name} includes {name}"
            else:
                standard = "." not in name and "/" not in name
                allowed = name.startswith("nanobind/") or name in ("Python.h", "pthread.h")
                assert standard or allowed


@pytest.mark.no_asan
def test_the_committed_stub_is_fresh(tmp_path):
    pytest.importorskip("nanobind", reason="only where the extension is built")
    fresh = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-m", "ramify._core", "-o", str(fresh)],
        check=True,
        capture_output=True,
    )
    committed = ROOT / "src" / "ramify" / "_core.pyi"
    assert committed.read_text() == fresh.read_text(), "run `make stub`"
