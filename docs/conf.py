"""The documentation site: `sphinx-build -W --keep-going docs FOLDER`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import error_pages  # noqa: E402

import gpustruct  # noqa: E402

error_pages.write(HERE / "errors")

project = "gpustruct"
author = "gpustruct contributors"
project_copyright = author
release = gpustruct.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "gpustruct"
html_static_path = ["static"]
html_css_files = ["site.css"]
# The notebooks run each time; an error in one fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
myst_enable_extensions = ["colon_fence"]
# Links to headings, as GitHub makes them.
myst_heading_anchors = 3
exclude_patterns = ["_build", "coming/node_modules"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Docstrings are plain text with doctests. Highlighting of WGSL, and of messages, may fail on what it does not know.
suppress_warnings = ["misc.highlighting_failure"]


def without_last_blank_lines(app: Any, name: str, source: list[str]) -> None:
    """Examples end with a blank line, which doctest needs and readers do not."""
    source[0] = re.sub(r"\n\n```\n", "\n```\n", source[0])


def setup(app: Any) -> None:
    app.connect("source-read", without_last_blank_lines)
