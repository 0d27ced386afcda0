# SPDX-License-Identifier: BSD-3-Clause
"""make_intents.py: make src/ramify/data/intents.npz from CLINC150 and its embeddings.

    python tools/make_intents.py clinc150.tsv.gz embeddings.npy

The source is a table with the columns `split`, `text`, `intent` and `domain` (gzip),
and a matrix with an embedding of each of its rows. We take 30 training queries of
each intent, in a shuffled order; turn them into the 64 principal directions of all
training queries, which keeps the clusters and a sixth of the numbers; and round
them to whole numbers of 8 bits.
"""

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parent.parent / "src" / "ramify" / "data" / "intents.npz"
OF_EACH, WIDTH, BUDGET = 30, 64, 500_000


def read(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def text(lines: list[str]) -> np.ndarray:
    """Lines as bytes: an array of strings would pad each one to the longest."""
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def numbers(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct names as lines, and which of them each row has."""
    distinct, index = np.unique(names, return_inverse=True)
    return text(distinct.tolist()), index.astype(np.uint8)


def reduced(embeddings: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Some rows in the principal directions of all, at unit length, in steps of 1/127."""
    everything = embeddings.astype(np.float64)
    _, _, directions = np.linalg.svd(everything - everything.mean(axis=0), full_matrices=False)
    rows = everything[chosen] @ directions[:WIDTH].T
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.rint(rows * (127 / np.abs(rows).max())).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the packaged queries.")
    parser.add_argument("table", type=Path)
    parser.add_argument("embeddings", type=Path)
    paths = parser.parse_args()
    rows = read(paths.table)
    train = np.flatnonzero([row["split"] == "train" for row in rows])
    intents = np.array([rows[i]["intent"] for i in train])
    rng = np.random.default_rng(0)
    few = [rng.choice(np.flatnonzero(intents == one), OF_EACH, False) for one in np.unique(intents)]
    chosen = rng.permutation(np.concatenate(few))
    queries = [rows[i] for i in train[chosen]]
    intent_names, intent = numbers([row["intent"] for row in queries])
    domain_names, domain = numbers([row["domain"] for row in queries])
    np.savez_compressed(
        TARGET,
        points=reduced(np.load(paths.embeddings)[train], chosen),
        texts=text([row["text"] for row in queries]),
        intent=intent,
        intent_names=intent_names,
        domain=domain,
        domain_names=domain_names,
    )
    size = TARGET.stat().st_size
    print(f"{TARGET.name}: {len(queries):,} queries, {size:,} bytes")
    if size > BUDGET:
        raise SystemExit(f"more than {BUDGET:,} bytes")


if __name__ == "__main__":
    main()
