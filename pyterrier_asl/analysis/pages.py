"""The part of the documentation that lists the analyses, made from what is declared of them.

``python -m pyterrier_asl.analysis.pages`` writes it into ``pt_docs/analyses.rst``.
"""

from __future__ import annotations

from pathlib import Path

from .registry import PAPERS, analyses

PAGE = Path(__file__).parents[1] / "pt_docs" / "analyses.rst"
_BEGIN, _END = ".. (analyses: begin)\n", ".. (analyses: end)\n"
_TABLE = "{paper}\n{line}\n\n.. list-table::\n    :header-rows: 1\n\n"
_ROW = "    * - {}\n      - {}\n      - {}\n      - {}\n"


def entries() -> str:
    """The analyses paper by paper: a table of names, then each function."""
    parts = []
    for paper in PAPERS:
        here = [one for one in analyses() if one.paper == paper]
        parts.append(_TABLE.format(paper=paper, line="-" * len(paper)))
        parts.append(_ROW.format("command", "in the paper", "what", "function"))
        names = [f"pyterrier_asl.analysis.{one.function.__name__}" for one in here]
        for one, name in zip(here, names):
            parts.append(_ROW.format(f"``{one.name}``", one.figure, one.what, f":func:`~{name}`"))
        functions = dict.fromkeys(names)
        parts += ["\n", *(f".. autofunction:: {name}\n" for name in functions), "\n"]
    return "".join(parts)


def with_entries(page: str) -> str:
    """The page with the entries between its two marks."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{entries()}{_END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_entries(PAGE.read_text()))
