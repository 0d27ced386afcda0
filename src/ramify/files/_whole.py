# SPDX-License-Identifier: BSD-3-Clause
"""_whole.py: output files, written whole or not at all; writing.py knows how."""

from ramify.writing import appended, check_writable, whole_file

__all__ = ["appended", "check_writable", "whole_file"]
