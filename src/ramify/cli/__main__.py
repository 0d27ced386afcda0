# SPDX-License-Identifier: BSD-3-Clause
"""`python -m ramify.cli`: the command without its installed name."""

from ramify.cli import main

if __name__ == "__main__":
    main()
