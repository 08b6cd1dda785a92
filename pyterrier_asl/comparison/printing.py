"""What a comparison of runs with a baseline looks like, human-readable and machine-readable."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence

import pandas as pd

from ..io import tables
from .guard import Outcome, Verdict
from .result import RunComparison
from .verdict_formats import as_rows

#: How many relevant documents are shown to have moved where nobody says how many.
MOVED = 5

_TITLES = {
    "a": "A", "b": "B", "difference": "B - A", "ci_low": "from", "ci_high": "to", "low": "least",
    "high": "greatest", "p_corrected": "p", "qid": "query", "docno": "relevant document",
    "found": "retrieved by",
}  # fmt: skip
_WIDTH = 100


def print_comparison(
    compared: RunComparison, form: str, *, places: int = 4, by_query: bool = False,
    moved: int | None = None, texts: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Prints a comparison.

    Args:
        compared: what to print.
        form: one of :data:`.io.tables.FORMS`. A table comes with all that there is to say; the
            others are one frame: the queries if they are asked for, or the documents, else the
            measures.
        places: decimal places; -1: all digits.
        by_query: whether queries are asked for.
        moved: how many documents are; None: in a table :data:`MOVED`, else none.
        texts: the text of queries, by id.
    """
    if form == "table":
        _print_all(compared, places, by_query, MOVED if moved is None else moved, texts or {})
    elif by_query:
        tables.write(_with_text(_of_one(compared, compared.by_query), texts), form, places=places)
    elif moved is not None:
        tables.write(_of_one(compared, compared.moved).head(moved), form, places=places)
    elif form == "latex":
        print(compared.to_latex(places=places), end="")
    elif form == "markdown":
        tables.write(_human_readable(compared), form, places=places, titles=_titles(compared))
    else:
        tables.write(_of_one(compared, compared.summary), form, places=places)


def write_verdicts(verdicts: Sequence[Verdict], outcome: Outcome, form: str) -> None:
    """Prints how a guard came out: on stderr, and as JSON lines also behind the measures."""
    for one in verdicts:
        print(one, file=sys.stderr)
    print(f"Guard: {outcome.name}", file=sys.stderr)
    if form == "jsonl":
        for row in as_rows(verdicts, outcome):
            print(*tables.jsonl_lines(pd.DataFrame([row])))


def _print_all(
    compared: RunComparison, places: int, by_query: bool, moved: int, texts: Mapping[str, str]
) -> None:
    from rich.console import Console

    print(f"A: {compared.baseline} (baseline)")
    if len(compared.runs) == 1:
        print(f"B: {compared.runs[0]}")
    print()
    shown = _human_readable(compared)
    ascii_only = bool(Console(file=sys.stdout).options.ascii_only)
    shown["measure"] = [
        f"{name} {tables.arrow(compared.higher_is_better[name], ascii_only)}".rstrip()
        for name in shown["measure"]
    ]
    group = "" if len(compared.runs) == 1 else "run"
    tables.show(shown, places=places, titles=_titles(compared), group_by=group)
    print()
    for note in compared.notes():
        print(textwrap.fill(note, _WIDTH))
    if by_query:
        print("\nB - A by query, the largest loss by the first measure first:\n")
        tables.show(_with_text(compared.differences(), texts), places=places, titles=_TITLES)
    if moved:
        _show_moved(compared, moved)


def _show_moved(compared: RunComparison, moved: int) -> None:
    print()
    for row in compared.retrieved.to_dict("records"):
        total = row["both"] + row["A"] + row["B"] + row["neither"]
        of = "" if len(compared.runs) == 1 else f" ({row['run']})"
        sentence = (
            f"Relevant documents{of}: {total:,}. Retrieved by both runs: {row['both']:,}, of which "
            f"{row['nearer']:,} have fewer irrelevant documents above them in B and "
            f"{row['farther']:,} more. Retrieved by A only: {row['A']:,}; by B only: {row['B']:,}; "
            f"by neither: {row['neither']:,}."
        )
        print(textwrap.fill(sentence, _WIDTH))
    if len(compared.moved):
        print("Those that moved farthest, by search length (irrelevant documents above, + 1):\n")
        tables.show(_of_one(compared, compared.moved).head(moved), titles=_TITLES)


def _of_one(compared: RunComparison, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without the column that names the run where there is one."""
    return frame.drop(columns="run") if len(compared.runs) == 1 else frame


def _with_text(frame: pd.DataFrame, texts: Mapping[str, str] | None) -> pd.DataFrame:
    return frame.assign(query=frame["qid"].map(str).map(texts).fillna("")) if texts else frame


def _human_readable(compared: RunComparison) -> pd.DataFrame:
    """The measures with one p-value, the corrected one if there is a correction."""
    extra = ["p_corrected"] if compared.options.correction is None else ["p"]
    return _of_one(compared, compared.summary.drop(columns=[*extra, "test", "detectable"]))


def _titles(compared: RunComparison) -> dict[str, str]:
    return {**_TITLES, "p_corrected": f"p ({compared.options.correction})"}
