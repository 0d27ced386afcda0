"""
The C++ core of Ramify. Not a public interface: use the classes of `ramify`.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def instructions() -> str:
    """The set of instructions in use: 'avx512', 'avx2' or 'baseline'."""

@overload
def first_non_finite(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[int, int] | None: ...

@overload
def first_non_finite(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity, if there is one."""

@overload
def first_zero_row(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> int | None: ...

@overload
def first_zero_row(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> int | None:
    """Index of the first row of zeros, if there is one."""

@overload
def listed_means(points: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], standings: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, mean: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

@overload
def listed_means(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], standings: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    Places of the nodes of a stored tree whose means the rest of the tree would not give.
    """

@overload
def all_means(points: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], standings: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, places: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], listed: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> object: ...

@overload
def all_means(points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], standings: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, places: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], listed: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> object:
    """All means of a stored tree, given those of these nodes."""

def parents(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Parent of every node; -1 for the root."""

def sizes(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Number of leaves below every node."""

def depths(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Steps from the root to every node."""

def monotone(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], heights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Largest height at or below every inner node."""

def displacements(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    For every leaf the largest ratio of weight beside to weight, on its root path.
    """

def leaf_layout(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Leaves from left to right, and where in that order each node's leaves begin.
    """

def cut_labels(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], n_clusters: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Labels of the leaves without the last n_clusters - 1 merges, dense, by first leaf.
    """

def split_order(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Merges in the order in which pruning undoes them, and the price of each.
    """

def best_frontier(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], prizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: float, n_clusters: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Of all cuts into this many clusters the best: gains of what is undone, prizes of clusters.
    """

def best_by_modularity(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], resolution: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], float]:
    """
    Of all cuts the best by modularity on a graph of the leaves: its nodes, and how good it is.
    """

def graph_hac(n: int, a: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], linkage: str, ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], report: object | None = None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    HAC of a graph: children, and what was between them in the weights' unit. A pair's largest weight counts; `ranks` break ties.
    """

def graph_hac_of_clusters(a: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    HAC by average linkage of clusters of these sizes, with the sums of weights between them; ties go by their numbers.
    """

def shared_neighbours(lists: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """
    For each entry of lists of nearest points: how many points both lists have, and how many one of them has. 2^32 - 1 is no point.
    """

def ranked_neighbours(lists: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The same as one share from 0 to 1, where what comes early in the lists counts more.
    """

@overload
def nearest_rows(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, unit: bool, threads: int, report: object | None = None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]: ...

@overload
def nearest_rows(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int, unit: bool, threads: int, report: object | None = None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
    """
    The k nearest others of each row, squared distances, and a key of each row: as a live tree of these rows has them. Of rows equally far the smaller key, then the earlier row. 2^32 - 1 is no row.
    """

def bit_neighbours(rows: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: int, metric: str, k: int, first: int, last: int, ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    The k nearest others of rows first to last, of rows of bits in words of 64, and how far they are; of equal distances the smaller rank. 2^32 - 1 is no point.
    """

class Options:
    """What a tree is to be like: its algorithm, with its options."""

    @staticmethod
    def ohac(metric: str, linkage: str, *, n_neighbors: int = 1, update: str = 'hac', recall: float | None = None, cells_from: int | None = None, max_leaves: int | None = None, track_members: bool = True, polish: bool = False, count_repeats: bool = False) -> Options:
        """With a recall, neighbours are near ones, out of cells."""

    @staticmethod
    def otd(metric: str, linkage: str, *, certify: bool = False, rule: str = 'paper', rotate: bool = False, count_repeats: bool = False) -> Options: ...

    @staticmethod
    def naive_hac(metric: str, linkage: str, *, count_repeats: bool = False) -> Options: ...

    @staticmethod
    def naive_nn(metric: str, linkage: str, *, count_repeats: bool = False) -> Options: ...

    @staticmethod
    def nested(metric: str, linkage: str, *, count_repeats: bool = False) -> Options: ...

    @staticmethod
    def random_cut(metric: str, linkage: str, *, random_state: int | None, count_repeats: bool = False) -> Options: ...

    @staticmethod
    def neighbour_tree(metric: str, linkage: str, *, n_neighbors: int, weight: str) -> Options: ...

    @staticmethod
    def perch(metric: str, linkage: str, *, bounds: str = 'reference', balance: str | None = 'reference', exact_distance_threshold: int = 10, max_leaves: int | None = None, count_repeats: bool = False) -> Options: ...

    @staticmethod
    def grinch(metric: str, linkage: str, *, graft: str | None = 'reference', restructure: bool = True, rotate_cap: int | None = None, graft_cap: int | None = None, restructure_cap: int | None = None) -> Options: ...

class LiveF32:
    """A growing tree over float32 rows."""

    def __init__(self, dim: int, options: Options) -> None: ...

    def __len__(self) -> int: ...

    @property
    def dim(self) -> int:
        """Width of the rows."""

    @property
    def n_points(self) -> int:
        """Points, of which a leaf may stand for several."""

    @property
    def next_arrival(self) -> int:
        """The number of the next point."""

    @property
    def version(self) -> int:
        """Grows with every change."""

    @property
    def busy(self) -> bool:
        """Whether a question may have to wait."""

    def insert_many(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], pulse: object | None = None, threads: int = 1, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, leaving: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, before: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> int:
        """
        Insert finite rows in order; returns how many. Calls pulse(done) now and then. Point leaving[i] is erased before row before[i] comes.
        """

    def insert_one(self, row: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Insert one row; returns its id."""

    def insert_beside(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Insert rows as if each one's nearest points were these; 2^64 - 1 is none. With numbers of the caller's, ascending and new.
        """

    def begin_with_hac(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], pulse: object | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, threads: int = 1) -> int:
        """Begin with these rows, merged as offline HAC does; returns how many."""

    def adopt(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, as_stored: bool = False) -> None:
        """
        Begin with these rows in a tree of this shape; as_stored: scaled already, if they have to be.
        """

    def polish(self, m: int | None, pulse: object | None = None) -> list[tuple[int, float, float, bool]]:
        """
        Merge the m subtrees at the top anew; without m, in rounds. Of each round: how many subtrees, what the old top and the new one are worth, and whether it is kept.
        """

    def refine(self, sweeps: int, slack: float, pulse: object | None = None) -> tuple[int, int, bool]:
        """
        Local search by interchanges; returns sweeps, interchanges, and whether none is left.
        """

    def erase(self, number: int) -> bool:
        """Take a leaf out again; False if there is no such leaf."""

    def erase_many(self, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Take leaves out again; returns how many of them there were."""

    def check_erase(self, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Refuse leaves that cannot be taken out; nothing changes."""

    def weigh(self, number: int, weight: float) -> bool:
        """
        Have a leaf stand for this many equal points; False if it is not there.
        """

    def set_max_leaves(self, most: int) -> None:
        """Keep to another budget from the next row on."""

    def link(self, one: int, other: int) -> None:
        """Have two points as one."""

    def unlink(self, number: int) -> None:
        """A point and all that it is linked with are points like others again."""

    def move(self, node: int, under: int) -> None:
        """Put a node below another, which is held from now on."""

    def check_link(self, one: int, other: int) -> None:
        """Refuse what link would refuse; nothing changes."""

    def check_move(self, node: int, under: int) -> None:
        """Refuse what move would refuse; nothing changes."""

    def release(self, node: int) -> None:
        """A node is held no more."""

    def held(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Ids of the held nodes."""

    def wholes(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        For each point the earliest leaf that it is linked with; its own if with none.
        """

    def together(self, number: int) -> list[int]:
        """All points that are in one leaf with a point, or linked with it."""

    def has_node(self, id: int) -> bool:
        """Is there a node with this id?"""

    def is_held(self, id: int) -> bool:
        """Is there this node, and is it held?"""

    def record(self, on: bool, all: bool = True) -> None:
        """
        Write down what happens from now on; the first change tells all, or that alone.
        """

    def take_change(self) -> dict[str, object]:
        """What became of the tree since the last call."""

    def regroup(self, group_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], above: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Make a 'nested' tree anew: the group of each point, the group above each group.
        """

    def nearest(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int = 1, threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Numbers and distances of the k nearest points of each row, nearest first.
        """

    def assign(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], by: str, value: float, threads: int = 1, with_codes: bool = False) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[str]]:
        """
        Label and node id of the cluster of each row's nearest point; that point, its distance, and if wanted the cluster's path code.
        """

    def cluster_of(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by: str, value: float, with_codes: bool = False) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], list[str]]:
        """
        Label, node id and if wanted path code of the cluster of each of these points.
        """

    def labels(self, by: str, value: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Labels of all points, in order of arrival."""

    def clusters(self, by: str, value: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Node id, size, mean, height and first point of each cluster of a cut."""

    def outline(self, m: int, by: str, value: float) -> tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None, None))]]:
        """
        The tree opened into its m widest parts, and below as a cut of a larger tree may: how many nodes are the m; each one's id, first child, points, leaves, ssd, heights, first point, mean.
        """

    def units(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, m: int, by: str, value: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Where in such an outline the nodes that points are below, and that it does not open, are.
        """

    def path(self, number: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], str]:
        """Node ids from the root down to a point, and the turns on the way."""

    def lca(self, one: int, other: int) -> int:
        """Node id of the lowest common ancestor of two points."""

    def depth(self, number: int) -> int:
        """Number of merges above a point."""

    def has(self, number: int) -> bool:
        """Whether there is a point of this number."""

    def leaf_of(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_first: bool = False) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The numbers of the leaves that these points are in, or of the earliest point in each.
        """

    def numbers(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Arrival numbers of the points, in order."""

    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How much each point counts, in order of arrival."""

    def snapshot(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Children, heights and stable ids of the inner nodes, in canonical numbering.
        """

    def versioned_snapshot(self, with_points: bool = False) -> tuple[int, Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float32], dict(shape=(None, None))], tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]]:
        """
        The version, the leaves' numbers (none: 0, 1, 2, ...), weights (none: 1) and earliest points (none: of their numbers); if wanted points and the leaves they are in (none: themselves), and rows; its snapshot.
        """

    def points(self, first: int = 0) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """The rows as stored (unit length under cosine), from this one on."""

    def summaries(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Size, mean and sum of squared deviations of every node, as stored."""

    def certificate(self) -> tuple[float, float, float, float]:
        """Beta, and the revenue guaranteed, achieved and conceivable."""

    @property
    def recall(self) -> float:
        """Share of the rows so far that were told their nearest neighbour."""

    def check(self) -> None:
        """Test every invariant; raises RuntimeError."""

    def state(self) -> dict[str, object]:
        """Everything needed to continue, as plain arrays."""

    @staticmethod
    def from_state(dim: int, options: Options, state: dict[str, object]) -> LiveF32:
        """The inverse of state()."""

class LiveF64:
    """A growing tree over float64 rows."""

    def __init__(self, dim: int, options: Options) -> None: ...

    def __len__(self) -> int: ...

    @property
    def dim(self) -> int:
        """Width of the rows."""

    @property
    def n_points(self) -> int:
        """Points, of which a leaf may stand for several."""

    @property
    def next_arrival(self) -> int:
        """The number of the next point."""

    @property
    def version(self) -> int:
        """Grows with every change."""

    @property
    def busy(self) -> bool:
        """Whether a question may have to wait."""

    def insert_many(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pulse: object | None = None, threads: int = 1, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, leaving: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, before: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> int:
        """
        Insert finite rows in order; returns how many. Calls pulse(done) now and then. Point leaving[i] is erased before row before[i] comes.
        """

    def insert_one(self, row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Insert one row; returns its id."""

    def insert_beside(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Insert rows as if each one's nearest points were these; 2^64 - 1 is none. With numbers of the caller's, ascending and new.
        """

    def begin_with_hac(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pulse: object | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, threads: int = 1) -> int:
        """Begin with these rows, merged as offline HAC does; returns how many."""

    def adopt(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, as_stored: bool = False) -> None:
        """
        Begin with these rows in a tree of this shape; as_stored: scaled already, if they have to be.
        """

    def polish(self, m: int | None, pulse: object | None = None) -> list[tuple[int, float, float, bool]]:
        """
        Merge the m subtrees at the top anew; without m, in rounds. Of each round: how many subtrees, what the old top and the new one are worth, and whether it is kept.
        """

    def refine(self, sweeps: int, slack: float, pulse: object | None = None) -> tuple[int, int, bool]:
        """
        Local search by interchanges; returns sweeps, interchanges, and whether none is left.
        """

    def erase(self, number: int) -> bool:
        """Take a leaf out again; False if there is no such leaf."""

    def erase_many(self, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Take leaves out again; returns how many of them there were."""

    def check_erase(self, numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Refuse leaves that cannot be taken out; nothing changes."""

    def weigh(self, number: int, weight: float) -> bool:
        """
        Have a leaf stand for this many equal points; False if it is not there.
        """

    def set_max_leaves(self, most: int) -> None:
        """Keep to another budget from the next row on."""

    def link(self, one: int, other: int) -> None:
        """Have two points as one."""

    def unlink(self, number: int) -> None:
        """A point and all that it is linked with are points like others again."""

    def move(self, node: int, under: int) -> None:
        """Put a node below another, which is held from now on."""

    def check_link(self, one: int, other: int) -> None:
        """Refuse what link would refuse; nothing changes."""

    def check_move(self, node: int, under: int) -> None:
        """Refuse what move would refuse; nothing changes."""

    def release(self, node: int) -> None:
        """A node is held no more."""

    def held(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Ids of the held nodes."""

    def wholes(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        For each point the earliest leaf that it is linked with; its own if with none.
        """

    def together(self, number: int) -> list[int]:
        """All points that are in one leaf with a point, or linked with it."""

    def has_node(self, id: int) -> bool:
        """Is there a node with this id?"""

    def is_held(self, id: int) -> bool:
        """Is there this node, and is it held?"""

    def record(self, on: bool, all: bool = True) -> None:
        """
        Write down what happens from now on; the first change tells all, or that alone.
        """

    def take_change(self) -> dict[str, object]:
        """What became of the tree since the last call."""

    def regroup(self, group_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], above: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Make a 'nested' tree anew: the group of each point, the group above each group.
        """

    def nearest(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int = 1, threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Numbers and distances of the k nearest points of each row, nearest first.
        """

    def assign(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], by: str, value: float, threads: int = 1, with_codes: bool = False) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], list[str]]:
        """
        Label and node id of the cluster of each row's nearest point; that point, its distance, and if wanted the cluster's path code.
        """

    def cluster_of(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by: str, value: float, with_codes: bool = False) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], list[str]]:
        """
        Label, node id and if wanted path code of the cluster of each of these points.
        """

    def labels(self, by: str, value: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Labels of all points, in order of arrival."""

    def clusters(self, by: str, value: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Node id, size, mean, height and first point of each cluster of a cut."""

    def outline(self, m: int, by: str, value: float) -> tuple[int, Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        The tree opened into its m widest parts, and below as a cut of a larger tree may: how many nodes are the m; each one's id, first child, points, leaves, ssd, heights, first point, mean.
        """

    def units(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, m: int, by: str, value: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Where in such an outline the nodes that points are below, and that it does not open, are.
        """

    def path(self, number: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], str]:
        """Node ids from the root down to a point, and the turns on the way."""

    def lca(self, one: int, other: int) -> int:
        """Node id of the lowest common ancestor of two points."""

    def depth(self, number: int) -> int:
        """Number of merges above a point."""

    def has(self, number: int) -> bool:
        """Whether there is a point of this number."""

    def leaf_of(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_first: bool = False) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The numbers of the leaves that these points are in, or of the earliest point in each.
        """

    def numbers(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Arrival numbers of the points, in order."""

    def weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How much each point counts, in order of arrival."""

    def snapshot(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Children, heights and stable ids of the inner nodes, in canonical numbering.
        """

    def versioned_snapshot(self, with_points: bool = False) -> tuple[int, Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]]:
        """
        The version, the leaves' numbers (none: 0, 1, 2, ...), weights (none: 1) and earliest points (none: of their numbers); if wanted points and the leaves they are in (none: themselves), and rows; its snapshot.
        """

    def points(self, first: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """The rows as stored (unit length under cosine), from this one on."""

    def summaries(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Size, mean and sum of squared deviations of every node, as stored."""

    def certificate(self) -> tuple[float, float, float, float]:
        """Beta, and the revenue guaranteed, achieved and conceivable."""

    @property
    def recall(self) -> float:
        """Share of the rows so far that were told their nearest neighbour."""

    def check(self) -> None:
        """Test every invariant; raises RuntimeError."""

    def state(self) -> dict[str, object]:
        """Everything needed to continue, as plain arrays."""

    @staticmethod
    def from_state(dim: int, options: Options, state: dict[str, object]) -> LiveF64:
        """The inverse of state()."""

class LiveGraph:
    """A graph that changes, and its tree under average linkage."""

    def __init__(self, most: int) -> None: ...

    def announce(self, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """What points will be called that come with the next update."""

    def update(self, gone: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], came: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Points that go, points that were announced, and new weights of edges."""

    def snapshot(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Points in order of number, children, mean weights."""

    def edges(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """Both ends and the weight of every edge."""

    def weight(self, a: int, b: int) -> int: ...

    def check(self) -> None:
        """Raise RuntimeError naming a broken invariant."""

    @property
    def updates(self) -> int: ...

    @property
    def merged_anew(self) -> int: ...

    @property
    def entries(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def __len__(self) -> int: ...

@overload
def moment_sums(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarity: str, pulse: object | None = None) -> tuple[float, float, float]: ...

@overload
def moment_sums(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarity: str, pulse: object | None = None) -> tuple[float, float, float]:
    """
    Sum of similarities, revenue and cost, from node summaries; rows by leaf.
    """

@overload
def moment_across(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarity: str) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def moment_across(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarity: str) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Sum of similarities between the two children of every merge; rows by leaf.
    """

@overload
def rbf_sums(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], gamma: float, threads: int, pulse: object | None = None) -> tuple[float, float, float]: ...

@overload
def rbf_sums(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gamma: float, threads: int, pulse: object | None = None) -> tuple[float, float, float]:
    """
    Sum of exp(-gamma |x - y|^2), revenue and cost over all pairs; rows by leaf.
    """

@overload
def split_gains(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

@overload
def split_gains(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    By how much splitting each merge lowers the sum of squares; rows by leaf.
    """

def dendrogram_purity(children: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], classes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pulse: object | None = None) -> float:
    """Mean purity of the lowest common ancestors of all pairs of one class."""

def agreeing_triplets(first: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], pulse: object | None = None) -> int:
    """Number of triples of leaves that two trees resolve alike."""

max_triplet_leaves: int = 4194304

@overload
def nearest_before(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: str, k: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]: ...

@overload
def nearest_before(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], metric: str, k: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Places and distances of the k nearest of the rows before each row; -1: none.
    """

@overload
def least_distances(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], product: bool, low: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], enough: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def least_distances(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], product: bool, low: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], enough: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    For each row and owner of boxes, which are columns, those of an owner together: what no squared distance, or minus product, of the row to a point in them is below.
    """

@overload
def widen(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], high: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def widen(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], high: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Have boxes, which are columns, take in these rows, too."""

@overload
def merge_summaries(means: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], ssds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: str, linkage: str) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]: ...

@overload
def merge_summaries(means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ssds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], metric: str, linkage: str) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    HAC of clusters by their summaries: children, heights, and the merges' ssds and means. `firsts` say in which order the clusters' first points came, from 0.
    """
