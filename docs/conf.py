"""The documentation site: `sphinx-build -W --keep-going docs FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import error_pages  # noqa: E402

import gpustruct  # noqa: E402

error_pages.write(HERE / "errors")

project = "gpustruct"
author = "gpustruct contributors"
release = gpustruct.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "gpustruct"
myst_enable_extensions = ["colon_fence"]
# Links to headings, as GitHub makes them.
myst_heading_anchors = 3
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Docstrings are plain text with doctests. Highlighting of WGSL, and of messages, may fail on what it does not know.
suppress_warnings = ["misc.highlighting_failure"]
