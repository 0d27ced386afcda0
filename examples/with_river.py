# SPDX-License-Identifier: BSD-3-Clause
"""In river: a tree at the end of a pipeline, one dict at a time."""

from river import preprocessing

from ramify import datasets
from ramify.river import OnlineHierarchy

iris = datasets.iris()
names = ["sepal length", "sepal width", "petal length", "petal width"]

model = preprocessing.MinMaxScaler() | OnlineHierarchy(n_clusters=3)
for row in iris.points:
    x = dict(zip(names, row.tolist(), strict=True))
    model.learn_one(x)

print(model.predict_one(x))
print(model["OnlineHierarchy"].hierarchy())
