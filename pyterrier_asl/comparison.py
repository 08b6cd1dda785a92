"""Two run files compared: means, tests, preferences, queries, the documents that moved.

The first run, A, is the baseline: every difference is B less A, and a win is B's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from . import conditions as conditions_of
from .analysis.relevant_documents import RelevantDocuments
from .conditions import Condition, Found
from .evaluation import evaluate, matrix
from .io import read_run_table, run_name
from .judging import JudgedRun, Judgements
from .preference import RecallLevels
from .requested import Requested, grades_hint, parse_measures, unique, words
from .run_files import completed, measures_for, read_judgements
from .scoring.lexicographic import first_difference
from .statistics import compare_pair, correct

Floats = npt.NDArray[np.float64]

#: Preferences of lexicographic precision (Diaz 2023), which only two runs together have.
PREFERENCES = ("rrLP", "sgnLP")

#: Tests of two runs by name: what they are, and what their effect size is.
TESTS = {
    "t": ("t-test for pairs", "Cohen's d_z"),
    "wilcoxon": ("Wilcoxon's signed-rank test", "rank-biserial r"),
    "sign": ("sign test", "(wins - losses) / both"),
    "randomization": ("randomization test", "Cohen's d_z"),
}


@dataclass(frozen=True)
class Options:
    """How differences are tested.

    Attributes:
        test: one of :data:`TESTS`; sgnLP, which is only a sign, always has the sign test.
        correction: one of statsmodels' names in :mod:`~pyterrier_asl.statistics`, or None.
        alpha: intervals cover 1 - alpha.
        seed: of the draws of the randomization test.
    """

    test: str = "t"
    correction: str | None = "holm"
    alpha: float = 0.05
    seed: int = 0


@dataclass(frozen=True)
class RunComparison:
    """What came out.

    Attributes:
        names: of A and of B.
        queries: how many there are.
        summary: a row for each measure, and for each of :data:`PREFERENCES`: ``measure``; ``a``,
            ``b``, the means (none of a preference); ``difference``, ``ci_low``, ``ci_high``,
            ``effect``; ``wins``, ``losses``, ``ties``, queries in which B is better, worse, equal
            (of a count: more, less, equal); ``p``, ``p_corrected`` over all rows; ``test``.
        by_query: a row for each query and measure: ``qid``, ``measure``, ``a``, ``b``,
            ``difference``.
        moved: the relevant documents by how far they moved, farthest first: ``qid``, ``docno``,
            ``a``, ``b`` (search lengths), ``change``, ``found`` (``both``, ``A``, ``B``).
        higher_is_better: by measure; None of a count.
        rel: the least grade of a relevant document, for preferences and documents.
        options: how it was tested.
        family: how many p-values were corrected together.
        dropped: how many comparisons leave a test nothing to work on.
        hint: what else to tell, '' for nothing.
    """

    names: tuple[str, str]
    queries: int
    summary: pd.DataFrame
    by_query: pd.DataFrame
    moved: pd.DataFrame
    higher_is_better: dict[str, bool | None]
    rel: float
    options: Options
    family: int
    dropped: int
    hint: str
    _conditions: list[tuple[Condition, str]]

    def notes(self) -> list[str]:
        """What to know of the numbers, in sentences."""
        test, effect = TESTS[self.options.test]
        correction = self.options.correction
        corrected = (
            "p is not corrected for their number"
            if correction is None
            else f"p ({correction}) is corrected over these {self.family} comparisons"
        )
        dropped = f"; {self.dropped} without any difference left out" if self.dropped else ""
        return [
            f"B - A with its {100 * (1 - self.options.alpha):g} % interval, over "
            f"{self.queries} queries. Wins: queries in which B is better.",
            f"Test: {test}, for sgnLP the sign test, two-sided; effect: {effect}; "
            f"{corrected}{dropped}.",
        ]

    def verdicts(self) -> list[tuple[bool, str]]:
        """Of each condition whether it holds, and a line that says so.

        Their p-values are corrected over the conditions that ask for one, not over all that is
        shown: a guard does not change its mind with what else is looked at.
        """
        tested = sorted({name for asked, name in self._conditions if asked.level is not None})
        rows = {row["measure"]: row for row in self.summary.to_dict("records")}
        corrected = correct([rows[name]["p"] for name in tested], self.options.correction)
        p = dict(zip(tested, corrected.p.tolist()))
        verdicts = []
        for condition, name in self._conditions:
            found = Found(
                rows[name]["a"], rows[name]["difference"], self.higher_is_better[name],
                p.get(name, float("nan")),
            )  # fmt: skip
            line = conditions_of.verdict(
                condition, found, family=corrected.family, correction=self.options.correction
            )
            verdicts.append((conditions_of.holds(condition, found), line))
        return verdicts

    def differences(self) -> pd.DataFrame:
        """B less A by query (rows) and measure (columns), queries in their order."""
        order = list(dict.fromkeys(self.by_query["measure"]))
        columns = {
            name: self.by_query.loc[self.by_query["measure"] == name, "difference"].to_numpy()
            for name in order
        }
        return pd.DataFrame({"qid": pd.unique(self.by_query["qid"]), **columns})


def compare_runs(
    qrels: str,
    run_a: str | os.PathLike[str],
    run_b: str | os.PathLike[str],
    measures: Iterable[str] = (),
    *,
    conditions: Iterable[str] = (),
    options: Options = Options(),  # noqa: B008 - it cannot change
    pool: str | None = None,
    lengths: str | None = None,
    rel: float | None = None,
) -> RunComparison:
    """Compares two run files.

    Args:
        qrels: file or ir_datasets id.
        run_a: the file of the baseline.
        run_b: the file of what is compared with it.
        measures: names; see :func:`~pyterrier_asl.requested.parse_measures`. None at all: those of
            :func:`~pyterrier_asl.requested.default_measures`.
        conditions: as :func:`~pyterrier_asl.conditions.parse_condition` reads them; their measures
            are measured, too.
        options: how differences are tested.
        pool: as of :func:`~pyterrier_asl.run_files.measure_files`.
        lengths: likewise.
        rel: likewise.

    Raises:
        ValueError: for what is no run, qrels, measure or condition.
        OSError: for a file that cannot be read.
    """
    asked = [conditions_of.parse_condition(text) for text in conditions]
    paths = _two(run_a, run_b)
    typed = _parsed(measures)
    guarded = {name: _guarded(name) for name in conditions_of.measures_of(asked)}
    judgements = read_judgements(qrels)
    if typed is None:
        typed = measures_for(qrels, several=pool is not None, lengths=lengths is not None, rel=rel)
    both = [*typed, *(one for one in guarded.values() if one is not None)]
    given = completed(both, pool=pool, lengths=lengths, rel=rel)
    shown = unique(given)
    names = _names_of(guarded, given[len(typed) :], shown)
    higher: dict[str, bool | None] = {one.name: one.higher_is_better for one in shown}
    higher |= dict.fromkeys(PREFERENCES, True)
    for condition in asked:
        name = names[condition.measure]
        conditions_of.check(condition, higher[name], has_means=name not in PREFERENCES)
    runs = {str(path): read_run_table(path) for path in paths}
    values = _values(runs, judgements, shown)
    judged = [judgements.judge_whole(run) for run in runs.values()]
    least = _least_grade(shown, rel)
    values += _preferences(judgements, judged, least)
    summary, family, dropped = _summary(values, higher, options)
    return RunComparison(
        _short(paths), len(judgements), summary, _by_query(judgements, values),
        _moved(judgements, judged, shown, least), higher, least, options, family, dropped,
        grades_hint(float(judgements.grades.max()), shown),
        [(condition, names[condition.measure]) for condition in asked],
    )  # fmt: skip


# What is asked for


def _two(run_a: str | os.PathLike[str], run_b: str | os.PathLike[str]) -> list[Path]:
    paths = [Path(run_a), Path(run_b)]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name two run files")
    if paths[0].samefile(paths[1]):
        raise ValueError(f"{paths[0]} and {paths[1]} are one file: name two runs")
    return paths


def _short(paths: Sequence[Path]) -> tuple[str, str]:
    """The names of the runs; the files as they were given where both have one name."""
    a, b = map(run_name, paths)
    return (a, b) if a != b else (str(paths[0]), str(paths[1]))


def _parsed(measures: Iterable[str]) -> list[Requested] | None:
    """The measures named, without the preferences, which are there anyway; None: none named."""
    named = [word for text in measures for word in words(text)]
    wanted = [word for word in named if word not in PREFERENCES]
    if not named:
        return None
    return parse_measures(wanted) if wanted else []


def _guarded(name: str) -> Requested | None:
    """The measure of a condition; None of a preference."""
    if name in PREFERENCES:
        return None
    found = parse_measures(name)
    if len(found) != 1:
        raise ValueError(f"a condition speaks of one measure, but {name!r} is {len(found)}")
    return found[0]


def _names_of(
    guarded: dict[str, Requested | None], given: Sequence[Requested], shown: Sequence[Requested]
) -> dict[str, str]:
    """The row of each condition's measure."""
    rows = {one.key: one.name for one in shown}
    complete = iter(given)
    return {
        name: name if one is None else rows[next(complete).key] for name, one in guarded.items()
    }


def _least_grade(shown: Sequence[Requested], rel: float | None) -> float:
    """What preferences take for relevant: as LexiP, which stands for the same."""
    of_lexip = [one.measure["rel"] for one in shown if one.measure.NAME == "LexiP"]
    return float(of_lexip[0] if of_lexip else 1 if rel is None else rel)


# What comes out


@dataclass(frozen=True)
class _Values:
    """A measure of both runs for every query, or a preference, which only has differences."""

    name: str
    a: Floats
    b: Floats
    difference: Floats
    sign_only: bool = False

    def compared(self, options: Options) -> tuple[str, Any]:
        """The test's name and what it says."""
        test = "sign" if self.sign_only else options.test
        pair = (self.difference, np.zeros_like(self.difference))
        if not np.isnan(self.a).any():
            pair = (self.b, self.a)
        return test, compare_pair(*pair, test, alpha=options.alpha, seed=options.seed)


def _values(
    runs: dict[str, Any], judgements: Judgements, shown: Sequence[Requested]
) -> list[_Values]:
    if not shown:
        return []
    found = evaluate(runs, judgements, {one.name: one.measure for one in shown}, progress=False)
    rows = (matrix(found, one.name).to_numpy() for one in shown)
    return [_Values(one.name, a, b, b - a) for one, (a, b) in zip(shown, rows)]


def _preferences(
    judgements: Judgements, judged: Sequence[JudgedRun], rel: float
) -> list[_Values]:
    """rrLP and sgnLP of B over A."""
    levels = RecallLevels(judgements, rel=rel)
    a, b = (levels.of_judged(run) for run in judged)
    _, value = first_difference(b, a, levels.total)
    none = np.full(len(value), np.nan)
    return [
        _Values("rrLP", none, none, value),
        _Values("sgnLP", none, none, np.sign(value), sign_only=True),
    ]


def _summary(
    values: Sequence[_Values], higher: dict[str, bool | None], options: Options
) -> tuple[pd.DataFrame, int, int]:
    rows = []
    for one in values:
        test, found = one.compared(options)
        gain = one.difference if higher[one.name] in (True, None) else -one.difference
        rows.append(
            {
                "measure": one.name,
                "a": float(one.a.mean()),
                "b": float(one.b.mean()),
                "difference": found.difference,
                "ci_low": found.ci_low,
                "ci_high": found.ci_high,
                "effect": found.effect,
                "wins": int((gain > 0).sum()),
                "losses": int((gain < 0).sum()),
                "ties": int((gain == 0).sum()),
                "p": found.p,
                "test": test,
            }
        )
    frame = pd.DataFrame(rows)
    corrected = correct(frame["p"], options.correction)
    frame.insert(list(frame.columns).index("p") + 1, "p_corrected", corrected.p)
    return frame, corrected.family, corrected.dropped


def _by_query(judgements: Judgements, values: Sequence[_Values]) -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {
                "qid": pd.Series(judgements.qids),
                "measure": one.name,
                "a": one.a,
                "b": one.b,
                "difference": one.difference,
            }
        )
        for one in values
    ]
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _moved(
    judgements: Judgements, judged: Sequence[JudgedRun], shown: Sequence[Requested], rel: float
) -> pd.DataFrame:
    """Every relevant document that moved, by its search length in ASL's view of the runs."""
    asl = next((one.measure for one in shown if one.measure.NAME in ("ASL", "nASL")), None)
    view: dict[str, Any] = {"rel": rel if asl is None else asl["rel"]}
    if asl is not None:
        view["cutoff"] = asl["cutoff"]
    a, b = (RelevantDocuments.of(run, **view) for run in judged)
    wanted = np.flatnonzero((judgements.grades >= view["rel"]) & (judgements.grades >= 0))
    frame = pd.DataFrame(
        {
            "qid": pd.Series(judgements.qids).iloc[a.queries].to_numpy(),
            "docno": judgements.docnos.take(wanted).to_pandas(),
            "a": a.lengths,
            "b": b.lengths,
            "change": b.lengths - a.lengths,
            "found": np.select(
                [a.found & b.found, a.found, b.found], ["both", "A", "B"], default="neither"
            ).astype(object),
        }
    )
    order = np.argsort(-frame["change"].abs().to_numpy(), kind="stable")
    frame = frame.iloc[order]
    return frame[frame["change"] != 0].reset_index(drop=True)
