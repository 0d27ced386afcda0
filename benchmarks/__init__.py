# SPDX-License-Identifier: BSD-3-Clause
"""Speed and memory beside what a user could pick instead. Run with ``make bench``."""
