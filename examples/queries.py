# SPDX-License-Identifier: BSD-3-Clause
"""A day of questions as they come in: topics at every level of detail, at any moment.

Real questions with sentence embeddings, shipped with Ramify: a part of CLINC150,
CC BY 3.0. Writes queries.ramify, and queries.html to walk through.
"""

from sklearn.metrics import adjusted_rand_score

import ramify
from ramify import datasets
from ramify.plot import explore

queries = datasets.intents()
print(ramify.recommend(queries.points))  # which options, and why

model = ramify.OHAC(metric="cosine", linkage="ward")
for hour in range(9):
    some = range(500 * hour, 500 * hour + 500)
    ids = [f"{i}: {queries.texts[i]}" for i in some]
    model.partial_fit(queries.points[some], ids=ids)  # the tree of everything so far
    largest = max(model.clusters(n_clusters=50), key=lambda cluster: cluster.size)
    example = largest.representative_names[0]
    print(f"hour {hour}: {len(model):,} questions; {largest.size} of them like {example!r}")

# One tree, several levels of detail, and which cluster sits in which.
coarse, fine = model.levels(10, 150, texts=queries.texts)
for topic in coarse:
    print(f"{topic.size} questions about {' '.join(topic.keywords[:3])}")
    inside = [fine[label] for label in range(150) if fine[label].parent == topic.label]
    for cluster in sorted(inside, key=lambda cluster: -cluster.size)[:3]:
        print(f"    {cluster.size:3} about {' '.join(cluster.keywords[:3])}")

# The true intents, which the tree has not seen.
agreement = adjusted_rand_score(queries.intent, fine.labels)
print(f"150 clusters, 150 intents: agreement {agreement:.2f} (adjusted Rand)")

# What belongs with a question that has just come in? Nothing is inserted.
near, far = model.nearest(queries.points[:1] + 0.1 * queries.points[1:2], k=3)
print("a new one is nearest to", [str(model.ids_[i]) for i in near[0]])

model.save("queries.ramify")  # ramify.load("queries.ramify") goes on tomorrow
explore(model.hierarchy(), model.points(), path="queries.html")
