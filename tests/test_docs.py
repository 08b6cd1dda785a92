"""The documentation pages build without a warning, and their examples give what they show."""

from pathlib import Path

import pytest

import pyterrier_asl

PAGES = Path(pyterrier_asl.__file__).parent / "pt_docs"

CONFIGURATION = """
project = "pyterrier-asl"
extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx.ext.doctest",
]
autodoc_typehints = "none"
html_theme = "basic"
doctest_test_doctest_blocks = ""  # those in docstrings are run by pytest
"""


@pytest.mark.parametrize("builder", ["html", "doctest"])
def test_pages(builder, tmp_path):
    build = pytest.importorskip("sphinx.cmd.build", reason="Sphinx is not installed")
    (tmp_path / "conf.py").write_text(CONFIGURATION)
    out = tmp_path / "out"
    status = build.main(["-W", "-q", "-b", builder, "-c", str(tmp_path), str(PAGES), str(out)])
    assert status == 0
    if builder == "html":
        assert "Atomized search length" in (out / "measures.html").read_text()
