# SPDX-License-Identifier: BSD-3-Clause
"""What became of the clusters of a cut between two trees, set by set."""


def clusters(tree, k):
    """The sets of leaves of a cut, in order of their labels; none of an empty tree."""
    if tree is None:
        return []
    labels = tree.cut(n_clusters=min(k, len(tree))).tolist()
    leaves = tree.leaf_numbers.tolist()
    sets = [set() for _ in range(max(labels) + 1)]
    for leaf, label in zip(leaves, labels, strict=True):
        sets[label].add(leaf)
    return sets


def events(old, new, k):
    """Kind, clusters before, clusters after; births first, then deaths, splits, joins."""
    then, now = clusters(old, k), clusters(new, k)
    before, after = set().union(*then), set().union(*now)
    born = [2 * len(one & before) <= len(one) for one in now]
    gone = [2 * len(one & after) <= len(one) for one in then]
    told = [("born", [], [one]) for one, is_born in zip(now, born, strict=True) if is_born]
    told += [("gone", [one], []) for one, is_gone in zip(then, gone, strict=True) if is_gone]
    came_from = [max(then, key=lambda old: len(one & old), default=None) for one in now]
    went_to = [max(now, key=lambda new: len(one & new), default=None) for one in then]
    for one, is_gone in zip(then, gone, strict=True):
        pairs = zip(now, came_from, born, strict=True)
        parts = [part for part, source, is_born in pairs if source is one and not is_born]
        if len(parts) > 1 and not is_gone:
            told.append(("split", [one], parts))
    for one, is_born in zip(now, born, strict=True):
        pairs = zip(then, went_to, gone, strict=True)
        parts = [part for part, goal, is_gone in pairs if goal is one and not is_gone]
        if len(parts) > 1 and not is_born:
            told.append(("joined", parts, [one]))
    return told
