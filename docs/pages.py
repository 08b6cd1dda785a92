"""Writes the parts of the documentation that are made from what is declared of the analyses.

    python docs/pages.py

They are the gallery in ``pt_docs/analyses.rst``, and a page for each paper. ``docs/gallery.py``
also draws the pictures.
"""

from __future__ import annotations

import re
import struct
import textwrap
from pathlib import Path

from pyterrier_asl.analysis.registry import (
    ALEX,
    CLARKE,
    DIAZ,
    JUDGES,
    QUESTIONS,
    TROTMAN,
    TURKMEN,
    Analysis,
    analyses,
)

FOLDER = Path(__file__).parents[1] / "pyterrier_asl" / "pt_docs"

#: The pages by what they are called in the gallery, each with the papers it is about.
PAGES = {
    "analyses_asl": ("Atomized search length", (ALEX,)),
    "analyses_lexiprecision": ("Lexicographic precision", (DIAZ,)),
    "analyses_rareness": ("Rareness", (TURKMEN,)),
    "analyses_tbg": ("Time-biased gain", (CLARKE,)),
    "analyses_assessors": ("Assessors and judges", (TROTMAN, JUDGES)),
}
GALLERY = "analyses"

#: What the command is given for options that it cannot do without.
_GIVEN = {
    "judges": "--judge second=second.qrels",
    "old": "--old bm25",
    "new": "--new feedback",
    "groups": "--groups groups.tsv",
    "pools": "--types types.tsv",
    "qid": "--qid 1",
    "n": "--documents 10000",
    "relevant": "--relevant 1,2,5,10,20",
    "ranks": "--ranks 1,2,5,10,20",
}
_LENGTHS = "--lengths irds:vaswani"

_BEGIN, _END = ".. (analyses: begin)\n", ".. (analyses: end)\n"
_COLUMNS = 3

#: Pixels of a picture for each of the page, in each direction.
PIXELS = 2


def picture(name: str) -> Path:
    """The picture of an analysis."""
    return FOLDER / "gallery" / f"{name}.png"


def command(analysis: Analysis) -> str:
    """The command that makes the table and the chart of an analysis."""
    files = {"qrels": "qrels.txt", "runs": "runs/"}
    options = [text for name, text in _GIVEN.items() if name in analysis.required]
    lengths = [_LENGTHS] if "lengths" in analysis.parameters else []
    words = [*(files[what] for what in analysis.takes), *options, *lengths]
    return " ".join(
        ["pyterrier-asl analyze", analysis.name, *words, f"--chart {analysis.name}.png"]
    )


def entries(page: str) -> str:
    """The analyses of a page, each with its picture and its command; then their functions."""
    here = [
        analysis for paper in PAGES[page][1] for analysis in analyses() if analysis.paper == paper
    ]
    functions = dict.fromkeys(_function(analysis) for analysis in here)
    reference = "".join(f".. autofunction:: {name}\n" for name in functions)
    return "".join(map(_entry, here)) + _heading("Functions") + reference + "\n"


def gallery() -> str:
    """The pictures of all analyses, each a link to where it is described.

    First those that answer what is asked of a set of runs, question by question, then the others
    under their papers.
    """
    parts = []
    for question in QUESTIONS:
        here = [analysis for analysis in analyses() if analysis.question == question]
        parts.append(_heading(question) + _thumbnails(here))
    for page, (title, papers) in PAGES.items():
        here = [analysis for analysis in analyses() if analysis.heading in papers]
        parts.append(f"{_heading(title)}All of them: :doc:`{page}`.\n\n{_thumbnails(here)}")
    return "".join(parts)


def _thumbnails(shown: list[Analysis]) -> str:
    """A table of pictures."""
    parts = [".. list-table::\n    :widths: 1 1 1\n\n"] if shown else []
    for number, analysis in enumerate([*shown, *[None] * (-len(shown) % _COLUMNS)]):
        parts.append("    * - " if number % _COLUMNS == 0 else "      - ")
        parts.append("\n" if analysis is None else _thumbnail(analysis))
    return "".join([*parts, "\n"] if shown else parts)


def with_entries(page: str) -> str:
    """The text of a page, with what is made between its two marks."""
    before, _, rest = (FOLDER / f"{page}.rst").read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    made = gallery() if page == GALLERY else entries(page)
    return f"{before}{_BEGIN}\n{made}{_END}{after}"


def _entry(analysis: Analysis) -> str:
    """Question, picture, source and command of an analysis."""
    source = "" if analysis.paper == JUDGES else f"{analysis.source}. "
    return (
        f".. _analysis-{analysis.name}:\n\n{_heading(analysis.what)}"
        f".. image:: gallery/{analysis.name}.png\n    :alt: {analysis.what}\n"
        f"    :width: {_width(picture(analysis.name)) // PIXELS}px\n\n"
        f"{source}Function :func:`~{_function(analysis)}`, command:\n\n"
        f".. code-block:: console\n\n    $ {_wrapped(command(analysis))}\n\n"
    )


def _wrapped(line: str) -> str:
    """A command in lines that the page has room for."""
    together = re.sub(r"(--\S+) (\S+)", "\\1\N{NO-BREAK SPACE}\\2", line)
    lines = textwrap.wrap(together, 85, break_on_hyphens=False)
    return " \\\n          ".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _thumbnail(analysis: Analysis) -> str:
    """The picture of an analysis as a link, and its question."""
    page = next(page for page, (_, papers) in PAGES.items() if analysis.paper in papers)
    indent = " " * 8
    return (
        f".. image:: gallery/{analysis.name}.png\n{indent}    :alt: {analysis.what}\n"
        f"{indent}    :target: {page}.html#analysis-{analysis.name}\n\n"
        f"{indent}:ref:`{analysis.what} <analysis-{analysis.name}>`\n"
    )


def _heading(text: str) -> str:
    return f"{text}\n{'-' * len(text)}\n\n"


def _function(analysis: Analysis) -> str:
    return f"pyterrier_asl.analysis.{analysis.function.__name__}"


def _width(png: Path) -> int:
    """The width of a picture, in its pixels."""
    if not png.exists():
        raise FileNotFoundError(f"there is no {png.name}: run python docs/gallery.py {png.stem}")
    with png.open("rb") as file:
        return int(struct.unpack(">I", file.read(20)[16:])[0])


def write() -> None:
    """Writes all pages again."""
    for page in (GALLERY, *PAGES):
        text = with_entries(page)
        (FOLDER / f"{page}.rst").write_text(text)


if __name__ == "__main__":
    write()
