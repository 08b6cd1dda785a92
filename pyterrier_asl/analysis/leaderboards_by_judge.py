"""Does the leaderboard depend on the judge? People, crowds and language models, side by side.

The same runs are measured under several judgements of the same topics. Whether two judges agree on
documents is another question: :mod:`~pyterrier_asl.analysis.judges`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..charts.captions import captioned
from ..charts.forms import CAPTION, COLORS, STEP, WIDTH, first_of, ranks_on_lists
from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.slices import Queries
from ..judging.judgements import Judgements
from ..measures.names import higher_is_better, named_measures, with_options
from ..statistics.correlation import kendall_tau, rank_biased_overlap_of_scores, tau_ap
from ..statistics.tests import compare_all
from .comparisons import PairedTest, as_frame, corrected
from .judges import judges_agreement_chart
from .places import ranks, rounded
from .registry import JUDGES, analysis
from .several_judges import least_grades, relevant_by

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Boards:
    """Runs measured under several judges, over the topics that all of them judged.

    Attributes:
        measure: the measure, as it is called.
        sign: 1 where larger is better, -1 where smaller is.
        systems: names of the runs, S of them.
        qids: the topics, Q of them.
        values: judge -> values, shape (S, Q).
        judgements: those of the first judge.
    """

    measure: str
    sign: int
    systems: list[str]
    qids: list[Any]
    values: dict[str, Floats]
    judgements: Judgements

    @classmethod
    def of(
        cls, runs: Any, judges: Mapping[str, Any], *, measure: Any = "AP",
        rel: float | None = None, judge_rel: Any = None, duplicates: str | None = None,
    ) -> Boards:
        """Measures the runs under every judge; they are read once.

        Args:
            runs: dict of name -> run, folder, list of files, or JudgedRuns.
            judges: name -> qrels.
            measure: the measure, or its name.
            rel: minimum grade of a relevant document, for measures that have one; None: the
                measure's own.
            judge_rel: judge -> minimum grade, where it is another.
            duplicates: see :func:`~pyterrier_asl.evaluate`.

        Raises:
            ValueError: for a judge who finds nothing relevant.
        """
        options: dict[str, Any] = {"rel": rel, "judge_rel": judge_rel, "duplicates": duplicates}
        return cls.of_many(runs, judges, measures=[measure], **options)[0]

    @classmethod
    def of_many(
        cls, runs: Any, judges: Mapping[str, Any], *, measures: Iterable[Any],
        rel: float | None = None, judge_rel: Any = None, duplicates: str | None = None,
    ) -> list[Boards]:
        """The same by several measures; the runs are matched with each judge once."""
        if len(judges) < 2:
            raise ValueError(f"there are {len(judges)} judges: comparing takes at least two")
        parsed = [one.measure for one in named_measures(list(measures))]
        least = least_grades(judges, rel, judge_rel)
        topics: dict[str, list[str]] = {}
        values: list[dict[str, Floats]] = [{} for _ in parsed]
        judged: JudgedRuns | None = None
        first: JudgedRuns | None = None
        for name, qrels in judges.items():
            judged = JudgedRuns.of(judged or runs, qrels, duplicates=duplicates)
            first = first or judged
            topics[str(name)] = judged.judgements.qid_text.to_pylist()
            for measure, of_judges in zip(parsed, values):
                asked = with_options(measure, least[str(name)])
                has_rel = "rel" in asked.SUPPORTED_PARAMS
                relevant_by(str(name), judged.judgements, asked["rel"] if has_rel else 1)
                of_judges[str(name)] = judged.values(asked)
        assert first is not None
        common = set.intersection(*map(set, topics.values()))
        shared = [qid for qid in first.qids if str(qid) in common]
        if not shared:
            raise ValueError("no topic was judged by all judges: are their topic ids alike?")
        at = {name: [known.index(str(qid)) for qid in shared] for name, known in topics.items()}
        return [
            cls(
                str(measure), -1 if higher_is_better(measure) is False else 1, first.names, shared,
                {name: matrix[:, at[name]] for name, matrix in of_judges.items()},
                first.judgements,
            )
            for measure, of_judges in zip(parsed, values)
        ]  # fmt: skip

    def scores(self, judge: str, queries: Queries) -> Floats:
        """The systems' means under a judge, larger is better, shape (S,)."""
        return np.asarray(rounded(self.sign * queries.mean(self.values[judge])))

    def compared(
        self, queries: Queries, test: str, correction: str | None, alpha: float,
        n_resamples: int, seed: int,
    ) -> dict[str, pd.DataFrame]:
        """All pairs of systems under each judge, differences positive where the first is better."""
        return {
            judge: compare_all(
                self.sign * queries.of(values), self.systems, weights=queries.weights, test=test,
                correction=correction, alpha=alpha, n_resamples=n_resamples, seed=seed,
            )
            for judge, values in self.values.items()
        }  # fmt: skip

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every two judges."""
        return combinations(self.values, 2)


@analysis("leaderboards", JUDGES, "systems", group_by="judge")
def leaderboards(
    boards: Boards,
    queries: Queries,
    *,
    reference: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Every system under every judge, and what each gains or loses.

    A lenient judge raises every system. What a system gains beyond what all of them gain on average
    is what the judge does for *it*, and that is tested.

    Args:
        rel: minimum grade of a relevant document; None: the measure's own.
        reference: the judge that others are compared with; by default the first.
        correction: over all systems and judges but the reference.

    Returns:
        One row for each judge and run, best first, with ``judge``, ``run``, ``value``, ``rank``
        (equal values share the best), ``rank_change`` (ranks up, by the reference's order),
        ``gain`` (value less the reference's), ``own_gain`` (gain less the mean gain of all systems;
        in the measure's space, so negative is better for ASL), its ``ci_low``, ``ci_high``,
        ``effect``, ``statistic``, ``p``, ``p_corrected``, ``significant``. NaN for the reference.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> leaderboards(runs, judges)[["judge", "run", "value", "rank", "rank_change", "gain"]]
        judge run  value  rank  rank_change  gain
    0  person   a    1.0     1            0   0.0
    1  person   b    0.5     2            0   0.0
    2   model   b    1.0     1            1   0.5
    3   model   a    0.5     2           -1  -0.5
    """
    base = next(iter(boards.values)) if reference is None else reference
    if base not in boards.values:
        raise ValueError(f"reference {base!r} is none of the judges {list(boards.values)}")
    paired = PairedTest(test, None, alpha, n_resamples, seed)
    original = boards.values[base]
    parts = []
    for judge, values in boards.values.items():
        scores = boards.scores(judge, queries)
        frame = pd.DataFrame({"judge": judge, "run": boards.systems})
        frame["value"] = boards.sign * scores
        frame["rank"] = ranks(scores)
        frame["rank_change"] = ranks(boards.scores(base, queries)) - frame["rank"]
        gains = values - original
        tests = own_gains(gains, gains.mean(axis=0), queries, paired)
        parts.append(pd.concat([frame, tests], axis=1).sort_values("rank", kind="stable"))
    board = pd.concat(parts, ignore_index=True)
    board.attrs = {"measure": boards.measure, "reference": base}
    return board


def own_gains(gains: Floats, average: Floats, queries: Queries, paired: PairedTest) -> pd.DataFrame:
    """What each system gains, and what of it is its own: beyond what all gain on average.

    Args:
        gains: what a judge adds to each system's values, shape (S, Q).
        average: the mean of all systems' gains, shape (Q,).
        queries: the queries that the means are over.
        paired: the test of each gain against the average.

    Returns:
        ``gain``, ``own_gain``, ``ci_low``, ``ci_high``, ``effect``, ``statistic``, ``p``, one row a
        system.
    """
    rows = [paired.of(gain, average, queries) for gain in gains]
    gain = queries.mean(gains)
    found = pd.DataFrame({"gain": gain, "own_gain": gain - queries.mean(average)})
    return pd.concat([found, pd.DataFrame(rows).drop(columns="difference")], axis=1)


leaderboards.finish(corrected)


@leaderboards.chart
def leaderboards_chart(frame: pd.DataFrame) -> Any:
    """The rank of every system under every judge."""
    shown = ["run", "judge", "rank", "rank_change", "value", "own_gain", "p_corrected"]
    drawn = ranks_on_lists(frame, "judge", "rank_change", tooltip=shown)
    caption = (
        f"Ranks by {frame.attrs.get('measure', 'the measure')} under each judge, best at the "
        f"top; a line is a system, its colour how many ranks it moves at most from its rank "
        f"under {frame.attrs.get('reference', frame['judge'].iloc[0])}."
    )
    return captioned(drawn, "One leaderboard, several judges", caption)


@analysis("leaderboard-agreement", JUDGES, "systems")
def leaderboard_agreement(
    boards: Boards,
    queries: Queries,
    *,
    p: float = 0.9,
    test: str = "tukey-two-way",
    correction: str | None = "auto",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """How far every two judges agree on the ranking of systems.

    Args:
        rel: minimum grade of a relevant document; None: the measure's own.
        p: persistence of RBO; at .9 the first ten systems have 86 % of the weight.
        test: of all pairs of systems under each judge; with weights ``'tukey-randomized'``,
            ``'t'`` or ``'randomization'``.
        correction: of a test of pairs, over all pairs of systems of one judge; Tukey tests have
            none.
        alpha: the level of significance.

    Returns:
        One row for every two judges, with ``judge_a``, ``judge_b``, ``tau`` (Kendall's tau-b),
        ``tau_AP`` (both directions averaged: neither judge is the truth), ``RBO``, ``pairs`` of
        systems, and how many of them are ``reversed``; ``reversed_significant`` (significant under
        one of the two), ``reversed_both`` (significant under both, in opposite directions),
        ``significant_a``, ``significant_b`` and ``significant_both`` (and in the same direction).

    Sources: Kendall 1945; Yilmaz, Aslam and Robertson 2008; Webber, Moffat and Zobel 2010.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> leaderboard_agreement(runs, judges)[["judge_a", "judge_b", "tau", "reversed"]]
      judge_a judge_b  tau  reversed
    0  person   model -1.0         1
    """
    compared = boards.compared(queries, test, correction, alpha, n_resamples, seed)
    rows = []
    for a, b in boards.pairs():
        scores = boards.scores(a, queries), boards.scores(b, queries)
        orders = {
            "tau": kendall_tau(*scores),
            "tau_AP": tau_ap(*scores, symmetric=True),
            "RBO": rank_biased_overlap_of_scores(*scores, p=p),
        }
        rows.append({"judge_a": a, "judge_b": b, **orders, **swap_counts(compared[a], compared[b])})
    frame = as_frame(rows)
    frame.attrs = {"measure": boards.measure, "test": test, "alpha": alpha, "RBO p": p}
    return frame


leaderboard_agreement.chart(judges_agreement_chart)


@analysis("leaderboard-swaps", JUDGES, "systems")
def leaderboard_swaps(
    boards: Boards,
    queries: Queries,
    *,
    test: str = "tukey-two-way",
    correction: str | None = "auto",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Significant differences that another judge reverses.

    Args:
        rel: minimum grade of a relevant document; None: the measure's own.
        test: as of :func:`leaderboard_agreement`.
        correction: likewise.
        alpha: the level of significance.

    Returns:
        One row for every such swap, by the smaller p, then by the smaller difference, largest
        first: ``judge_a``, ``judge_b``, ``better`` (the run that judge a prefers), ``worse``, the
        ``difference_a`` and ``difference_b`` of the two runs' means, the tests' ``p_a`` and
        ``p_b``, ``significant_a`` and ``significant_b``. Empty where there is none.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"e": 2, "d": 1}}}
    >>> judges = {"person": {"q": {"d": 1, "e": 0}}, "model": {"q": {"d": 0, "e": 1}}}
    >>> len(leaderboard_swaps(runs, judges))  # of a single topic nothing is significant
    0
    """
    compared = boards.compared(queries, test, correction, alpha, n_resamples, seed)
    parts = [_listed(a, b, compared[a], compared[b], boards.sign) for a, b in boards.pairs()]
    swaps = pd.concat(parts, ignore_index=True)
    swaps.attrs = {"measure": boards.measure, "test": test, "alpha": alpha}
    return swaps


@leaderboard_swaps.finish
def _by_size(swaps: pd.DataFrame) -> pd.DataFrame:
    """The swaps of all slices, by the smaller p and then by the smaller difference."""
    smallest = swaps[["p_a", "p_b"]].min(axis=1)
    size = swaps[["difference_a", "difference_b"]].abs().min(axis=1)
    ordered = swaps.iloc[np.lexsort((-size, smallest))].reset_index(drop=True)
    ordered.attrs = swaps.attrs
    return ordered


@leaderboard_swaps.chart
def leaderboard_swaps_chart(swaps: pd.DataFrame) -> Any:
    """The differences that a judge reverses, by each of two judges."""
    import altair as alt

    shown, rest = first_of(swaps, "swaps")
    pairs = [f"{better} over {worse}" for better, worse in zip(shown["better"], shown["worse"])]
    between = [f"{a} against {b}" for a, b in zip(shown["judge_a"], shown["judge_b"])]
    base = alt.Chart(shown.assign(pair=pairs, judges=between)).encode(
        y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)),
        tooltip=["judges:N", "better:N", "worse:N", "difference_a:Q", "difference_b:Q", "p_a:Q",
                 "p_b:Q"],
    )  # fmt: skip
    x = alt.X("difference_a:Q", title="difference of the two runs")
    layers = alt.layer(
        base.mark_rule(color="gray").encode(x=x, x2="difference_b:Q"),
        base.mark_point(filled=True, size=60, opacity=1, color=COLORS[0]).encode(x=x),
        base.mark_point(size=60, opacity=1, color=COLORS[4]).encode(x="difference_b:Q"),
    )
    drawn = layers.properties(width=WIDTH, height=alt.Step(STEP)).facet(
        row=alt.Row("judges:N", title=None, sort=None, header=alt.Header(labelOrient="top"))
    ).resolve_scale(y="independent")  # fmt: skip
    caption = (
        "Pairs of systems that are significantly different under one judge, and the other way "
        "round under the other: filled by the first judge, hollow by the second." if pairs else
        "There are none: no significant difference under one judge is reversed under another."
    )  # fmt: skip
    return captioned(drawn, "Swaps that matter", caption + rest, CAPTION)


def swap_counts(a: pd.DataFrame, b: pd.DataFrame) -> dict[str, int]:
    """Counts of pairs of systems by what two judges say of them."""
    reversed_ = (np.sign(a["difference"]) * np.sign(b["difference"])) < 0
    same = (np.sign(a["difference"]) * np.sign(b["difference"])) > 0
    either, both = a["significant"] | b["significant"], a["significant"] & b["significant"]
    counts = {
        "reversed": reversed_,
        "reversed_significant": reversed_ & either,
        "reversed_both": reversed_ & both,
        "significant_a": a["significant"],
        "significant_b": b["significant"],
        "significant_both": same & both,
    }
    return {"pairs": len(a), **{name: int(of.sum()) for name, of in counts.items()}}


def _listed(
    judge_a: str, judge_b: str, a: pd.DataFrame, b: pd.DataFrame, sign: int
) -> pd.DataFrame:
    """The swaps between two judges, the run that judge a prefers first."""
    swapped = (np.sign(a["difference"]) * np.sign(b["difference"])) < 0
    swapped &= a["significant"] | b["significant"]
    a, b = a[swapped].reset_index(drop=True), b[swapped].reset_index(drop=True)
    first = (a["difference"] > 0).to_numpy()
    turn = np.where(first, sign, -sign)
    return pd.DataFrame(
        {
            "judge_a": judge_a,
            "judge_b": judge_b,
            "better": np.where(first, a["a"], a["b"]),
            "worse": np.where(first, a["b"], a["a"]),
            "difference_a": turn * a["difference"].to_numpy(),
            "difference_b": turn * b["difference"].to_numpy(),
            "p_a": a["p_corrected"],
            "p_b": b["p_corrected"],
            "significant_a": a["significant"],
            "significant_b": b["significant"],
        }
    )
