"""Runs the notebooks and stores their outputs, so that a code host shows tables and pictures.

    python docs/notebooks.py [NAME ...]

They use vaswani of ir_datasets. Tables are stored as text and HTML, pictures as PNG.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "examples"

#: Forms of an output that are stored.
FORMS = ("text/plain", "text/html", "image/png")

#: Colours of a stored picture, so that a notebook stays small.
COLORS = 64


def executed(path: Path) -> Any:
    """A notebook with the outputs of a new run; warnings and progress bars are left out."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}})
        client.execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data = {form: output.data[form] for form in FORMS if form in output.data}
                output.metadata = {}
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = reduced(output.data["image/png"])
    notebook.metadata.pop("widgets", None)
    return notebook


def reduced(picture: str) -> str:
    """A PNG in base64 with fewer colours."""
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    file = io.BytesIO()
    image.quantize(COLORS, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def printed(notebook: Any) -> list[str]:
    """What the cells print or return as text."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.get("text") or output.get("data", {}).get("text/plain") for output in outputs]
    return ["".join(text or "") for text in texts]


def pictures(notebook: Any) -> int:
    """The number of stored pictures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def main() -> None:
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(executed(path), path)


if __name__ == "__main__":
    main()
