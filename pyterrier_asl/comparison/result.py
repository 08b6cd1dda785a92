"""Results of a comparison of runs with a baseline: tables, sentences, verdicts, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..assessment.system_pairs import PairedTest
from ..charts.forms import alt, captioned, in_rows, inline_rows, ranges, tooltips
from ..io.notices import counted, names_of
from ..io.printed import Part, Printed
from ..io.table_forms import format_value
from ..io.tables import arrow, typeset
from ..measures.directions import value_range
from ..measures.names import added_up
from ..scoring.arrays import Floats
from ..statistics.correction import correct
from ..statistics.intervals import detectable_difference
from ..statistics.tests import compare_pair
from .answers import ALLOW, Answers
from .causes.find import causes_frame, sentence
from .conditions import Condition
from .guard import Limits, Observed, Verdict, smallest_p, test_of, uncorrected_p, verdict_on
from .printing import means_parts, moved_parts

#: Preferences of lexicographic precision (Diaz 2023), which are defined for pairs of runs.
PREFERENCES = ("rrLP", "sgnLP")

#: A note on the comparisons that the p-values are for.
PLANNED = (
    "The p-values are for comparisons planned before looking at the results; 'ranks' says which "
    "run could be the best."
)

#: The bounds of runs' differences from the baseline, by run and measure.
AllLimits: TypeAlias = dict[tuple[str, str], Limits]

#: Tests of two runs by name, with a description and the effect size.
TESTS = {
    "t": ("t-test for pairs", "Cohen's d_z"),
    "wilcoxon": ("Wilcoxon's signed-rank test", "rank-biserial r"),
    "sign": ("sign test", "(wins - losses) / both"),
    "randomization": ("randomization test", "Cohen's d_z"),
}


@dataclass(frozen=True)
class RunDifference:
    """The values of a run and of the baseline by query in a measure, or a preference.

    Attributes:
        run: the name of the run.
        name: the name of the measure.
        higher_is_better: its direction; None of a count.
        a: the values of the baseline, NaN for a preference, shape (Q,).
        b: the values of the run.
        difference: the run's value less the baseline's, or the preference.
        qids: the ids of the queries.
        tracks: the collection of each query, where there are several.
    """

    run: str
    name: str
    higher_is_better: bool | None
    a: Floats
    b: Floats
    difference: Floats
    qids: list[Any]
    tracks: Sequence[str] = ()

    @property
    def gain(self) -> Floats:
        """The gain by query: above 0 where the run is better, or of a count larger."""
        return -self.difference if self.higher_is_better is False else self.difference

    def row(self, limits: AllLimits, options: PairedTest) -> dict[str, Any]:
        """The row of the table."""
        bounds = limits.get((self.run, self.name))
        low, high = bounds.means if bounds else (np.nan, np.nan)
        test = "sign" if self.name == "sgnLP" else options.test
        is_preference = self.name in PREFERENCES
        pair = (self.difference, np.zeros_like(self.a)) if is_preference else (self.b, self.a)
        seed = options.seed if test == "randomization" else None
        tested = compare_pair(*pair, test, alpha=options.alpha, seed=seed)
        return {
            "run": self.run,
            "measure": self.name,
            "a": float(self.a.mean()),
            "b": float(self.b.mean()),
            "difference": tested.difference,
            "ci_low": tested.ci_low,
            "ci_high": tested.ci_high,
            "low": low,
            "high": high,
            "effect": tested.effect,
            "wins": int((self.gain > 0).sum()),
            "losses": int((self.gain < 0).sum()),
            "ties": int((self.gain == 0).sum()),
            "p": tested.p,
            "test": test,
            "detectable": detectable_difference(self.difference, alpha=options.alpha),
        }

    def by_query(self) -> pd.DataFrame:
        """A row for each query, the largest loss first."""
        frame = pd.DataFrame(
            {
                "run": self.run,
                "qid": self.qids,
                "measure": self.name,
                "a": self.a,
                "b": self.b,
                "difference": self.difference,
            }
        )
        return frame.iloc[np.argsort(self.gain, kind="stable")]


@dataclass(frozen=True, repr=False, eq=False)
class RunComparison(Printed):
    """Runs compared with a baseline; what :func:`compare` returns.

    Attributes:
        baseline: the name of the baseline, A.
        runs: the names of the runs that are compared with it.
        queries: the number of queries.
        table: a row for each run and measure, and for each of :data:`PREFERENCES`: ``run``,
            ``measure``; ``a``, ``b``, the means of baseline and run (none of a preference);
            ``difference``, ``ci_low``, ``ci_high``, ``effect``; ``wins``, ``losses``, ``ties``,
            queries in which the run is better, worse, equal (of a count: more, less, equal);
            with ``bounds`` ``low`` and ``high``, the bounds of the difference over the labels of
            the two runs' unjudged documents (empty for measures without bounds);
            ``p``; ``p_corrected``, over all rows with a test; both are 1 where all queries are
            equal, so that there is no test; ``test``;
            ``detectable``, the smallest difference that a t-test over these queries detects
            with probability .8.
        by_query: a row for each run, measure and query, the largest loss first: ``run``, ``qid``,
            ``measure``, ``a``, ``b``, ``difference``.
        moved: the relevant documents that a run or the baseline retrieved, by how far they moved,
            farthest first: ``run``, ``qid``, ``docno``, ``a``, ``b`` (search lengths),
            ``change``, ``found`` (``both``, ``A``, ``B``).
        retrieved: for each run how many relevant documents were retrieved by ``both``, by ``A``
            only, by ``B`` only and by ``neither``; of those that both retrieved, how many are
            ``nearer`` to the top in the run and how many ``farther`` from it.
        answers: the queries and documents that the baseline or a run lacks.
        causes: the causes of differences other than the systems, which
            :func:`~pyterrier_asl.comparison.causes.find.find_causes` found for each run.
        higher_is_better: by measure; None of a count.
        rel: the least grade of a relevant document, for preferences and documents.
        options: the test and its correction; sgnLP, which is only a sign, always has the sign
            test.
        family: the number of p-values that were corrected together.
        dropped: the number of comparisons without a p-value.
        by_track: of several collections the same of each; see
            :class:`~pyterrier_asl.comparison.values.TrackComparison`.
        zero_p: the bound of a corrected p-value of 0, where p is a share of random draws; else 0.
    """

    baseline: str
    runs: list[str]
    queries: int
    table: pd.DataFrame
    by_query: pd.DataFrame
    higher_is_better: dict[str, bool | None]
    options: PairedTest
    family: int
    dropped: int
    moved: pd.DataFrame = field(default_factory=pd.DataFrame)
    retrieved: pd.DataFrame = field(default_factory=pd.DataFrame)
    answers: Answers = field(default_factory=Answers)
    causes: pd.DataFrame = field(default_factory=causes_frame)
    rel: float = 1
    _conditions: list[tuple[Condition, str]] = field(default_factory=list)
    _measures: Mapping[str, Any] = field(default_factory=dict)
    _limits: AllLimits = field(default_factory=dict)
    _allow_missing: bool = False
    by_track: pd.DataFrame | None = None
    zero_p: float = 0.0

    def parts(self) -> list[Part]:
        """The parts that ``pyterrier-asl compare`` prints."""
        return [*means_parts(self), *moved_parts(self)]

    def sentences(self) -> list[str]:
        """For each run by which measures it is significantly better or worse than the baseline."""
        if no_test := self._no_test():
            return [no_test]
        sentences = []
        for run in self.runs:
            names: dict[str, list[str]] = {"better": [], "worse": [], "higher": [], "lower": []}
            rest: list[str] = []
            for row in self.table[self.table["run"] == run].to_dict("records"):
                name, up = row["measure"], row["difference"] > 0
                direction = self.higher_is_better[name]
                words = ("lower", "higher") if direction is None else ("worse", "better")
                is_significant = row["p_corrected"] <= self.options.alpha and row["difference"]
                chosen = names[words[up == (direction is not False)]] if is_significant else rest
                chosen.append(name)
            sentences += [
                f"{run} is significantly {word} than {self.baseline} by {names_of(of_word, 8)}."
                for word, of_word in names.items()
                if of_word
            ]
            if rest:
                sentences.append(
                    f"No significant difference of {run} from {self.baseline} by "
                    f"{names_of(rest, 8)}."
                )
        return sentences

    def notes(self) -> list[str]:
        """Notes on the numbers, in sentences."""
        queries = counted(self.queries, "query", "queries")
        only = " (not corrected)" if self.family > 1 and self.options.correction != "none" else ""
        counts = names_of(
            [name for name, up in self.higher_is_better.items() if up is None] or [""]
        )
        level = f"with its {100 * (1 - self.options.alpha):g} % interval{only}, "
        return [
            f"B - A {level if self.queries > 1 else ''}over {queries}. "
            f"Wins: queries in which B is better{counts and f' ({counts}: higher)'}.",
            *self._notes_on_sums(),
            *([] if self._no_test() else [self._test_note(), PLANNED]),
            *self.answers.notes,
            *self.causes_notes(),
        ]

    def _notes_on_sums(self) -> list[str]:
        """A note on counts, which are added up over queries elsewhere."""
        sums = names_of([name for name in self.higher_is_better if added_up(name)] or [""])
        return [f"{sums}: means over queries; 'evaluate' prints sums."] if sums else []

    def causes_notes(self) -> list[str]:
        """The causes of all differences, in sentences."""
        named = len(self.runs) > 1
        return [
            f"Why: {f'{run}: ' if named else ''}{text}"
            for run in self.runs
            for text in self.why(run)
        ]

    def why(self, run: str) -> list[str]:
        """The causes of the difference of a run, in sentences."""
        causes = self.causes[self.causes["run"] == run]
        return [sentence(row) for row in causes.to_dict("records")]

    def _untestable(self, run: str, name: str, condition: Condition, least_p: float) -> str:
        """The reason why a condition cannot be tested, ``least_p`` its smallest possible p."""
        if reason := self.answers.untestable.get((run, name), ""):
            return reason
        causes = self.causes[(self.causes["run"] == run) & (self.causes["comparable"] == False)]  # noqa: E712
        if len(causes) and (condition.certainly or not self._allow_missing):
            return (
                f"the runs cannot be compared: {causes['evidence'].iloc[0]}; "
                f"{causes['remedy'].iloc[0]}{'' if condition.certainly else f', {ALLOW}'}"
            )
        if condition.level is not None and least_p >= condition.level:
            return (
                f"no test can be made: p cannot be below {least_p:.3g} over "
                f"{counted(self.queries, 'query', 'queries')}; raise the level, compare on more "
                "queries, or leave out p<"
            )
        return ""

    def _extremes(self, name: str) -> tuple[float, float]:
        """The lowest and the highest value of a measure, as far as they are known."""
        if name in PREFERENCES:
            return -1.0, 1.0
        measure = self._measures.get(name)
        return value_range(measure, len(self.runs) + 1) if measure else (-math.inf, math.inf)

    def chart(self) -> Any:
        """The difference of each run from the baseline by each measure, with its interval."""
        rows = self.table.reset_index(drop=True)
        has_interval = "ci_low" in rows
        if not has_interval:
            rows = rows.assign(ci_low=rows["difference"], ci_high=rows["difference"])
        ways = {name: arrow(up) for name, up in self.higher_is_better.items()}
        rows["panel"] = [f"{name} {ways[name]}".rstrip() for name in rows["measure"]]
        shown = ["run:N", "measure:N", "a:Q", "b:Q", "difference:Q", "p_corrected:Q"]
        base = alt.Chart().encode(
            y=alt.Y("run:N", sort=self.runs, title=None), tooltip=tooltips(*shown)
        )
        title = f"difference from {self.baseline}"
        zero = alt.Chart().mark_rule(color="gray").encode(x=alt.datum(0))
        layers = (zero, ranges(base, "ci_low", "difference", "ci_high", title))
        panels = in_rows(alt.layer(*layers, data=inline_rows(rows)), "panel", rows["panel"])
        caption = f"Means over {counted(self.queries, 'query', 'queries')}" + (
            f", with {100 * (1 - self.options.alpha):g} % intervals." if has_interval else "."
        )
        compared = f"Runs compared with {self.baseline}"
        return captioned(panels.resolve_scale(x="independent"), compared, caption)

    def _no_test(self) -> str:
        """The reason why there is no test; '' where there is one."""
        if self.queries < 2:
            queries = "is only 1 query" if self.queries else "is no query"
            return f"No test can be made: there {queries}."
        equal = "No test is made: A and B have equal values in every query, by every measure."
        return "" if self.family else equal

    def _test_note(self) -> str:
        """The test, and the number of comparisons of the correction."""
        test, effect = TESTS[self.options.test]
        has_other = "sgnLP" in self.higher_is_better and self.options.test != "sign"
        preferences = ", for sgnLP the sign test" if has_other else ""
        these = "this comparison" if self.family == 1 else f"these {self.family} comparisons"
        corrected = (
            "p is not corrected"
            if self.options.correction == "none"
            else f"p ({self.options.correction}) is corrected over {these}"
        )
        dropped = f"; {self.dropped} without any difference left out" if self.dropped else ""
        return (
            f"Test: {test}{preferences}, two-sided; effect: {effect}; {corrected}{dropped}; "
            f"significant: p at most {self.options.alpha:g}."
        )

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdict on each condition for each run, then on unanswered queries.

        p-values are corrected over the conditions with a test, not over the whole table: a
        verdict does not depend on the other measures.
        """
        groups = self.by_query.groupby(["run", "measure"], sort=False)["difference"]
        by_query: dict[Any, Floats] = {key: values.to_numpy() for key, values in groups}
        observed = {
            (row["run"], row["measure"]): Observed(
                row["a"],
                row["difference"],
                self.higher_is_better[row["measure"]],
                row["p"],
                by_query[row["run"], row["measure"]],
                self._extremes(row["measure"]),
                self.answers.neither.get(row["run"], 0),
            )
            for row in self.table.to_dict("records")
        }
        tested = [(run, *pair) for run in self.runs for pair in self._conditions]
        p = {
            test_of(run, condition, name): uncorrected_p(condition, observed[run, name])
            for run, condition, name in tested
            if condition.level is not None
        }
        by_signs, least = self.by_track is not None, []
        for run, name, _ in p:
            test = "sign" if by_signs or name == "sgnLP" else self.options.test
            is_equal = not observed[run, name].by_query.any()
            least.append(0.0 if is_equal else smallest_p(test, self.queries))
        corrected = correct(list(p.values()), self.options.correction)
        least_p = correct(least, self.options.correction).p.tolist()
        corrected_p = dict(zip(p, zip(corrected.p.tolist(), least_p)))
        verdicts = []
        for run, condition, name in tested:
            p_here, least_here = corrected_p.get(test_of(run, condition, name), (math.nan, 0.0))
            verdicts.append(
                verdict_on(
                    condition,
                    run,
                    replace(observed[run, name], p=p_here),
                    family=corrected.family,
                    correction=self.options.correction,
                    limits=self._limits[run, name] if condition.certainly else None,
                    untestable=self._untestable(run, name, condition, least_here),
                    why=self.why(run),
                    has_power=not by_signs,
                )
            )
        unanswered = tested and not self._allow_missing
        return [*verdicts, *(self.answers.verdicts(self.baseline) if unanswered else [])]

    def differences(self) -> pd.DataFrame:
        """B less A by query (rows) and measure (columns), the largest loss by the first measure
        first; with several runs, run by run."""
        wide = self.by_query.pivot_table(
            index=["run", "qid"], columns="measure", values="difference", sort=False
        )
        frame = wide[list(dict.fromkeys(self.by_query["measure"]))].reset_index()
        frame.columns.name = None
        return frame.drop(columns="run") if len(self.runs) == 1 else frame

    def to_latex(self, *, places: int = 4) -> str:
        """A ``tabular`` with booktabs' rules: one row per run, the baseline first.

        A superscript + or - marks a difference from the baseline that is significant at ``alpha``
        after the correction, + where the run is better. Bold is the best of each measure.

        Args:
            places: decimal places.
        """
        shown = [name for name in self.higher_is_better if name not in PREFERENCES]
        if not shown:
            raise ValueError("a LaTeX table has no rrLP and sgnLP: name a measure of each run")
        columns = {}
        for name in shown:
            rows = self.table[self.table["measure"] == name]
            values = [float(rows["a"].iloc[0]), *rows["b"].tolist()]
            up = self.higher_is_better[name]
            best = None if up is None else max(values) if up else min(values)
            significant = (rows["p_corrected"] <= self.options.alpha) & (up is not None)
            signs = np.where((rows["difference"] > 0) == up, "$^{+}$", "$^{-}$")
            marks = ["", *np.where(significant, signs, "").tolist()]
            texts = [format_value(value, places) for value in values]
            columns[name] = [
                (rf"\textbf{{{text}}}" if value == best else text) + mark
                for text, value, mark in zip(texts, values, marks)
            ]
        frame = pd.DataFrame(columns, index=pd.Index([self.baseline, *self.runs]))
        styler = frame.style.format_index(escape="latex").format_index(escape="latex", axis=1)
        return typeset(styler, column_format="l" + "r" * len(shown))


def comparison_of(
    baseline: str,
    differences: Sequence[RunDifference],
    options: PairedTest,
    *,
    limits: AllLimits | None = None,
    bounds: bool = False,
    **details: Any,
) -> RunComparison:
    """Tests the differences of runs from a baseline.

    Args:
        baseline: the name of the baseline.
        differences: the differences of every run by every measure.
        options: the test and its correction.
        limits: the bounds of differences, where they were computed.
        bounds: whether the table shows them.
        **details: further attributes of :class:`RunComparison`.
    """
    limits = limits or {}
    table = pd.DataFrame([values.row(limits, options) for values in differences])
    corrected = correct(table["p"], options.correction)
    table.insert(list(table).index("p") + 1, "p_corrected", corrected.p)
    # Equal values are fully compatible with no difference; a test gives NaN for them.
    table.loc[[not values.difference.any() for values in differences], ["p", "p_corrected"]] = 1.0
    return RunComparison(
        baseline,
        list(dict.fromkeys(values.run for values in differences)),
        len(differences[0].qids),
        table if bounds else table.drop(columns=["low", "high"]),
        pd.concat([values.by_query() for values in differences], ignore_index=True),
        {values.name: values.higher_is_better for values in differences},
        options,
        corrected.family,
        corrected.dropped,
        _limits=limits,
        **details,
    )
