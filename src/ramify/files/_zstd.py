# SPDX-License-Identifier: BSD-3-Clause
"""_zstd.py: bytes that zstd has packed, by way of pyarrow: Python has it from 3.14 on."""

from typing import Any

from ramify.files._arrow import require_pyarrow


class Unpacked:
    """The bytes of a packed file, as far as :class:`Lines` asks for them."""

    def __init__(self, file: Any, name: str) -> None:
        require_pyarrow(f"unpacking {name}, which is zstd,")
        import pyarrow as pa

        self._file = file
        self._name = name
        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def read1(self, count: int) -> bytes:
        """So many bytes; fewer at the end."""
        import pyarrow as pa

        try:
            data: bytes = self._stream.read(count)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{self._name} is not a complete zstd file: {error}") from None
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()
