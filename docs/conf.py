# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: `make docs` builds the site; warnings are errors."""

from importlib.metadata import version as installed_version
from pathlib import Path

project = "Ramify"
copyright = "The Ramify developers"
version = release = installed_version("ramify")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
myst_heading_anchors = 3

# Docstrings are numpydoc; "X" and the like are parameters, not links to look up.
napoleon_google_docstring = False
napoleon_use_ivar = True
strip_signature_backslash = True  # or attributes lose the "_" at their end
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# scikit-learn's own machinery is documented there.
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, get_params, set_params, set_fit_request, "
    "set_partial_fit_request, set_predict_request, set_score_request"
}

html_theme = "furo"
html_title = "Ramify"
html_show_sourcelink = False
# The page with a tree in it (docs/browser.md), where `make browser` was run.
_BROWSER = Path(__file__).parents[1] / "build" / "browser"
html_extra_path = [str(_BROWSER)] if _BROWSER.exists() else []
