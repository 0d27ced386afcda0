"""How sure it is where a row belongs, in plain slow Python. Numbers are exact."""

from __future__ import annotations

from fractions import Fraction


def apart(x, y) -> Fraction:
    """Squared distance."""
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))


def judged(row, others, labels, k) -> tuple[int, Fraction, Fraction]:
    """The label of the nearest, the share of the k nearest with it, and how far the nearest is."""
    order = sorted(range(len(others)), key=lambda j: (apart(row, others[j]), j))[:k]
    label = labels[order[0]]
    share = Fraction(sum(labels[j] == label for j in order), len(order))
    return label, share, apart(row, others[order[0]])


def left_out(rows, labels, k) -> list[tuple[int, Fraction, Fraction]]:
    """Each point, asked as if it were not there."""
    found = []
    for i, row in enumerate(rows):
        rest = [j for j in range(len(rows)) if j != i]
        found.append(judged(row, [rows[j] for j in rest], [labels[j] for j in rest], k))
    return found


def is_new(row, rows, labels, k, alpha) -> bool:
    """Whether a row is farther out than all but a share alpha of the points."""
    label, _, distance = judged(row, rows, labels, k)
    stored = left_out(rows, labels, k)
    scores = [far for other, _, far in stored if other == label]
    if alpha * (len(scores) + 1) < 1:
        scores = [far for _, _, far in stored]
    as_far = sum(score >= distance for score in scores)
    return as_far + 1 <= alpha * (len(scores) + 1)


def confidence(row, rows, labels, k) -> Fraction:
    """By least squares under the condition that it never falls: means of blocks that are pooled."""
    stored = left_out(rows, labels, k)
    shares = sorted({share for _, share, _ in stored})
    blocks = []  # [shares, right, count]
    for share in shares:
        mine = [
            own == label
            for own, (label, found, _) in zip(labels, stored, strict=True)
            if found == share
        ]
        blocks.append([[share], sum(mine), len(mine)])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            more, right, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + more, blocks[-1][1] + right, blocks[-1][2] + count]
    level = {share: Fraction(right, count) for mine, right, count in blocks for share in mine}
    wanted = judged(row, rows, labels, k)[1]
    below = [share for share in shares if share <= wanted]
    above = [share for share in shares if share >= wanted]
    if not below or not above:
        return level[(above or below)[0 if above else -1]]
    low, high = below[-1], above[0]
    if low == high:
        return level[low]
    return level[low] + (level[high] - level[low]) * (wanted - low) / (high - low)
