# SPDX-License-Identifier: BSD-3-Clause
"""Live topics: a tree where a topic model expects a clusterer with ``partial_fit``.

BERTopic takes any clusterer with ``fit``, ``predict`` and ``labels_``, and for
online use ``partial_fit``; after that, ``labels_`` are those of the last batch, and
topics keep their numbers. Ours cover all points so far, and a cut is numbered anew,
so a few lines go in between. With BERTopic itself:

    BERTopic(umap_model=IncrementalPCA(5), hdbscan_model=TopicTree(model), ...)
"""

from collections import Counter

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer

import ramify


class TopicTree:
    """A clusterer of batches: ``labels_`` are topics of the last one, and keep their numbers."""

    def __init__(self, model: ramify.OHAC) -> None:
        self.model = model  # with n_clusters or distance_threshold
        self.topics = np.empty(0, dtype=np.int64)  # of all points
        self.n_topics = 0

    def fit(self, X, y=None):
        self.__init__(clone(self.model))
        return self.partial_fit(X)

    def partial_fit(self, X, y=None):
        before = len(self.model)
        self.topics = self._keep_numbers(self.model.partial_fit(X).labels_, before)
        self.labels_ = self.topics[before:]
        return self

    def predict(self, X):
        return self.topics[self.model.nearest(X)[0]]

    def _keep_numbers(self, clusters: np.ndarray, before: int) -> np.ndarray:
        """A cluster inherits the topic that most of its points had, each topic only once."""
        pairs = Counter(zip(clusters[:before].tolist(), self.topics.tolist(), strict=True))
        heir: dict[int, int] = {}
        for (cluster, topic), _ in pairs.most_common():
            if cluster not in heir and topic not in heir.values():
                heir[cluster] = topic
        for cluster in range(clusters.max() + 1):
            if cluster not in heir:  # a topic that nobody has heard of
                heir[cluster] = self.n_topics
                self.n_topics += 1
        return np.array([heir[cluster] for cluster in clusters.tolist()])


WORDS = {
    "football": ["goal", "match", "team", "striker", "coach", "league", "penalty", "keeper"],
    "elections": ["vote", "party", "poll", "minister", "campaign", "parliament", "ballot", "law"],
    "space": ["rocket", "orbit", "comet", "telescope", "launch", "moon", "crew", "probe"],
    "food": ["recipe", "oven", "butter", "garlic", "sauce", "bake", "flour", "salt"],
}


def main() -> None:
    """Four batches of short texts; the third brings a new topic."""
    rng = np.random.default_rng(0)
    vectors = HashingVectorizer(n_features=1024, alternate_sign=False)
    tree = TopicTree(ramify.OHAC(metric="cosine", distance_threshold=0.8))
    documents: list[str] = []
    for day in range(4):
        known = list(WORDS)[: 3 if day < 2 else 4]
        batch = [" ".join(rng.choice(WORDS[rng.choice(known)], size=6)) for _ in range(60)]
        documents += batch
        tree.partial_fit(vectors.transform(batch))
        print(f"day {day}: {len(batch)} texts in topics {sorted(set(tree.labels_.tolist()))}")
    for topic in sorted(set(tree.topics.tolist())):
        words = Counter(
            word
            for document, own in zip(documents, tree.topics, strict=True)
            for word in document.split()
            if own == topic
        )
        print(f"topic {topic}: {' '.join(word for word, _ in words.most_common(4))}")
    print("a new text:", tree.predict(vectors.transform(["the keeper held the penalty"])))


if __name__ == "__main__":
    main()
