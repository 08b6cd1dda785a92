"""Comparisons as commands print them, and reports of a guard: text, JSON lines, JUnit XML."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from ..io.atomic import check_replaceable, replacing
from ..printing import table_lines, tables
from ..printing.printed import Part, print_parts
from .guard import Outcome, Verdict
from .result import MOVED, TITLES, RunComparison

#: The JUnit XML element of a condition that does not pass.
_ELEMENTS = {Outcome.FAIL: "failure", Outcome.ERROR: "error"}

#: The frames that ``print_comparison`` shows instead of the means.
_FRAMES: dict[str | None, str] = {"queries": "by_query", "groups": "groups", "documents": "moved"}


@dataclass(frozen=True)
class GuardReports:
    """The outputs of a guard.

    Attributes:
        form: the form of the printed comparison, one of :data:`.printing.tables.FORMS`; with
            ``'jsonl'`` verdicts follow it.
        junit: a file of JUnit XML; None: none.
        inputs: files that are read and must not be written.
    """

    form: str = "table"
    junit: str | os.PathLike[str] | None = None
    inputs: Sequence[str | os.PathLike[str]] = ()

    def begin(self, runs: Sequence[str], conditions: Sequence[str]) -> None:
        """Writes to the file that the guard did not come to an end, until it does.

        Raises:
            OSError: for a file that must not be written.
        """
        self._save(error_verdicts(runs, conditions, "the guard did not come to an end"))

    def report(self, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> Outcome:
        """Reports the verdicts: to the file first, so that an error there is reported, too.

        Args:
            verdicts: the verdicts on the conditions.
            notes: the notes of their comparison.

        Raises:
            OSError: for a file that cannot be written.
        """
        self._save(verdicts, notes)
        are_many = len({verdict.run for verdict in verdicts}) > 1
        outcome = Outcome(max((verdict.outcome.value for verdict in verdicts), default=0))
        lines = [verdict.line(name_run=are_many) for verdict in verdicts]
        if self.form != "table":  # the table is followed by them
            lines += [f"Note: {note}" for note in notes]
        for line in [*lines, f"Guard: {outcome.name}"]:
            print(line, file=sys.stderr, flush=True)
        if self.form == "jsonl":
            rows: list[dict[str, Any]] = [
                {
                    "condition": verdict.condition,
                    "run": verdict.run,
                    "outcome": verdict.outcome.name,
                    "message": verdict.message,
                    **verdict.numbers,
                }
                for verdict in verdicts
            ]
            status = {"verdict": outcome.name, "status": outcome.value}
            for row in [*rows, status | ({"notes": list(notes)} if notes else {})]:
                print(*table_lines.jsonl_lines(pd.DataFrame([row])))
        return outcome

    def report_error(self, runs: Sequence[str], conditions: Sequence[str], message: str) -> None:
        """Reports an error for each run and condition, also where the file cannot be written."""
        verdicts = error_verdicts(runs, conditions, message)
        try:
            self.report(verdicts)
        except OSError as error:
            print(f"Warning: {error}", file=sys.stderr)
            replace(self, junit=None).report(verdicts)

    def _save(self, verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> None:
        if self.junit:
            check_replaceable(self.junit, inputs=self.inputs, begins=b"<?xml")
            save_junit(verdicts, self.junit, notes)


def error_verdicts(runs: Sequence[str], conditions: Sequence[str], message: str) -> list[Verdict]:
    """An ERROR for each run and condition, which could not be tested."""
    return [
        Verdict(run, condition, Outcome.ERROR, message) for run in runs for condition in conditions
    ]


def save_junit(
    verdicts: Sequence[Verdict], path: str | os.PathLike[str], notes: Sequence[str] = ()
) -> None:
    """Saves verdicts as JUnit XML: a test case for each condition, run and group, with notes."""
    verdicts = [
        replace(case, run=f"{verdict.run}, {case.run}") if verdict.cases else case
        for verdict in verdicts
        for case in verdict.cases or [verdict]
    ]
    outcomes = [verdict.outcome for verdict in verdicts]
    suite = ElementTree.Element(
        "testsuite",
        name="pyterrier-asl compare",
        tests=str(len(outcomes)),
        failures=str(outcomes.count(Outcome.FAIL)),
        errors=str(outcomes.count(Outcome.ERROR)),
    )
    for verdict in verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_xml_text(verdict.run), name=_xml_text(verdict.condition)
        )
        if verdict.outcome in _ELEMENTS:
            ElementTree.SubElement(
                case, _ELEMENTS[verdict.outcome], message=_xml_text(verdict.message)
            )
        ElementTree.SubElement(case, "system-out").text = _xml_text(
            "\n".join([str(verdict), *(f"Note: {note}" for note in notes)])
        )
    with replacing(path, begins=b"<?xml") as file:
        ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)


def _xml_text(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(c if c >= " " or c in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for c in text)


# The comparison


def print_comparison(
    compared: RunComparison,
    form: str,
    *,
    places: int = 4,
    show: str | None = None,
    texts: Mapping[str, str] | None = None,
    wide: bool = False,
    all_rows: bool = False,
) -> None:
    """Prints a comparison.

    Args:
        compared: the comparison.
        form: one of :data:`.io.tables.FORMS`. A table comes with sentences and notes, of a guard
            only with ``all_rows``; the other forms print one frame.
        places: decimal places; -1: all digits.
        show: ``'queries'``, ``'groups'``, ``'documents'`` (the relevant documents that moved), or
            the means.
        texts: the text of queries, by id.
        wide: whether a table has all columns, even where lines wrap.
        all_rows: whether a terminal shows all rows of a long table, and a guard its notes.
    """
    if form == "table":
        means = compared.means(ascii_only=not table_lines.has_arrows(sys.stdout))
        short = [Part(), means, *map(Part, ["", *compared.notes] if compared.notes else [])]
        parts = short if compared.inputs.conditions and not all_rows else compared.parts(means)
        if show == "queries":
            what = "B - A by query, the largest loss by the first measure first:"
            frame = _with_text(compared.differences(), texts)
            parts.append(Part(what, frame, {"titles": TITLES}))
        if show == "groups":
            frame = compared.of_one(compared.groups)
            style = {"titles": {**TITLES, "depends": "p of dependence"}}
            parts.append(Part("B - A in groups of queries:", frame, style))
        if show == "documents":
            *sentences, moved = compared.documents(None if all_rows else MOVED)
            parts += [*sentences, replace(moved, table=_with_text(moved.table, texts))]
        print_parts(parts, places=places, wide=wide, all_rows=all_rows)
    elif form == "latex" and show not in _FRAMES:
        print(compared.to_latex(places=places), end="")
    elif form == "markdown" and show not in _FRAMES:
        means = compared.means()
        assert means.table is not None
        tables.write(means.table, form, places=places, **means.style)
    else:
        frame = compared.of_one(getattr(compared, _FRAMES.get(show, "table")))
        tables.write(_with_text(frame, texts), form, places=places)


def _with_text(frame: Any, texts: Mapping[str, str] | None) -> Any:
    return frame.assign(query=frame["qid"].map(str).map(texts).fillna("")) if texts else frame
