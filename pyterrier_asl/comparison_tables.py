"""What a comparison of two runs looks like, on the terminal and for programs."""

from __future__ import annotations

import sys
import textwrap

import pandas as pd

from . import frames
from .comparison import RunComparison
from .tables import arrow

#: How many relevant documents are shown to have moved where nobody says how many.
MOVED = 5

_TITLES = {
    "a": "A", "b": "B", "difference": "B - A", "ci_low": "from", "ci_high": "to",
    "p_corrected": "p", "qid": "query", "docno": "relevant document", "found": "found by",
    "wins": "wins", "losses": "losses", "ties": "ties",
}  # fmt: skip
_WIDTH = 100


def write(
    compared: RunComparison,
    form: str,
    *,
    places: int = 4,
    by_query: bool = False,
    moved: int | None = None,
) -> None:
    """Prints a comparison.

    Args:
        compared: what to print.
        form: one of :data:`.frames.FORMS`. A table comes with all that there is to say; the others
            are one frame: the queries if they are asked for, or the documents, else the measures.
        places: decimal places; -1: all digits.
        by_query: whether queries are asked for.
        moved: how many documents are; None: in a table :data:`MOVED`, else none.
    """
    if form == "table":
        _show(compared, places, by_query, MOVED if moved is None else moved)
    elif by_query:
        frames.write(compared.by_query, form, places=places)
    elif moved is not None:
        frames.write(compared.moved.head(moved), form, places=places)
    elif form == "latex":
        frames.write(_for_the_eye(compared), form, places=places, titles=_titles(compared))
    else:
        frames.write(compared.summary, form, places=places)


def _show(compared: RunComparison, places: int, by_query: bool, moved: int) -> None:
    a, b = compared.names
    print(f"A: {a} (baseline)\nB: {b}\n")
    eye = _for_the_eye(compared)
    eye["measure"] = [
        f"{name} {arrow(compared.higher_is_better[name], _ascii_only())}".rstrip()
        for name in eye["measure"]
    ]
    frames.show(eye, places=places, titles=_titles(compared))
    print()
    for note in compared.notes():
        print(textwrap.fill(note, _WIDTH))
    if by_query:
        print("\nB - A by query:\n")
        frames.show(compared.differences(), places=places, titles=_TITLES)
    if moved:
        _show_moved(compared, moved)


def _show_moved(compared: RunComparison, moved: int) -> None:
    documents = compared.moved
    closer = int((documents["change"] < 0).sum())
    print(
        f"\nRelevant documents: {closer} have fewer irrelevant ones above them in B, "
        f"{len(documents) - closer} have more."
    )
    if len(documents):
        print("Those that moved farthest, by search length (irrelevant documents above, + 1):\n")
        frames.show(documents.head(moved), titles=_TITLES)


def _for_the_eye(compared: RunComparison) -> pd.DataFrame:
    """The measures with one p-value, the corrected one if there is a correction."""
    extra = ["p_corrected"] if compared.options.correction is None else ["p"]
    return compared.summary.drop(columns=[*extra, "test"])


def _titles(compared: RunComparison) -> dict[str, str]:
    correction = compared.options.correction
    return {**_TITLES, "p_corrected": f"p ({correction})"}


def _ascii_only() -> bool:
    from rich.console import Console

    return bool(Console(file=sys.stdout).options.ascii_only)
