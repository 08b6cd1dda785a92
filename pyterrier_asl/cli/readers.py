"""Readers of the values of options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..common.notices import grouped
from ..io.groups import read_groups


def read_words(text: str) -> list[str]:
    """Splits a text at commas and blanks."""
    return text.replace(",", " ").split()


def read_numbers(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Reads numbers between commas or blanks."""
    what = "whole numbers" if kind is int else "numbers"
    return lambda text: _cast(kind, read_words(text), f"{text!r} is no list of {what}, as 1,2,4")


def _cast(kind: Callable[[str], Any], texts: Iterable[str], message: str) -> list[Any]:
    """Reads numbers; ValueError with a message for a text that is not a number."""
    try:
        return [kind(text) for text in texts]
    except ValueError:
        raise ValueError(message) from None


def read_pools(path: str) -> dict[str, list[str]]:
    """Reads the runs of each type from a file of runs and types."""
    from ..analysis.rareness_pools import pools_by

    return pools_by(read_groups(path))


def read_judges_by_name(texts: Sequence[str]) -> dict[str, str]:
    """Reads judges, NAME=QRELS each."""
    return _pairs_by_name(texts, "NAME=QRELS, a name and a file or ir_datasets id")


def read_judges_of_tracks(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Reads the judges of each track, TRACK=NAME=QRELS each."""
    parts = (text.partition("=") for text in texts)
    by_track = grouped((track, judge) for track, _, judge in parts)
    return {track: read_judges_by_name(judges) for track, judges in by_track.items()}


def read_grades(texts: Sequence[str]) -> float | dict[str, float]:
    """Reads the minimum grade of each judge or track, NAME=GRADE, or one for all."""
    is_common = len(texts) == 1 and "=" not in texts[0]
    form = "NAME=GRADE, a name and the minimum grade of a relevant document"
    named = {"": texts[0]} if is_common else _pairs_by_name(texts, form)
    grades = _cast(float, named.values(), f"{' '.join(texts)!r} is no grade, such as NAME=2")
    return grades[0] if is_common else dict(zip(named, grades))


def read_runs_of_tracks(texts: Sequence[str]) -> str | dict[str, str]:
    """Reads the name of a run in every track, or TRACK=RUN for each track."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return _pairs_by_name(texts, "TRACK=RUN, a track and the name of its run")


def _pairs_by_name(texts: Sequence[str], form: str) -> dict[str, str]:
    named = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ValueError(f"{text!r} is not {form}")
        if name in named:
            raise ValueError(f"{name!r} is given twice: give each another name")
        named[name] = value
    return named
