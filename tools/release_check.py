# SPDX-License-Identifier: BSD-3-Clause
"""release_check.py: everything that a release needs, up to the upload itself.

    make release-check                  # which installs what this needs
    make release-check RELEASE=--rehearse  # the same before the changelog has a date

In this order: the version is the same wherever it stands, and the changelog has it; an sdist is
built from an export without git, and a wheel from the sdist; both are built a second time, from
another folder, to the same bytes; the wheel is repaired for manylinux; twine reads all of them
strictly; the wheel, and nothing else, is installed in a fresh environment of each Python that is
named (`--python`, the running one by default) and passes ``tools/check_wheel.py``. The recipe for
conda-forge is written and read, and the tag's message is printed at the end. Nothing is uploaded.

From CPython 3.12 on the wheel is one of the stable ABI, for all later Pythons, too; abi3audit looks
whether it keeps to it.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import conda_recipe

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "release"


def say(what: str) -> None:
    print(f"== {what}", flush=True)


def run(*command: str | Path, cwd: Path = ROOT, epoch: str | None = None) -> None:
    environment = dict(os.environ) | ({"SOURCE_DATE_EPOCH": epoch} if epoch else {})
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, env=environment)


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def the_version(rehearse: bool) -> str:
    """The one version; an error if another stands anywhere, or the changelog has no date for it."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    if cited is None or cited[1] != version:
        sys.exit(f"CITATION.cff is of {cited and cited[1]}, pyproject.toml of {version}")
    if notes(version) is None and not rehearse:
        sys.exit(f"CHANGELOG.md has no part '## [{version}] - YYYY-MM-DD' (or use --rehearse)")
    return version


def notes(version: str) -> str | None:
    """What the changelog says of a version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## \[|\Z)", text, re.M | re.S
    )
    return found[1].strip() if found else None


def export(to: Path) -> None:
    """The committed files, without git."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    archive = to.with_suffix(".tar")
    run("git", "archive", "-o", archive, "HEAD")
    run("tar", "-xf", archive, "-C", to)
    archive.unlink()


#: What the wheel for 3.14 and later is built with (`[tool.cibuildwheel]` in pyproject.toml).
STABLE_ABI = ["-Cwheel.py-api=cp312"] if sys.version_info >= (3, 12) else []


def build(name: str, epoch: str) -> tuple[Path, Path]:
    """An sdist, and a wheel out of it."""
    here, out = WORK / name, WORK / f"{name}-out"
    export(here)
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--no-isolation", *STABLE_ABI, "--outdir", out, "."]
    run(*command, cwd=here, epoch=epoch)
    (sdist,), (wheel,) = list(out.glob("*.tar.gz")), list(out.glob("*.whl"))
    return sdist, wheel


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def repaired(wheel: Path) -> Path:
    """The wheel as it is uploaded: for manylinux, on Linux."""
    if sys.platform != "linux":
        return wheel
    out = WORK / "wheelhouse"
    shutil.rmtree(out, ignore_errors=True)
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    command = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(out), str(wheel)]
    subprocess.run(command, check=True, env=environment)
    (done,) = out.glob("*.whl")
    return done


def try_out(wheel: Path, python: str) -> None:
    """Install nothing but the wheel and what it asks for, and use it."""
    venv = WORK / "fresh"
    shutil.rmtree(venv, ignore_errors=True)
    run(python, "-m", "venv", venv)
    inside = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    run(inside, ROOT / "tools" / "check_wheel.py", cwd=venv)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--python", action="append", help="one that the wheel is for")
    parser.add_argument("--once", action="store_true", help="leave the second build out")
    parser.add_argument("--rehearse", action="store_true", help="without a date of the release")
    options = parser.parse_args()
    version = the_version(options.rehearse)
    if output("git", "status", "--porcelain"):
        sys.exit("there are changes that are not committed: a release is of a commit")
    epoch = output("git", "log", "-1", "--format=%ct").strip()
    say(f"ramify {version}: sdist and wheel")
    sdist, wheel = build("first", epoch)
    if not options.once:
        say("the same again, in another folder")
        for one, other in zip((sdist, wheel), build("second", epoch), strict=True):
            if sha256(one) != sha256(other):
                sys.exit(f"{one.name} has other bytes when it is built again")
    ready = repaired(wheel)
    say("metadata")
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, ready)
    if STABLE_ABI:
        run(sys.executable, "-m", "abi3audit", "--strict", ready)
    conda_recipe.write(WORK / "recipe.yaml", sha256(sdist))
    for python in options.python or [sys.executable]:
        say(f"{ready.name} alone, under {python}")
        try_out(ready, python)
    say("workflows")
    run(Path(sys.executable).with_name("zizmor"), "--offline", "--quiet", ".github")
    for path in (sdist, ready):
        print(f"{sha256(path)}  {path.relative_to(ROOT)}")
    if notes(version) is None:
        say(f"a rehearsal: CHANGELOG.md has no date for {version}, so there is nothing to tag yet")
        return
    say("message of the tag")
    print(f"Ramify {version}\n\n{notes(version)}")


if __name__ == "__main__":
    main()
