"""Flat clusters that settle, in plain slow Python. Numbers are exact."""

from __future__ import annotations

from fractions import Fraction


def unless_all_leave(labels: list[int], wanted: list[int]) -> list[int]:
    """A cluster that nobody would be in keeps all that it has."""
    return [old if old not in wanted else new for old, new in zip(labels, wanted, strict=True)]


def voted(labels: list[int], near: list[list[int]], rounds: int) -> list[int]:
    """After so many votes of these neighbours."""
    for _ in range(rounds):
        wanted = []
        for own, others in zip(labels, near, strict=True):
            votes = [labels[other] for other in others]
            won = [label for label in votes if votes.count(label) > len(votes) / 2]
            wanted.append(won[0] if won else own)
        labels = unless_all_leave(labels, wanted)
    return labels


def apart(x, y) -> Fraction:
    """Squared distance."""
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))


def mean(rows) -> list[Fraction]:
    return [sum(map(Fraction, column)) / len(rows) for column in zip(*rows, strict=True)]


def lloyd(labels: list[int], rows, rounds: int) -> list[int]:
    """After so many rounds of Lloyd's."""
    for _ in range(rounds):
        names = sorted(set(labels))
        means = {
            name: mean([row for row, label in zip(rows, labels, strict=True) if label == name])
            for name in names
        }
        wanted = [
            min(names, key=lambda x: (apart(row, means[x]), x != own, x))
            for row, own in zip(rows, labels, strict=True)
        ]
        labels = unless_all_leave(labels, wanted)
    return labels


def squares(labels: list[int], rows) -> Fraction:
    """Sum of squares within the clusters."""
    total = Fraction(0)
    for name in set(labels):
        mine = [row for row, label in zip(rows, labels, strict=True) if label == name]
        total += sum(apart(row, mean(mine)) for row in mine)
    return total


def nearest(rows, k: int) -> list[list[int]]:
    """Each row's nearest others; meant for rows without ties."""
    return [
        sorted((j for j in range(len(rows)) if j != i), key=lambda j: apart(row, rows[j]))[:k]
        for i, row in enumerate(rows)
    ]
