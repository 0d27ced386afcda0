# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of questions that keep coming: which are made anew, and what a question finds.

Writes the folder questions and summaries.sqlite. A language model would stand in `summarize`.
"""

from collections import Counter

import ramify
from ramify import datasets
from ramify.summaries import SummaryTree

questions = datasets.intents()
ids = [f"Q{i}" for i in range(len(questions.points))]


def summarize(parts, node):
    words = Counter(word for part in parts for word in part.text.split() if len(word) > 3)
    return " ".join(word for word, _ in words.most_common(5))


model = ramify.OHAC(metric="cosine", linkage="ward", history=1000)
with (
    ramify.open("questions", model) as tree,
    SummaryTree(tree, summarize=summarize, store="summaries.sqlite") as summaries,
):
    tree.add(questions.points[:2000], ids=ids[:2000], payloads=questions.texts[:2000])
    print(f"2,000 questions: {summaries.update().made} summaries")
    made = 0
    for i in range(2000, 2050):
        tree.add(questions.points[i : i + 1], ids=ids[i : i + 1], payloads=[questions.texts[i]])
        made += summaries.update().made
    print(f"50 more, one by one: {made / 50:.1f} summaries each")
    print(f"one is forgotten: {summaries.forget('Q7').made} summaries")
    for hit in summaries.retrieve(questions.points[2100], k=4):
        print(f"  {hit.distance:.2f} {hit.point or 'summary'}: {hit.text}")
