"""The paper's definitions in plain slow Python, for the fast code to agree with.

trees.py     what a tree is here, and how a snapshot becomes one
outline.py   the part of a tree that fits into a picture
linkages.py  distances, similarities and linkages over all pairs of points
otd.py       Algorithm 1            hac.py    greedy HAC on a forest, and its replay
ohac.py      Algorithm 2, Naïve₂    revenue.py  what Theorem 1 is about
neighbours.py  nearest points, to the last bit
measures.py  revenue, cost, triplets, purity and certificates, from their definitions
cuts.py      cuts by size, condensed trees
pruning.py   cuts by variance
interchanges.py  local search, and the algorithms that make use of it
orders.py    orders of leaves, examples of clusters
recount.py   every stored number counted again from the points

Nothing here keeps a summary of a cluster: every average runs over all its pairs.
"""
