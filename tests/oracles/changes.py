"""What became of a tree, from two snapshots of it, set by set."""


def members(tree, leaf_of=None):
    """The points below every node, leaves included, by public id; None is no tree.

    ``leaf_of`` has the leaf of every point, if leaves may be of several.
    """
    if tree is None:
        return {}
    ids = [*(-1 - tree.leaf_numbers), *tree.node_ids]
    sets = [frozenset([int(number)]) for number in tree.leaf_numbers]
    if leaf_of is not None:
        sets = [
            frozenset(point for point, leaf in leaf_of.items() if leaf == number)
            for number in tree.leaf_numbers.tolist()
        ]
    for a, b in tree.children.tolist():
        sets.append(sets[a] | sets[b])
    return dict(zip(map(int, ids), sets, strict=True))


def families(tree):
    """The children of every inner node, by public id."""
    if tree is None:
        return {}
    ids = [int(i) for i in [*(-1 - tree.leaf_numbers), *tree.node_ids]]
    n = len(tree)
    return {ids[n + r]: frozenset(ids[c] for c in row) for r, row in enumerate(tree.children)}


def parents(tree):
    return {child: node for node, pair in families(tree).items() for child in pair}


def changes(old, new, leaf_then=None, leaf_now=None):
    """Everything that Changes tells of ids, as sets."""
    then, now = members(old, leaf_then), members(new, leaf_now)
    points_then, points_now = (set().union(*sets.values()) for sets in (then, now))
    inner_then, inner_now = families(old), families(new)
    both = inner_then.keys() & inner_now.keys()
    above_then, above_now = parents(old), parents(new)
    return {
        "inserted": points_now - points_then,
        "forgotten": points_then - points_now,
        "born": inner_now.keys() - inner_then.keys(),
        "retired": inner_then.keys() - inner_now.keys(),
        "grown": {i for i in both if now[i] - then[i]},
        "shrunk": {i for i in both if then[i] - now[i]},
        "rewired": {i for i in both if inner_then[i] != inner_now[i]},
        "moved": {i for i in then.keys() & now.keys() if above_then.get(i) != above_now.get(i)},
    }


def clusters(tree, by, value, leaf_of=None):
    """The clusters of a cut, in order of first points."""
    if tree is None:
        return []
    if by == "n_clusters":
        value = min(value, len(tree))
    found = {}
    for number, label in zip(tree.leaf_numbers, tree.cut(**{by: value}), strict=True):
        found.setdefault(int(label), set()).add(int(number))
    sets = [frozenset(found[label]) for label in sorted(found)]
    if leaf_of is None:
        return sets
    return [frozenset(p for p, leaf in leaf_of.items() if leaf in leaves) for leaves in sets]


def dirty(old, new, by, value, leaf_then=None, leaf_now=None):
    """Labels of the clusters of now that were no cluster then."""
    then = set(clusters(old, by, value, leaf_then))
    return [i for i, points in enumerate(clusters(new, by, value, leaf_now)) if points not in then]


def _most_of_both(a, b):
    return 2 * len(a & b) > max(len(a), len(b))


class StableIds:
    """Ids of clusters by the rule, for one cut."""

    def __init__(self):
        self.last, self.used = {}, 0

    def of(self, tree, by, value):
        """The id of each cluster."""
        there = set(map(int, tree.leaf_numbers))
        before = set().union(*self.last.values()) if self.last else set()
        count = there & before
        ids = {}
        for points in clusters(tree, by, value):
            heirs = [
                i for i, was in self.last.items() if _most_of_both(points & count, was & count)
            ]
            assert len(heirs) <= 1
            if not heirs:
                heirs, self.used = [self.used], self.used + 1
            assert heirs[0] not in ids
            ids[heirs[0]] = points
        self.last = ids
        return {point: i for i, points in ids.items() for point in points}


def lineage(node, old, new):
    """Renamed from, merged from, renamed to, split into."""
    then, now = members(old), members(new)
    count = set().union(*then.values()) & set().union(*now.values()) if then else set()
    then = {i: points & count for i, points in then.items()}
    now = {i: points & count for i, points in now.items()}
    mine, yours = now.get(node, set()), then.get(node, set())
    return (
        {None} if node in then else _twin(mine, then, now),
        _pieces(mine, then, old),
        {None} if node in now else _twin(yours, now, then),
        _pieces(yours, now, new),
    )


def _twin(points, nodes, others):
    """Ids of the nodes that it may be, not in the other tree: those that share most."""
    fits = {i for i in nodes if i >= 0 and i not in others and _most_of_both(points, nodes[i])}
    rank = {i: (-len(points & nodes[i]), len(nodes[i])) for i in fits}
    return {i for i in fits if rank[i] == min(rank.values())} or {None}


def _pieces(points, nodes, tree):
    inside = {i: held for i, held in nodes.items() if held and held <= points}
    tops = {held for held in inside.values() if not any(held < more for more in inside.values())}
    below = members(tree)
    return {
        min((i for i in inside if inside[i] == held), key=lambda i: len(below[i])) for held in tops
    }
