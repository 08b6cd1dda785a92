"""Analyses as the command calls them: values as they are typed, files, and notes on the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..assessment.judges import QRELS
from ..evaluation.files import read_groups, read_pairs
from ..io.lazy import pd
from ..measures.names import parse_measures
from .rareness_pools import pools_by
from .registry import Analysis

#: The column of slices that a file of them gives.
SLICE = "slice"


# What is typed, as the functions take it


def read_grade(value: float) -> float:
    """A grade as ir_measures' own measures want it."""
    return int(value) if value % 1 == 0 else value


def read_measures(texts: Sequence[str]) -> list[Any]:
    """Measures by their names."""
    return [named.measure for named in parse_measures(texts)]


def read_measure(text: str) -> Any:
    """A measure by its name."""
    measures = read_measures([text])
    if len(measures) != 1:
        raise ValueError(f"one measure is wanted, but {text!r} is {len(measures)}")
    return measures[0]


def read_correction(name: str) -> str | None:
    """A correction by its name."""
    return None if name == "none" else name


def read_words(text: str) -> list[str]:
    """Words between commas or blanks."""
    return text.replace(",", " ").split()


def read_numbers(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Reads numbers between commas or blanks."""

    def read(text: str) -> list[Any]:
        try:
            return [kind(word) for word in read_words(text)]
        except ValueError:
            what = "whole numbers" if kind is int else "numbers"
            raise ValueError(f"{text!r} is no list of {what}, such as 1,2,4") from None

    return read


def read_weights(path: str) -> dict[str, float]:
    """The weight of each query, from a file."""
    read = {}
    for qid, text in read_pairs(path, "query", "weight").items():
        try:
            read[qid] = float(text)
        except ValueError:
            raise ValueError(f"{path}: query {qid!r} has the weight {text!r}: no number") from None
    return read


def read_slices(path: str) -> dict[str, str]:
    """The slice of each query, from a file."""
    return read_pairs(path, "query", SLICE)


def read_pools(path: str) -> dict[str, list[str]]:
    """The runs of each type, from a file of runs and types."""
    return pools_by(read_groups(path))


def read_judges(texts: Sequence[str]) -> dict[str, str]:
    """Judges by name, each with the file or ir_datasets id of their judgements."""
    return _pairs_by_name(texts, "NAME=QRELS, a name and a file or ir_datasets id")


def read_judges_of_tracks(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Judges of each track, by name."""
    by_track: dict[str, list[str]] = {}
    for text in texts:
        track, _, judge = text.partition("=")
        by_track.setdefault(track, []).append(judge)
    return {track: read_judges(judges) for track, judges in by_track.items()}


def read_judge_rel(texts: Sequence[str]) -> float | dict[str, float]:
    """The minimum grade of each judge by name; or one for all."""
    is_common = len(texts) == 1 and "=" not in texts[0]
    form = "NAME=GRADE, a judge and the least relevant grade"
    named = {"": texts[0]} if is_common else _pairs_by_name(texts, form)
    try:
        grades = {name: read_grade(float(grade)) for name, grade in named.items()}
    except ValueError:
        raise ValueError(f"{' '.join(texts)!r} is no grade, such as NAME=2") from None
    return grades[""] if is_common else grades


def read_runs_of_tracks(texts: Sequence[str]) -> str | dict[str, str]:
    """One run of that name, in every track; or, given several times, the run of each track."""
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
            raise ValueError(f"{name!r} is given twice: name each differently")
        named[name] = value
    return named


# The call


def analyze(
    analysis: Analysis,
    qrels: str | None,
    runs: Any,
    options: dict[str, Any],
) -> pd.DataFrame:
    """The table of an analysis.

    Args:
        analysis: the analysis.
        qrels: file or ir_datasets id, for an analysis that needs judgements; None: several tracks.
        runs: list of files and folders, for an analysis that needs runs; or the runs and qrels of
            each track.
        options: values by parameter; others have the defaults of the function.

    Raises:
        ValueError: for what cannot be used.
        OSError: for a file that cannot be read.
    """
    sources: dict[str, Any] = {}
    if QRELS in options.get("judges", ()):
        raise ValueError(f"{QRELS!r} is the judge of QRELS: name the other differently")
    if "qrels" in analysis.parameters:
        sources["qrels"] = qrels
    elif "judges" in options:  # QRELS is one of them
        options = {**options, "judges": {QRELS: qrels, **options["judges"]}}
    if "runs" in analysis.parameters:
        sources["runs"] = runs
    return analysis.function(**sources, **options)


# What is shown


def without_unnamed_track(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as it is shown: with one track, which has no name, there is no column of it."""
    if "track" in frame and not frame["track"].astype(bool).any():
        return frame.drop(columns="track")
    return frame


def notes(frame: pd.DataFrame) -> str:
    """What an analysis tells beside its table, in a line; '' for nothing."""
    told = {name: value for name, value in frame.attrs.items() if value is not False}
    return "; ".join(f"{name}: {_told(value)}" for name, value in told.items())


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{part} of {name}" for name, part in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
