# SPDX-License-Identifier: BSD-3-Clause
"""Find records that mean the same: typed names with slips, as they come in.

Names become sparse counts of their three-letter pieces; two spellings of one name
share most of them. A cut at a height says how much slip is one person.
"""

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

import ramify

PEOPLE = [
    *("Ada Lovelace", "Grace Hopper", "Alan Turing", "Emmy Noether", "Kurt Gödel"),
    *("Sofia Kovalevskaya", "Katherine Johnson", "John von Neumann", "Hedy Lamarr"),
    *("Edsger Dijkstra", "Barbara Liskov", "Donald Knuth", "Radia Perlman"),
]

rng = np.random.default_rng(1)


def typed(name: str) -> str:
    """The name, with a letter dropped, doubled or swapped now and then."""
    letters = list(name)
    if rng.random() < 0.6:
        at = int(rng.integers(1, len(letters) - 1))
        slip = rng.integers(3)
        if slip == 0:
            del letters[at]
        elif slip == 1:
            letters.insert(at, letters[at])
        else:
            letters[at - 1 : at + 1] = letters[at - 1 : at + 1][::-1]
    return "".join(letters)


truth = rng.integers(len(PEOPLE), size=200)
records = [typed(PEOPLE[person]) for person in truth]
pieces = HashingVectorizer(
    analyzer="char_wb", ngram_range=(2, 3), n_features=1024, alternate_sign=False, norm="l2"
)

model = ramify.OHAC(metric="cosine", distance_threshold=0.5)
for start in range(0, len(records), 20):  # batches, as they would come over a day
    batch = records[start : start + 20]
    ids = [f"record-{start + i}" for i in range(len(batch))]
    model.partial_fit(pieces.transform(batch), ids=ids)  # sparse rows are fine

labels = model.labels_
print(f"{len(records)} records, {len(set(records))} spellings, {model.n_clusters_} people")
for person in range(3):
    print(sorted({records[i] for i in np.flatnonzero(labels == person)}))

# Here we know the truth.
pairs = np.triu(truth[:, None] == truth, 1), np.triu(labels[:, None] == labels, 1)
print(f"pairs found: {np.sum(pairs[0] & pairs[1])} of {np.sum(pairs[0])}")
print(f"wrong pairs: {np.sum(~pairs[0] & pairs[1])}")

# Is a new record one of these? Ask without inserting.
(known,), (distance,) = model.nearest(pieces.transform(["Ada Lovelce"]))
print(f"'Ada Lovelce' is {records[known]!r} ({model.ids_[known]}), {distance:.2f} away")
