"""Does the leaderboard depend on the judge? People, crowds and language models, side by side.

The same runs are measured under several judgements of the same topics. Whether two judges agree on
documents is another question: :mod:`~pyterrier_asl.analysis.judges`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..charts.forms import COLORS, alt, captioned, first_of, in_rows, ranks_on_lists
from ..io.lazy import pd
from ..judging.judgements import Judgements
from ..measures.names import higher_is_better, named_measures, with_options
from ..statistics.correlation import kendall_tau, rank_biased_overlap_of_scores, tau_ap
from ..statistics.tests import compare_all
from .comparisons import T_TEST, TUKEY_TEST, PairedTest, as_frame, corrected
from .judges import judges_agreement_chart
from .ranks import rounded, shared_ranks
from .registry import JUDGES, Floats, JudgedRuns, Queries, analysis
from .several_judges import least_grades, relevant_by


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
        cls,
        runs: Any,
        judges: Mapping[str, Any],
        *,
        measure: Any = "AP",
        rel: float | None = None,
        judge_rel: Any = None,
        duplicates: str | None = None,
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
        (boards,) = cls.of_many(
            runs, judges, measures=[measure], rel=rel, judge_rel=judge_rel, duplicates=duplicates
        )
        return boards

    @classmethod
    def of_many(
        cls,
        runs: Any,
        judges: Mapping[str, Any],
        *,
        measures: Iterable[Any],
        rel: float | None = None,
        judge_rel: Any = None,
        duplicates: str | None = None,
    ) -> list[Boards]:
        """The same by several measures; the runs are matched with each judge once."""
        if len(judges) < 2:
            raise ValueError(f"there are {len(judges)} judges: comparing takes at least two")
        parsed = [one.measure for one in named_measures(list(measures))]
        least = least_grades(judges, rel, judge_rel)
        judged: dict[str, JudgedRuns] = {}
        for name, qrels in judges.items():
            runs = judged[str(name)] = JudgedRuns.of(runs, qrels, duplicates=duplicates)
            for measure in parsed:
                asked = with_options(measure, least[str(name)])
                has_rel = "rel" in asked.SUPPORTED_PARAMS
                relevant_by(str(name), runs.judgements, asked["rel"] if has_rel else 1)
        topics = {name: [*map(str, one.qids)] for name, one in judged.items()}
        first = next(iter(judged.values()))
        common = set.intersection(*map(set, topics.values()))
        shared = [qid for qid in first.qids if str(qid) in common]
        if not shared:
            raise ValueError("no topic was judged by all judges: are their topic ids alike?")
        at = {name: [known.index(str(qid)) for qid in shared] for name, known in topics.items()}
        return [
            cls(
                str(measure),
                -1 if higher_is_better(measure) is False else 1,
                first.names,
                shared,
                {
                    name: one.values(with_options(measure, least[name]))[:, at[name]]
                    for name, one in judged.items()
                },
                first.judgements,
            )
            for measure in parsed
        ]

    def scores(self, judge: str, queries: Queries) -> Floats:
        """The systems' means under a judge, larger is better, shape (S,)."""
        return np.asarray(rounded(self.sign * queries.mean(self.values[judge])))

    def others(self, reference: str) -> list[str]:
        """The judges but one."""
        return [judge for judge in self.values if judge != reference]

    def pairs(
        self, queries: Queries, paired: PairedTest, *, reference: str | None = None
    ) -> Iterator[tuple[str, str, pd.DataFrame]]:
        """Every two judges, and what they say of each pair of systems.

        Differences are positive where the first system is better.

        Args:
            queries: the queries that the means are over.
            paired: the test of each pair of systems under each judge.
            reference: only this judge with each of the others.
        """
        compared = {
            judge: compare_all(
                self.sign * queries.of(values),
                self.systems,
                weights=queries.weights,
                **asdict(paired),
            )
            for judge, values in self.values.items()
        }
        two = (
            combinations(self.values, 2)
            if reference is None
            else ((reference, other) for other in self.others(reference))
        )
        for a, b in two:
            yield a, b, side_by_side(compared[a], compared[b])


@analysis("leaderboards", JUDGES, "systems", group_by="judge")
def leaderboards(
    boards: Boards,
    queries: Queries,
    *,
    reference: str | None = None,
    paired: PairedTest = T_TEST,
) -> pd.DataFrame:
    """How does every system score under every judge?

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
    original = boards.values[base]
    parts = []
    for judge, values in boards.values.items():
        scores = boards.scores(judge, queries)
        frame = pd.DataFrame({"judge": judge, "run": boards.systems})
        frame["value"] = boards.sign * scores
        frame["rank"] = shared_ranks(scores)
        frame["rank_change"] = shared_ranks(boards.scores(base, queries)) - frame["rank"]
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
    own = pd.DataFrame([paired.of(gain, average, queries) for gain in gains])
    own.insert(0, "gain", queries.mean(gains))
    return own.rename(columns={"difference": "own_gain"})


leaderboards.finish(corrected)


@leaderboards.chart
def leaderboards_chart(frame: pd.DataFrame) -> Any:
    """The rank of every system under every judge."""
    return ranks_on_lists(
        frame,
        "One leaderboard, several judges",
        f"Ranks by {frame.attrs.get('measure', 'the measure')} under each judge, best at the "
        f"top; a line is a system, its colour how many ranks it moves at most from its rank "
        f"under {frame.attrs.get('reference', frame['judge'].iloc[0])}.",
        across="judge",
        moved="rank_change",
        tooltip=["run", "judge", "rank", "rank_change", "value", "own_gain", "p_corrected"],
    )


@analysis("leaderboard-agreement", JUDGES, "systems")
def leaderboard_agreement(
    boards: Boards,
    queries: Queries,
    *,
    p: float = 0.9,
    paired: PairedTest = TUKEY_TEST,
) -> pd.DataFrame:
    """How far do every two judges agree on the ranking of systems?

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
    rows = []
    for a, b, both in boards.pairs(queries, paired):
        scores = boards.scores(a, queries), boards.scores(b, queries)
        agreement = {
            "tau": kendall_tau(*scores),
            "tau_AP": tau_ap(*scores, symmetric=True),
            "RBO": rank_biased_overlap_of_scores(*scores, p=p),
        }
        rows.append({"judge_a": a, "judge_b": b, **agreement, **swap_counts(both)})
    frame = as_frame(rows)
    frame.attrs = {
        "measure": boards.measure,
        "test": paired.test,
        "alpha": paired.alpha,
        "RBO p": p,
    }
    return frame


leaderboard_agreement.chart(judges_agreement_chart)


@analysis("leaderboard-swaps", JUDGES, "systems")
def leaderboard_swaps(
    boards: Boards, queries: Queries, *, paired: PairedTest = TUKEY_TEST
) -> pd.DataFrame:
    """Which significant differences does another judge reverse?

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
    parts = [_swaps(boards, *two) for two in boards.pairs(queries, paired)]
    swaps = pd.concat(parts, ignore_index=True)
    swaps.attrs = {"measure": boards.measure, "test": paired.test, "alpha": paired.alpha}
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
    shown, rest = first_of(swaps, "swaps")
    pairs = [f"{better} over {worse}" for better, worse in zip(shown["better"], shown["worse"])]
    between = [f"{a} against {b}" for a, b in zip(shown["judge_a"], shown["judge_b"])]
    base = alt.Chart(shown.assign(pair=pairs, judges=between)).encode(
        y=alt.Y("pair:N", title=None, sort=None, axis=None),
        tooltip=[
            "judges:N",
            "better:N",
            "worse:N",
            "difference_a:Q",
            "difference_b:Q",
            "p_a:Q",
            "p_b:Q",
        ],
    )
    x = alt.X("difference_a:Q", title="difference of the two runs")
    layers = alt.layer(
        base.mark_rule(color="gray").encode(x=x, x2="difference_b:Q"),
        base.mark_point(filled=True, size=60, opacity=1, color=COLORS[0]).encode(x=x),
        base.mark_point(size=60, opacity=1, color=COLORS[4]).encode(x="difference_b:Q"),
        base.mark_text(align="left", dy=-10, fontSize=9).encode(x=alt.value(2), text="pair:N"),
    )
    drawn = in_rows(layers, "judges", between, rows=1.5).resolve_scale(y="independent")
    caption = (
        "Pairs of systems that are significantly different under one judge, and the other way "
        "round under the other: filled by the first judge, hollow by the second."
        if pairs
        else "There are none: no significant difference under one judge is reversed under another."
    )
    return captioned(drawn, "Swaps that matter", caption + rest)


def side_by_side(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """What two judges say of each pair of systems; judge a finds the one ``better``."""
    both = a.merge(b, on=["a", "b"], suffixes=("_a", "_b"))
    signs = np.sign(both["difference_a"]) * np.sign(both["difference_b"])
    first = both["difference_a"] > 0
    return both.assign(
        reversed=signs < 0,
        same=signs > 0,
        better=both["a"].where(first, both["b"]),
        worse=both["b"].where(first, both["a"]),
    )


def swap_counts(both: pd.DataFrame) -> dict[str, int]:
    """Counts of pairs of systems by what two judges say of them, :func:`side_by_side`."""
    of_a, of_b = both["significant_a"], both["significant_b"]
    counts = {
        "reversed": both["reversed"],
        "reversed_significant": both["reversed"] & (of_a | of_b),
        "reversed_both": both["reversed"] & of_a & of_b,
        "significant_a": of_a,
        "significant_b": of_b,
        "significant_both": both["same"] & of_a & of_b,
    }
    return {"pairs": len(both), **{name: int(of.sum()) for name, of in counts.items()}}


def _swaps(boards: Boards, judge_a: str, judge_b: str, both: pd.DataFrame) -> pd.DataFrame:
    """The swaps between two judges, the run that judge a prefers first."""
    swapped = both[both["reversed"] & (both["significant_a"] | both["significant_b"])]
    turn = boards.sign * np.sign(swapped["difference_a"])
    systems, significant = ["better", "worse"], ["significant_a", "significant_b"]
    differences = swapped[["difference_a", "difference_b"]].mul(turn, axis=0)
    p = swapped[["p_corrected_a", "p_corrected_b"]].set_axis(["p_a", "p_b"], axis=1)
    found = pd.concat([swapped[systems], differences, p, swapped[significant]], axis=1)
    found.insert(0, "judge_a", judge_a)
    found.insert(1, "judge_b", judge_b)
    return found
