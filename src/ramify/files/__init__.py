# SPDX-License-Identifier: BSD-3-Clause
"""files: rows out of files of many kinds, batch by batch, and tables into files.

:func:`open_rows` never holds more than a few batches of a file, so a file may be
larger than memory. :func:`whole_file` and :func:`open_table` write a file whole or
not at all.
"""

from ramify.files._arrow import require_pyarrow
from ramify.files._columns import NoColumnError
from ramify.files._names import Named, read_names
from ramify.files._open import FORMATS, open_rows
from ramify.files._source import BadRow, Batch, ReadOptions, Source
from ramify.files._tables import TABLES, Table, open_log, open_table, table_format
from ramify.files._whole import check_writable, whole_file

__all__ = [
    "FORMATS",
    "TABLES",
    "BadRow",
    "Batch",
    "Named",
    "NoColumnError",
    "ReadOptions",
    "Source",
    "Table",
    "check_writable",
    "open_log",
    "open_rows",
    "open_table",
    "read_names",
    "require_pyarrow",
    "table_format",
    "whole_file",
]
