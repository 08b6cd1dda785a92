"""The notebooks of the examples run completely."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


def cells(notebook: Path) -> list[dict]:
    """The cells that hold code."""
    everything = json.loads(notebook.read_text())["cells"]
    return [cell for cell in everything if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_it_runs(notebook, vaswani, tmp_path):
    pytest.importorskip("nbmake", reason="nbmake is not installed")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", tmp_path]
    nbmake = ["-p", "no:cacheprovider", "--nbmake", "--nbmake-timeout=300", notebook]
    done = subprocess.run([*command, *nbmake], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_it_installs_what_it_needs_and_holds_no_output(notebook):
    first, *_ = cells(notebook)
    assert "%pip install" in "".join(first["source"])
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells(notebook))
