# SPDX-License-Identifier: BSD-3-Clause
"""_files.py: data sets that are too large to ship: MNIST and ILSVRC12 features.

They are looked for in `data_home`: the argument, else the environment variable
RAMIFY_DATA, else ~/.cache/ramify; there, or in a folder of the data set's name.
"""

import gzip
import hashlib
import os
import struct
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ramify.checks import whole_number
from ramify.datasets._dataset import Dataset
from ramify.progress import Pulse, watch
from ramify.writing import write_whole

#: A folder, as users name it.
Folder: TypeAlias = str | os.PathLike[str]

_IMAGES, _LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"
# Of the uncompressed files: archives differ between mirrors.
_SHA256 = {
    _IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    _LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
}
_FIRST, _MOST = 5_000, 55_000
_DOWNLOAD = 15  # MB

_MNIST = """\
MNIST: handwritten digits, 28 x 28 pixels. Images 5,000 to 59,999 of the training
file in file order (the first 5,000 were the usual validation set, and the paper has
55K){part}, each row scaled to unit length: the mean similarity exp(-|x-y|^2) is then
0.312, and the paper's table implies 0.31.

Source: Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten
digits, commonly cited as CC BY-SA 3.0
(https://creativecommons.org/licenses/by-sa/3.0/). Not shipped with Ramify.
"""

_ILSVRC12 = """\
ILSVRC12 features from {path}, as they are, in file order. The paper
used 1.3M x 10 ("projected down by PCA"), and does not say of what.

Source: yours; ImageNet's terms (https://www.image-net.org/download) apply.
"""


def data_folder(data_home: Folder | None = None) -> Path:
    """Where data files are looked for: `data_home`, else RAMIFY_DATA, else ~/.cache/ramify.

    Examples
    --------
    >>> from ramify.datasets import data_folder
    >>> data_folder("/data").as_posix()
    '/data'
    """
    return Path(data_home or os.environ.get("RAMIFY_DATA") or "~/.cache/ramify").expanduser()


def mnist(n: int = _MOST, *, data_home: Folder | None = None, download: bool = True) -> Dataset:
    """The paper's MNIST: 55,000 x 784, float32, rows scaled to unit length.

    Reads ``train-images-idx3-ubyte.gz`` and ``train-labels-idx1-ubyte.gz`` from
    ``data_home`` or ``data_home/mnist``. If they are not there, fetches them from
    OpenML once, checks them, and keeps them there.

    Parameters
    ----------
    n : int
        Only the first n of the 55,000.
    data_home : path, optional
        By default the environment variable RAMIFY_DATA, else ``~/.cache/ramify``.
    download : bool
        False never asks the network.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        No files and no download; says which files to put where.

    Examples
    --------
    >>> import tempfile
    >>> from ramify import datasets
    >>> if datasets.find_mnist() is not None:
    ...     assert datasets.mnist(100).points.shape == (100, 784)
    >>> try:
    ...     datasets.mnist(data_home=tempfile.mkdtemp(), download=False)
    ... except FileNotFoundError:
    ...     print("not there, and not to be fetched")
    not there, and not to be fetched
    """
    whole_number("n", n, most=_MOST)
    home = data_folder(data_home)
    folder = find_mnist(home)
    if folder is None:
        folder = home / "mnist"
        _fetch_mnist(folder, download=download)
    pixels = read_idx(folder / _IMAGES)[_FIRST : _FIRST + n].reshape(-1, 28 * 28)
    labels = read_idx(folder / _LABELS)[_FIRST : _FIRST + n].astype(np.int64)
    points = pixels.astype(np.float32)
    points /= np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64))[:, np.newaxis]
    part = "" if n == _MOST else f", of which this is the first {n:,}"
    return Dataset("mnist", points, labels, _MNIST.format(part=part))


def find_mnist(data_home: Folder | None = None) -> Path | None:
    """The folder with both MNIST files, or None.

    Examples
    --------
    >>> import tempfile
    >>> from ramify.datasets import find_mnist
    >>> find_mnist(tempfile.mkdtemp()) is None
    True
    """
    home = data_folder(data_home)
    for folder in (home, home / "mnist"):
        if (folder / _IMAGES).is_file() and (folder / _LABELS).is_file():
            return folder
    return None


def ilsvrc12(features: Folder, *, labels: Folder | None = None) -> Dataset:
    """Your own ILSVRC12 features: one row per image, from a ``.npy`` file.

    ImageNet cannot be shipped, and the paper's features (1.3M x 10 by PCA) are not
    published. Without features, :func:`ilsvrc12_standin` has the same size. `ramify
    paper --full` looks for ``ilsvrc12/features.npy`` and ``labels.npy`` in its data
    folder.

    Parameters
    ----------
    features : path
        A ``.npy`` file of shape (n, d); float16 is widened to float32.
    labels : path, optional
        A ``.npy`` file of shape (n,).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from ramify.datasets import ilsvrc12
    >>> file = pathlib.Path(tempfile.mkdtemp(), "features.npy")
    >>> np.save(file, np.ones((5, 10), dtype=np.float16))
    >>> ilsvrc12(file).points.dtype
    dtype('float32')
    """
    path = Path(features).expanduser()
    if not path.is_file():
        raise FileNotFoundError(
            f"no file {path}: expected a .npy file with one row of features per image; "
            f"ramify.datasets.ilsvrc12_standin() generates points of the same size instead"
        )
    points = np.load(path, allow_pickle=False)
    if points.ndim != 2:
        raise ValueError(f"{path}: expected an array of shape (n, d), got {points.shape}")
    points = points.astype(np.float64 if points.dtype == np.float64 else np.float32)
    groups = None
    if labels is not None:
        groups = np.load(Path(labels).expanduser(), allow_pickle=False)
        if groups.shape != points.shape[:1]:
            raise ValueError(f"{labels}: expected {len(points):,} labels, got {groups.shape}")
    return Dataset("ILSVRC12", points, groups, _ILSVRC12.format(path=path))


def read_idx(path: Path) -> NDArray[np.uint8]:
    """One idx file of bytes, gzip: magic number, sizes, then the bytes.

    Raises ValueError if it is anything else.
    """
    with gzip.open(path) as file:
        try:
            data = file.read()
        except (OSError, EOFError) as error:
            raise ValueError(f"{path}: not a complete gzip file ({error})") from error
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path}: not an idx file of bytes; it starts with {data[:4].hex(' ')}")
    n_axes = data[3]
    start = 4 + 4 * n_axes
    shape = struct.unpack(f">{n_axes}I", data[4:start])
    body = np.frombuffer(data, dtype=np.uint8, offset=start)
    if body.size != np.prod(shape):
        raise ValueError(f"{path}: expected {shape} bytes, got {body.size:,}")
    return body.reshape(shape)


def idx_bytes(array: NDArray[np.uint8]) -> bytes:
    """The array as an uncompressed idx file."""
    head = b"\x00\x00\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


@contextmanager
def _watch_download(folder: Path) -> Iterator[None]:
    """A bar that follows the bytes arriving in a folder, for the length of the block."""
    over = threading.Event()

    def arrived() -> int:
        try:
            return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        except OSError:  # a file was renamed while we looked
            return 0

    def follow(pulse: Pulse) -> None:
        while not over.wait(0.2):
            pulse(min(arrived() // 1_000_000, _DOWNLOAD))

    with watch(True, _DOWNLOAD, "fetching", "MB") as pulse:
        follower = threading.Thread(target=follow, args=(pulse,)) if pulse is not None else None
        if follower is not None:
            follower.start()
        try:
            yield
        finally:
            over.set()
            if follower is not None:
                follower.join()


def _fetch_mnist(folder: Path, *, download: bool) -> None:
    """Fetch MNIST from OpenML, check it, and keep it as idx files in `folder`."""
    wanted = (
        f"MNIST is not there: put {_IMAGES} and {_LABELS} into {folder}, "
        f"or set data_home or RAMIFY_DATA to the folder that holds them"
    )
    if not download:
        raise FileNotFoundError(wanted)
    print(f"fetching MNIST from OpenML (15 MB, once) into {folder}", file=sys.stderr)
    try:
        from sklearn.datasets import fetch_openml

        # Somewhere that goes away: what stays is the idx files, or nothing.
        with (
            tempfile.TemporaryDirectory() as scratch,
            _watch_download(Path(scratch)),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # "Retrying downloading"
            bunch: Any = fetch_openml(
                "mnist_784", version=1, as_frame=False, data_home=scratch, n_retries=1
            )
    except OSError as error:  # no network, or no such page
        raise FileNotFoundError(f"{wanted}; fetching it from OpenML failed: {error}") from error
    arrays = {
        _IMAGES: bunch.data[:60_000].astype(np.uint8).reshape(-1, 28, 28),
        _LABELS: bunch.target[:60_000].astype(np.uint8),
    }
    data = {name: idx_bytes(array) for name, array in arrays.items()}
    for name, file in data.items():
        found = hashlib.sha256(file).hexdigest()
        if found != _SHA256[name]:
            raise ValueError(f"OpenML's MNIST is not the original: {name} has SHA-256 {found}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in data.items():
        write_whole(folder / name, gzip.compress(file, mtime=0))
