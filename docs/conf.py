"""Builds the pages of ``pyterrier_asl/pt_docs`` as PyTerrier's site shows them.

    sphinx-build -c docs pyterrier_asl/pt_docs build/docs

Theme and options are copied from docs/conf.py of PyTerrier, as far as pages depend on them.
"""

import sys
from pathlib import Path

import pyterrier as pt

project = "pyterrier-asl"
html_title = project
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
autodoc_typehints = "description"
autodoc_default_options = {"member-order": "bysource"}
autodoc_inherit_docstrings = False
autoclass_content = "both"
toc_object_entries_show_parents = "hide"
pygments_style = "sphinx"
html_theme = "furo"
html_show_copyright = False

# PyTerrier comes with the extensions of its site.
sys.path.append(str(Path(pt.__file__).parents[1] / "docs"))
extensions += ["extras.schematic", "extras.cite", "extras.how_to", "extras.related"]
#: Pages for the bibliography and the list of how-tos, which the extensions require.
templates_path = ["_templates"]
