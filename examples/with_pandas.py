# SPDX-License-Identifier: BSD-3-Clause
"""With pandas: frames in, with names and ids; frames out. Writes clusters.csv."""

import numpy as np
import pandas as pd

import ramify

rng = np.random.default_rng(0)
frame = pd.DataFrame(
    {
        "latitude": np.repeat([48.9, 40.4, 59.3], 4) + rng.normal(scale=0.2, size=12),
        "longitude": np.repeat([2.4, -3.7, 18.1], 4) + rng.normal(scale=0.2, size=12),
    },
    index=[f"shop-{i}" for i in range(12)],
)

model = ramify.OHAC(n_clusters=3)
for _, batch in frame.sample(frac=1, random_state=0).groupby(np.arange(12) // 4):
    model.partial_fit(batch, ids=batch.index.to_list())  # columns are checked by name

print(model.feature_names_in_)
print(model.insert({"longitude": 2.3, "latitude": 48.8}, id="kiosk"))  # by name, in any order

labels = pd.Series(model.labels_, index=model.ids_, name="cluster")
frame.join(labels).to_csv("clusters.csv")
print(frame.join(labels).groupby("cluster").mean().round(0))

merges = model.hierarchy().to_pandas()  # one row a node: node, parent, height, size, ...
print(merges.loc[~merges["is_leaf"], ["height", "size"]].tail(3).round(1))
