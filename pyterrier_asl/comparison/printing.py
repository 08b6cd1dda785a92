"""What a comparison of runs with a baseline looks like, human-readable and machine-readable.

The verdicts of a guard also look as build systems want them: JUnit XML, and annotations of GitHub
Actions.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from ..io import tables
from ..io.atomic import replacing
from .guard import Outcome, Verdict
from .result import RunComparison

#: How many relevant documents are shown to have moved where nobody says how many.
MOVED = 5

_TITLES = {
    "a": "A",
    "b": "B",
    "difference": "B - A",
    "ci_low": "from",
    "ci_high": "to",
    "low": "least",
    "high": "greatest",
    "p_corrected": "p",
    "qid": "query",
    "docno": "relevant document",
    "found": "retrieved by",
}
_WIDTH = 100
#: What a condition that does not pass is in JUnit XML.
_ELEMENTS = {Outcome.FAIL: "failure", Outcome.ERROR: "error"}


def print_comparison(
    compared: RunComparison,
    form: str,
    *,
    places: int = 4,
    by_query: bool = False,
    moved: int | None = None,
    texts: Mapping[str, str] | None = None,
) -> None:
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
        _print_means(compared, places)
        if by_query:
            print("\nB - A by query, the largest loss by the first measure first:\n")
            tables.show(_with_text(compared.differences(), texts), places=places, titles=_TITLES)
        if moved != 0:
            _show_moved(compared, MOVED if moved is None else moved)
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


def _print_means(compared: RunComparison, places: int) -> None:
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


# Verdicts


def write_verdicts(verdicts: Sequence[Verdict], outcome: Outcome, form: str) -> None:
    """Prints how a guard came out: on stderr, and as JSON lines also behind the measures."""
    for one in verdicts:
        print(one, file=sys.stderr)
    print(f"Guard: {outcome.name}", file=sys.stderr)
    if form == "jsonl":
        rows: list[dict[str, Any]] = [
            {
                "condition": one.condition,
                "run": one.run,
                "outcome": one.outcome.name,
                "message": one.message,
                **one.numbers,
            }
            for one in verdicts
        ]
        for row in [*rows, {"verdict": outcome.name, "status": outcome.value}]:
            print(*tables.jsonl_lines(pd.DataFrame([row])))


def save_junit(verdicts: Sequence[Verdict], path: str | os.PathLike[str]) -> None:
    """Saves verdicts as JUnit XML: a test case for each condition and run."""
    found = [one.outcome for one in verdicts]
    suite = ElementTree.Element(
        "testsuite",
        name="pyterrier-asl compare",
        tests=str(len(found)),
        failures=str(found.count(Outcome.FAIL)),
        errors=str(found.count(Outcome.ERROR)),
    )
    for one in verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_xml_text(one.run), name=_xml_text(one.condition)
        )
        if one.outcome in _ELEMENTS:
            element = ElementTree.SubElement(case, _ELEMENTS[one.outcome])
            element.set("message", _xml_text(one.message))
        ElementTree.SubElement(case, "system-out").text = _xml_text(str(one))
    with replacing(path, begins=b"<?xml") as beside:
        ElementTree.ElementTree(suite).write(beside, encoding="utf-8", xml_declaration=True)


def github_annotations(verdicts: Sequence[Verdict]) -> list[str]:
    """Workflow commands of GitHub Actions: an error for each condition that does not pass."""
    return [
        f"::{'error' if one.outcome in _ELEMENTS else 'notice'} "
        f"title={_escaped(f'{one.outcome.name}: {one.condition}', True)}::"
        f"{_escaped(f'{one.run}: {one.message}')}"
        for one in verdicts
    ]


def _xml_text(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(c if c >= " " or c in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _escaped(text: str, is_property: bool = False) -> str:
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    for old, new in [*pairs, *([(":", "%3A"), (",", "%2C")] if is_property else [])]:
        text = text.replace(old, new)
    return text
