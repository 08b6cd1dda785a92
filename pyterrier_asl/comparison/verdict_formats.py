"""The verdicts of a guard for build systems: JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from ..io.atomic import replacing
from .guard import Outcome, Verdict

_ELEMENTS = {Outcome.FAIL: "failure", Outcome.ERROR: "error"}


def as_rows(verdicts: Sequence[Verdict], outcome: Outcome) -> list[dict[str, Any]]:
    """A dict for each condition, and one for the outcome of all."""
    rows: list[dict[str, Any]] = [
        {
            "condition": one.condition, "run": one.run, "outcome": one.outcome.name,
            "message": one.message, **one.numbers,
        }
        for one in verdicts
    ]  # fmt: skip
    return [*rows, {"verdict": outcome.name, "status": outcome.value}]


def save_junit(verdicts: Sequence[Verdict], path: str | os.PathLike[str]) -> None:
    """Saves verdicts as JUnit XML: a test case for each condition and run."""
    found = [one.outcome for one in verdicts]
    suite = ElementTree.Element(
        "testsuite", name="pyterrier-asl compare", tests=str(len(found)),
        failures=str(found.count(Outcome.FAIL)), errors=str(found.count(Outcome.ERROR)),
    )  # fmt: skip
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
    levels = {Outcome.PASS: "notice", Outcome.FAIL: "error", Outcome.ERROR: "error"}
    return [
        f"::{levels[one.outcome]} title={_escaped(f'{one.outcome.name}: {one.condition}', True)}::"
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
