"""mutations.py: what may happen to a file, by accident or by malice.

Each function takes a generator and returns something new; what it was given stays as it is.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

Mutation = Callable[[np.random.Generator, bytes], bytes]

#: Whole numbers at which arithmetic goes wrong.
EDGES = [
    0,
    1,
    -1,
    2,
    7,
    255,
    2**15,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53,
    2**63 - 1,
    2**64 - 1,
]

#: Values that a field of a header may have, and should not.
ODD_VALUES: list[Any] = [
    *EDGES,
    -(2**63),
    10**30,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    None,
    True,
    "",
    "x",
    "ward",
    "\x00",
    "\ud800",
    "é" * 50,
    [],
    [[]],
    [0],
    {},
    {"a": 1},
]

#: Pieces of text that readers of tables trip over.
TOKENS = [
    *(b"nan", b"inf", b"-0", b"1e999", b"1e-999", b"0x10", b"1_000", b"9" * 400, b"1e", b"+-1"),
    *(b",", b";", b"\t", b"\n", b"\r", b"\r\n", b'"', b'""', b"'", b"\\", b"\x00", b"\xff"),
    *(b"\xef\xbb\xbf", b"null", b"true", b"[", b"]", b"{", b"}", b"{}", b"[" * 3000, b" " * 5000),
    *(b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"ARROW1", b"\xe2\x80\xa8", b"\xc2\x85", b'\\ud800"'),
]


def _place(rng: np.random.Generator, data: bytes) -> int:
    """Somewhere; headers are at the beginnings and ends of files, so mostly there."""
    near = int(rng.integers(0, min(len(data), 200) + 1))
    where = rng.random()
    if where < 0.3:
        return near
    return len(data) - near if where < 0.5 else int(rng.integers(0, len(data) + 1))


def flip_bits(rng: np.random.Generator, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        if at := _place(rng, data):
            out[at - 1] ^= 1 << int(rng.integers(8))
    return bytes(out)


def overwrite_with_an_edge(rng: np.random.Generator, data: bytes) -> bytes:
    at, width = _place(rng, data), int(rng.choice([1, 2, 4, 8]))
    value = EDGES[rng.integers(len(EDGES))] % 2 ** (8 * width)
    edge = value.to_bytes(width, str(rng.choice(["little", "big"])))
    return data[:at] + edge + data[at + width :]


def truncate(rng: np.random.Generator, data: bytes) -> bytes:
    return data[: _place(rng, data)]


def cut_out(rng: np.random.Generator, data: bytes) -> bytes:
    begin, end = sorted((_place(rng, data), _place(rng, data)))
    return data[:begin] + data[end:]


def repeat_a_piece(rng: np.random.Generator, data: bytes) -> bytes:
    begin, end = sorted((_place(rng, data), _place(rng, data)))
    return data[:end] + data[begin:end] * int(rng.integers(1, 4)) + data[end:]


def insert_noise(rng: np.random.Generator, data: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.bytes(int(rng.integers(1, 40))) + data[at:]


def insert_a_token(rng: np.random.Generator, data: bytes) -> bytes:
    at = _place(rng, data)
    token = TOKENS[rng.integers(len(TOKENS))]
    return data[:at] + token + data[at + int(rng.integers(0, 2)) * len(token) :]


MUTATIONS: list[Mutation] = [
    flip_bits,
    overwrite_with_an_edge,
    truncate,
    cut_out,
    repeat_a_piece,
    insert_noise,
    insert_a_token,
]


def damaged(rng: np.random.Generator, data: bytes) -> bytes:
    """A few accidents, one after the other."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        data = MUTATIONS[rng.integers(len(MUTATIONS))](rng, data)
    return data


# --- forgeries: content and arrays that are wrong, before digests are made of them --------


def forged_content(rng: np.random.Generator, content: dict[str, Any]) -> dict[str, Any]:
    """One field, however deep, with another value, or gone, or twice as many."""
    out: dict[str, Any] = json.loads(json.dumps(content))
    fields: list[Any] = [out]
    while True:
        at = fields[-1]
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return out
        key = keys[rng.integers(len(keys))]
        if not isinstance(at[key], dict | list) or rng.random() < 0.3:
            break
        fields.append(at[key])
    if rng.random() < 0.2:
        del at[key]
    else:
        at[key] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
    return out


def forged_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """An array with other numbers, of another shape, or of another type."""
    out = array.copy()
    kind = rng.random()
    if kind < 0.7 and out.size:
        for _ in range(int(rng.integers(1, 4))):
            out.flat[rng.integers(out.size)] = _number(rng, out)
    elif kind < 0.8 and len(out):
        out = out[: rng.integers(len(out) + 1)]
    elif kind < 0.85:
        out = np.concatenate([out, out[:1]])
    elif kind < 0.9:
        rng.shuffle(out)
    elif kind < 0.95:
        out = out.reshape(-1)
    else:
        out = np.ascontiguousarray(out).view(np.uint8).reshape(len(out), -1) if out.size else out
    return out


def _number(rng: np.random.Generator, array: np.ndarray) -> Any:
    """An odd number of the array's type, or one that stands elsewhere in it."""
    if rng.random() < 0.4:
        return array.flat[rng.integers(array.size)]
    if array.dtype.kind == "f":
        return rng.choice([np.nan, np.inf, -np.inf, -0.0, 1e300, 1e-310, -1.0, 1e146, 3.4e38])
    limits = np.iinfo(array.dtype)
    value = EDGES[rng.integers(len(EDGES))] + int(rng.integers(-2, 3))
    return array.dtype.type(min(max(value, limits.min), limits.max))
