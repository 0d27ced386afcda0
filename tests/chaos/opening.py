"""opening.py: a folder that is opened on a disk that fails at its k-th write, for every k.

`python -m tests.chaos.opening FOLDER TROUBLE LAST`, under failing_disk.cpp; prints how often
opening was refused. It never says that the folder is damaged; with room again, all is there.
"""

import shutil
import sys
from pathlib import Path

import ramify
from ramify.journal import DamagedJournalError, DiskError
from tests.chaos.failing import TROUBLE, disk
from tests.chaos.stream import KINDS, operate


def main() -> None:
    base, kind, last = Path(sys.argv[1]), TROUBLE[sys.argv[2]], int(sys.argv[3])
    tree = ramify.open(base / "whole", KINDS["ohac"]())
    for i in range(8):
        operate(tree, i)
    wanted = tree.digest()
    tree.between(lambda: shutil.copytree(base / "whole", base / "crash"))
    tree.close()
    refused = 0
    for k in range(last):
        for make in (None, KINDS["ohac"]()):  # one that is there, one that is begun
            here = base / "here"
            shutil.rmtree(here, ignore_errors=True)
            if make is None:
                shutil.copytree(base / "crash", here)
            disk.disk_will_fail(kind, k, True)
            try:
                ramify.open(here, make).close()
            except DamagedJournalError as error:
                raise AssertionError(f"{k}: a disk that fails is no damage") from error
            except DiskError:
                refused += 1
            disk.disk_has_failed()
            disk.disk_will_fail(0, 0, 0)  # there is room again
            with ramify.open(here, make) as again:
                assert make is not None or again.digest() == wanted
    print(refused)


if __name__ == "__main__":
    main()
