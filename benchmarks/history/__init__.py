# SPDX-License-Identifier: BSD-3-Clause
"""Speed from commit to commit, in asv's form: ``make history``."""
