# SPDX-License-Identifier: BSD-3-Clause
"""Trees for many programs: ``ramify serve``, with ``pip install "ramify[serve]"``.

``running`` serves in a thread, ``Settings`` and ``run`` for good.
"""

from typing import Any

__all__ = ["Settings", "run", "running"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ramify.serve' has no attribute {name!r}")
    if name == "Settings":
        from ramify.serve._settings import Settings

        return Settings
    require()
    from ramify.serve import _run

    return getattr(_run, name)


def require() -> None:
    """Say which extra is missing."""
    from importlib.util import find_spec

    missing = [one for one in ("fastapi", "uvicorn", "pyarrow") if find_spec(one) is None]
    if missing:
        raise ImportError(
            f"the server needs {' and '.join(missing)}, not installed here: "
            f'pip install "ramify[serve]"'
        )
