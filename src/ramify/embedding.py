# SPDX-License-Identifier: BSD-3-Clause
"""embedding.py: vectors of texts, by a model that is on this machine.

What makes them is named by a word: a folder with a model, the name of a model that was loaded here
before, or a function of the user's. Nothing is fetched: a name that is not here is a mistake.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ramify.progress import Progress, watch

__all__ = ["Embedder", "embedder"]

#: Texts of one call.
_AT_ONCE = 256

#: From texts to as many vectors.
_Embed = Callable[[list[str]], Any]


class Embedder:
    """A model that gives a vector to each text.

    Examples
    --------
    >>> lengths = Embedder("lengths", lambda texts: [[len(text), 1] for text in texts])
    >>> lengths(["a", "red"])
    array([[1., 1.],
           [3., 1.]], dtype=float32)
    """

    def __init__(self, name: str, embed: _Embed) -> None:
        self.name, self._embed = name, embed

    def __call__(
        self, texts: Sequence[str], *, progress: Progress = False
    ) -> npt.NDArray[np.float32]:
        """The vectors of texts, a row for each."""
        some, width = list(texts), None
        found: list[npt.NDArray[np.float32]] = []
        with watch(progress, len(some), "embedding", "texts") as pulse:
            for begin in range(0, len(some), _AT_ONCE):
                asked = some[begin : begin + _AT_ONCE]
                told = np.asarray(self._embed(asked), np.float32)
                width = told.shape[-1] if width is None and told.ndim == 2 else width
                if told.shape != (len(asked), width):
                    raise ValueError(
                        f"{self.name}: expected {len(asked)} vectors of one length, one for each "
                        f"text, got an array of shape {told.shape}"
                    )
                found.append(told)
                if pulse is not None:
                    pulse(begin + len(asked))
        return np.concatenate(found) if found else np.empty((0, 0), np.float32)


def embedder(name: str | os.PathLike[str]) -> Embedder:
    """The model of a name.

    Parameters
    ----------
    name : str or path
        A folder with a model of sentence-transformers; the name of a model that this library or
        fastembed has in its cache; or ``module:function``, from a list of texts to their vectors.

    Returns
    -------
    Embedder

    Raises
    ------
    ImportError
        If none of these libraries is installed: ``pip install "ramify[text]"``.
    ValueError
        If there is no such model on this machine.

    Examples
    --------
    >>> embedder("no_such_module:embed")
    Traceback (most recent call last):
    ...
    ValueError: no_such_module:embed: there is no module 'no_such_module' here; ...
    """
    said = os.fspath(name)
    module, colon, function = said.partition(":")
    names = module.replace(".", "").isidentifier() and function.isidentifier()
    if colon and names and not Path(said).exists():
        return Embedder(said, _function(said, module, function))
    known = {"sentence_transformers": _transformer, "fastembed": _fast}
    here = {one: load for one, load in known.items() if find_spec(one) is not None}
    if not here:
        raise ImportError(
            f"{said}: this needs sentence-transformers or fastembed, neither of which is installed "
            f'here: pip install "ramify[text]"; or name a function of yours as module:function'
        )
    told = []
    for library, load in here.items():
        try:
            return Embedder(said, load(said))
        except Exception as error:  # whatever these libraries raise: the next one may know it
            told.append(f"{library}: {_first_line(error)}")
    raise ValueError(
        f"{said}: no such model is on this machine, and nothing is fetched from elsewhere "
        f"({'; '.join(told)}). Give the folder of a model, or load it once where there is a "
        f"network, or name a function of yours as module:function"
    )


def _function(said: str, module: str, name: str) -> _Embed:
    sys.path.insert(0, os.getcwd())  # a file beside the texts will do
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{said}: there is no module {error.name!r} here; expected a file of this folder, or "
            f"an installed package"
        ) from None
    finally:
        sys.path.remove(os.getcwd())
    if not callable(found):
        raise ValueError(f"{said}: {module} has no function {name!r} of a list of texts")
    embed: _Embed = found
    return embed


def _transformer(said: str) -> _Embed:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(said, local_files_only=True)

    def embed(texts: list[str]) -> Any:
        return model.encode(texts, show_progress_bar=False, convert_to_numpy=True)

    return embed


def _fast(said: str) -> _Embed:
    from fastembed import TextEmbedding

    model = TextEmbedding(said, local_files_only=True)
    return lambda texts: list(model.embed(texts))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
