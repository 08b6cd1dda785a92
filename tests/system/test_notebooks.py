"""The notebooks of the examples run, and show the outputs of a new run."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("nbclient", reason="nbclient is not installed")
notebooks = pytest.importorskip("notebooks")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_outputs_are_those_of_a_new_run(path, vaswani):
    stored = nbformat.read(path, as_version=4)
    assert notebooks.printed(notebooks.executed(path)) == notebooks.printed(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_installs_what_it_needs_and_shows_its_pictures(path):
    stored = nbformat.read(path, as_version=4)
    first, *_ = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert "%pip install" in first.source
    drawing = re.compile(r"\.(draw|chart)\(|\bscores_by_parameters\(")
    cells_that_draw = [cell for cell in stored.cells if drawing.search(cell.source)]
    assert notebooks.pictures(stored) == len(cells_that_draw) > 0
