# SPDX-License-Identifier: BSD-3-Clause
"""Where the names of clusters are, from the sentences of docs/decisions/0017 and sets alone."""


class NamedSets:
    """Names and the sets of points that they were given to, over trees that are sets of sets."""

    def __init__(self):
        self.given = []  # (id of the node then, text, all points then, points of the name)

    def rename(self, clusters, id, text):
        """``clusters`` are the points below each node, by id."""
        homes, _, _ = self.where(clusters)
        at = [next((one for one, which in homes.items() if which == i), None) for i in self.all()]
        stays = [
            one
            for one, home in zip(self.given, at, strict=True)
            if id != (one[0] if home is None else home)
        ]
        self.given = [*stays, (id, text, frozenset().union(*clusters.values()), clusters[id])]

    def all(self):
        return range(len(self.given))

    def shares(self, clusters, i):
        """Jaccard's index of the nodes that hold a name, by id."""
        _, _, there_then, mine = self.given[i]
        there_now = frozenset().union(*clusters.values())
        mine = mine & there_now
        found = {}
        for id, points in clusters.items():
            old = points & there_then
            shared = len(mine & old)
            if 2 * shared > len(mine) and 2 * shared > len(old):
                found[id] = shared / len(mine | old)
        return found

    def where(self, clusters):
        """The name at home at a node, the name that a node shows, and who has no home."""
        homes, shown = {}, {}
        for i in self.all():
            shares = self.shares(clusters, i)
            if not shares:
                continue
            most = max(shares.values())
            best = [id for id, share in shares.items() if share == most]
            home = min(best, key=lambda id: (id != self.given[i][0], len(clusters[id])))
            if home not in homes or most > homes[home][0]:
                homes[home] = most, i
            for id, share in shares.items():
                above = clusters[id] > clusters[home]
                if (above or share >= 0.75 * most) and (id not in shown or share > shown[id][0]):
                    shown[id] = share, i
        homes = {id: i for id, (_, i) in homes.items()}
        shown = {id: i for id, (_, i) in shown.items()}
        return homes, shown, [i for i in self.all() if i not in homes.values()]

    def leave(self, clusters, leaving):
        """Points are about to leave: names that lose most of theirs pass to their homes' points."""
        homes, _, _ = self.where(clusters)
        at = {i: id for id, i in homes.items()}
        everyone = frozenset().union(*clusters.values())
        for i in self.all():
            node, text, there_then, mine = self.given[i]
            if mine & leaving and 2 * len(mine - (everyone - leaving)) > len(mine):
                if i in at:
                    self.given[i] = at[i], text, everyone, clusters[at[i]]
                else:
                    self.given[i] = node, text, there_then, mine & everyone
