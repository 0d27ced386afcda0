# SPDX-License-Identifier: BSD-3-Clause
"""_intents.py: short queries to an assistant with their embeddings, shipped with the package."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ramify.datasets._dataset import Dataset, packaged_arrays, packed_lines
from ramify.metric import unit

_INTENTS = """\
Intents: 4,500 short queries to an assistant, 30 for each of 150 intents in 10 domains,
in a shuffled order, with sentence embeddings. A part of the training queries of
CLINC150.

Source: S. Larson et al., "An evaluation dataset for intent classification and
out-of-scope prediction" (EMNLP 2019), https://github.com/clinc/oos-eval, licensed
under CC BY 3.0 (https://creativecommons.org/licenses/by/3.0/). Changed: 30 queries of
each intent, in another order. The embeddings are by the model all-MiniLM-L6-v2
(Apache-2.0), in their 64 principal directions, rounded to 8 bits, at unit length.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Intents(Dataset):
    """Queries to an assistant: a :class:`Dataset` with texts and two levels of labels.

    ``points`` are embeddings of unit length, float32. ``labels`` are the intents.

    Attributes
    ----------
    texts : tuple of str
        The queries.
    intent : (n,) array of str
        What is wanted, of 150; the same array as ``labels``.
    domain : (n,) array of str
        What it is about, of 10; each intent has one.

    Examples
    --------
    >>> from ramify import datasets
    >>> queries = datasets.intents()
    >>> queries.texts[0], str(queries.intent[0]), str(queries.domain[0])
    ('how bad is traffic to the closet atm machine', 'traffic', 'auto_and_commute')
    """

    texts: tuple[str, ...]
    intent: NDArray[np.str_]
    domain: NDArray[np.str_]


def intents() -> Intents:
    """Real text embeddings: 4,500 queries, 150 intents in 10 domains, as a shuffled stream.

    Returns
    -------
    Intents

    Examples
    --------
    >>> from ramify import datasets
    >>> datasets.intents()
    <Dataset intents: 4,500 points, 64 features, 150 groups>
    """
    table = packaged_arrays("intents.npz")
    intent = np.array(packed_lines(table["intent_names"]))[table["intent"]]
    domain = np.array(packed_lines(table["domain_names"]))[table["domain"]]
    return Intents(
        name="intents",
        points=unit(table["points"].astype(np.float32)),
        labels=intent,
        description=_INTENTS,
        texts=tuple(packed_lines(table["texts"])),
        intent=intent,
        domain=domain,
    )
