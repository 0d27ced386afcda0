# SPDX-License-Identifier: BSD-3-Clause
"""conda_recipe.py: the recipe for conda-forge, out of packaging/recipe.yaml.in and pyproject.toml.

``make release-check`` writes it to build/release/recipe.yaml. rattler-build reads it and renders
it for three platforms; it is not built, which would need packages of conda-forge.
"""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLATFORMS = ("linux-64", "osx-arm64", "win-64")
PYTHONS = ["3.11.*", "3.12.*", "3.13.*", "3.14.*"]


def recipe(sha256: str) -> str:
    """The recipe of this version, whose sdist has this digest."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, build = about["project"], about["build-system"]["requires"]
    parts = {
        "version": project["version"],
        "sha256": sha256,
        "summary": '"' + project["description"] + '"',
        "host": _lines(build),
        "run": _lines(project["dependencies"]),
    }
    text = (ROOT / "packaging" / "recipe.yaml.in").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _lines(requirements: list[str]) -> str:
    """As a list of YAML. Names are those of PyPI; conda has a space before the bound."""
    return "\n".join(f"    - {one.replace('>=', ' >=')}" for one in requirements)


def builds(text: str, platform: str) -> int:
    """How many packages it makes there. Raises where it is wrong."""
    from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

    config = RenderConfig(PlatformConfig(target_platform=platform, build_platform=platform))
    variants = VariantConfig({"python": PYTHONS, "c_stdlib": ["sysroot"]})
    return len(Stage0Recipe.from_yaml(text).render(variants, config))


def write(to: Path, sha256: str) -> None:
    """Write it, and have it read."""
    text = recipe(sha256)
    to.write_text(text, encoding="utf-8")
    for platform in PLATFORMS:
        if builds(text, platform) != len(PYTHONS):
            raise SystemExit(f"{to}: not one package for each Python on {platform}")
