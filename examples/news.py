# SPDX-License-Identifier: BSD-3-Clause
"""A week of news as it comes in: stories at every level of detail, at any moment.

The articles are made up: five sections, a few stories in each, and for every article
an embedding near that of its story, as a sentence encoder would give. Writes
news.ramify, and news.html to walk through.
"""

import numpy as np

import ramify
from ramify.plot import explore

SECTIONS = {
    "sports": ["cup final", "transfer", "marathon"],
    "politics": ["election", "budget", "summit", "strike"],
    "science": ["comet", "vaccine"],
    "business": ["merger", "oil price", "chip shortage"],
    "culture": ["film prize", "museum theft"],
}

rng = np.random.default_rng(0)
sections = {name: rng.normal(size=128) for name in SECTIONS}
stories = {
    story: sections[section] + 0.8 * rng.normal(size=128)
    for section, names in SECTIONS.items()
    for story in names
}


def articles_of(day: int, n: int = 120) -> tuple[list[str], np.ndarray]:
    """Ids and embeddings of one day's articles. Stories break one after the other."""
    known = list(stories)[: 6 + 2 * day]
    chosen = rng.choice(known, size=n)
    ids = [f"day {day}, article {i}: {story}" for i, story in enumerate(chosen)]
    embeddings = np.array([stories[story] + 0.5 * rng.normal(size=128) for story in chosen])
    return ids, embeddings.astype(np.float32)


model = ramify.OHAC(metric="cosine")
for day in range(5):
    ids, embeddings = articles_of(day)
    model.partial_fit(embeddings, ids=ids)  # the tree of everything so far
    tree = model.hierarchy()
    sizes = np.bincount(tree.cut(height=0.3))
    print(f"day {day}: {len(model)} articles, {np.sum(sizes >= 5)} stories of 5 or more")

# What belongs with an article that has just come in? Nothing is inserted.
_, (fresh,) = articles_of(day=4, n=1)
neighbour, distance = (found[0] for found in model.nearest([fresh]))
print(f"a new one is nearest to {model.ids_[neighbour]!r}, at {distance:.2f}")

# One tree, two levels of detail.
by_section, by_story = tree.cut_many(n_clusters=[5, 14]).T
for section in range(5):
    members = np.flatnonzero(by_section == section)
    story_of_each = {model.ids_[i].split(": ")[1] for i in members}
    inside = len(set(by_story[members]))
    print(f"section {section}: {len(members)} articles, {inside} stories: {sorted(story_of_each)}")

model.save("news.ramify")  # ramify.load("news.ramify") goes on tomorrow
explore(tree, model.points(), path="news.html")
