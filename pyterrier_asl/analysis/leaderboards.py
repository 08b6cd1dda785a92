"""Does the leaderboard depend on the judge? People, crowds and language models, side by side.

The same runs are measured under several judgements of the same topics. Whether two judges agree on
documents is another question: :mod:`~pyterrier_asl.analysis.judges`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd

from ..scoring.agreement import rank_biased_overlap_of_scores, tau_ap
from ..statistics import compare_all, kendall_tau
from .comparisons import PairedTest, as_frame
from .judged_runs import JudgedRuns
from .measure_options import least_grade, lower_is_better, with_options
from .places import ranks, rounded
from .slices import Queries, per_slice

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
    """

    measure: str
    sign: int
    systems: list[str]
    qids: list[Any]
    values: dict[str, Floats]

    @classmethod
    def of(cls, runs: Any, judges: Mapping[str, Any], measure: Any, rel: Any = None) -> Boards:
        """Measures the runs under every judge; they are read once.

        Args:
            runs: dict of name -> run, folder, list of files, or JudgedRuns.
            judges: name -> qrels.
            measure: the measure, or its name.
            rel: minimum grade of a relevant document, for measures that have one: a number, or
                judge -> number; None: the measure's own.
        """
        if len(judges) < 2:
            raise ValueError(f"there are {len(judges)} judges: comparing takes at least two")
        parsed = ir_measures.parse_measure(measure)
        qids: list[Any] = []
        values: dict[str, tuple[list[str], Floats]] = {}
        judged: JudgedRuns | None = None
        for name, qrels in judges.items():
            judged = JudgedRuns.of(runs if judged is None else judged, qrels)
            qids = qids or judged.qids
            topics = judged.judgements.qid_text.to_pylist()
            least = least_grade(rel, str(name), None)
            values[str(name)] = topics, judged.values(with_options(parsed, least))
        assert judged is not None
        common = set.intersection(*(set(topics) for topics, _ in values.values()))
        shared = [qid for qid in qids if str(qid) in common]
        if not shared:
            raise ValueError("no topic was judged by all judges: are their topic ids alike?")
        aligned = {
            name: matrix[:, [topics.index(str(qid)) for qid in shared]]
            for name, (topics, matrix) in values.items()
        }
        sign = -1 if lower_is_better(parsed) else 1
        return cls(str(parsed), sign, judged.names, shared, aligned)

    def scores(self, judge: str, queries: Queries) -> Floats:
        """The systems' means under a judge, larger is better, shape (S,)."""
        return np.asarray(rounded(self.sign * queries.mean(self.values[judge])))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every two judges."""
        return combinations(self.values, 2)


def leaderboards(
    runs: Any,
    judges: Mapping[str, Any],
    *,
    measure: Any = "AP",
    rel: Any = None,
    reference: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """Every system under every judge, and what each gains or loses by the judge.

    A lenient judge raises every system. What a system gains beyond what all of them gain on average
    is what the judge does for *it*, and that is tested.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        judges: name -> qrels of the same topics; means are over the topics that all judged.
        measure: a measure or its name.
        rel: minimum grade of a relevant document: a number, or judge -> number; None: the
            measure's own.
        reference: the judge that others are compared with; by default the first.
        test: a test for pairs; see :mod:`pyterrier_asl.statistics`.
        correction: over all systems and judges but the reference.
        alpha: the level of significance; intervals cover 1 - alpha.
        n_resamples: draws of a randomisation test.
        seed: of those draws.
        weights: how much each topic counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the topics, each with its own rows.

    Returns:
        One row for each judge and run, best first, with ``judge``, ``run``, ``value``, ``rank``
        (equal values share the best), ``rank_change`` (places up, by the reference's order),
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
    boards = Boards.of(runs, judges, measure, rel)
    base = next(iter(boards.values)) if reference is None else reference
    if base not in boards.values:
        raise ValueError(f"reference {base!r} is none of the judges {list(boards.values)}")
    paired = PairedTest(test, correction, alpha, n_resamples, seed)
    whole = per_slice(boards.qids, partial(_board, boards, base, paired), weights, by)
    whole.attrs |= {"measure": boards.measure, "reference": base}
    return paired.corrected(whole)


def _board(boards: Boards, base: str, paired: PairedTest, queries: Queries) -> pd.DataFrame:
    """All judges' leaderboards over some topics."""
    original = boards.values[base]
    parts = []
    for judge, values in boards.values.items():
        scores = boards.scores(judge, queries)
        frame = pd.DataFrame({"judge": judge, "run": boards.systems})
        frame["value"] = boards.sign * scores
        frame["rank"] = ranks(scores)
        frame["rank_change"] = ranks(boards.scores(base, queries)) - frame["rank"]
        gains = values - original
        frame["gain"] = queries.mean(gains)
        frame["own_gain"] = frame["gain"] - frame["gain"].mean()
        average = gains.mean(axis=0)
        rows = [paired.of(gain, average, queries) for gain in gains]
        tests = pd.DataFrame(rows).drop(columns="difference")
        parts.append(pd.concat([frame, tests], axis=1).sort_values("rank", kind="stable"))
    return pd.concat(parts, ignore_index=True)


def leaderboard_agreement(
    runs: Any,
    judges: Mapping[str, Any],
    *,
    measure: Any = "AP",
    rel: Any = None,
    p: float = 0.9,
    test: str = "tukey-two-way",
    correction: str | None = "auto",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """How far every two judges agree on the order of the systems.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        judges: name -> qrels of the same topics.
        measure: a measure or its name.
        rel: minimum grade of a relevant document: a number, or judge -> number; None: the
            measure's own.
        p: persistence of RBO; at .9 the first ten systems have 86 % of the weight.
        test: of all pairs of systems under each judge; with weights ``'tukey-randomized'``,
            ``'t'`` or ``'randomization'``.
        correction: of a test of pairs, over all pairs of systems of one judge; Tukey tests have
            none.
        alpha: the level of significance.
        n_resamples: draws of the tests that draw at random.
        seed: of those draws.
        weights: how much each topic counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the topics, each with its own rows.

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
    boards = Boards.of(runs, judges, measure, rel)
    options = {
        "test": test, "correction": correction, "alpha": alpha, "n_resamples": n_resamples,
        "seed": seed,
    }  # fmt: skip

    def analyse(queries: Queries) -> pd.DataFrame:
        compared = _compare_all(boards, queries, options)
        rows = []
        for a, b in boards.pairs():
            scores = boards.scores(a, queries), boards.scores(b, queries)
            orders = {
                "tau": kendall_tau(*scores),
                "tau_AP": tau_ap(*scores, symmetric=True),
                "RBO": rank_biased_overlap_of_scores(*scores, p=p),
            }
            rows.append({"judge_a": a, "judge_b": b, **orders, **_swaps(compared[a], compared[b])})
        return as_frame(rows)

    whole = per_slice(boards.qids, analyse, weights, by)
    whole.attrs |= {"measure": boards.measure, "test": test, "alpha": alpha, "p": p}
    return whole


def leaderboard_swaps(
    runs: Any,
    judges: Mapping[str, Any],
    *,
    measure: Any = "AP",
    rel: Any = None,
    test: str = "tukey-two-way",
    correction: str | None = "auto",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The swaps that matter: significant under one judge, and the other way round under another.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        judges: name -> qrels of the same topics.
        measure: a measure or its name.
        rel: minimum grade of a relevant document: a number, or judge -> number; None: the
            measure's own.
        test: as of :func:`leaderboard_agreement`.
        correction: likewise.
        alpha: the level of significance.
        n_resamples: draws of the tests that draw at random.
        seed: of those draws.
        weights: how much each topic counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the topics, each with its own rows.

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
    boards = Boards.of(runs, judges, measure, rel)
    options = {
        "test": test, "correction": correction, "alpha": alpha, "n_resamples": n_resamples,
        "seed": seed,
    }  # fmt: skip

    def analyse(queries: Queries) -> pd.DataFrame:
        compared = _compare_all(boards, queries, options)
        parts = [_listed(a, b, compared[a], compared[b], boards.sign) for a, b in boards.pairs()]
        return pd.concat(parts, ignore_index=True)

    whole = per_slice(boards.qids, analyse, weights, by)
    attrs = {**whole.attrs, "measure": boards.measure, "test": test, "alpha": alpha}
    smallest = whole[["p_a", "p_b"]].min(axis=1)
    size = whole[["difference_a", "difference_b"]].abs().min(axis=1)
    whole = whole.iloc[np.lexsort((-size, smallest))].reset_index(drop=True)
    whole.attrs = attrs
    return whole


def _compare_all(
    boards: Boards, queries: Queries, options: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """All pairs of systems under each judge, differences positive where the first is better."""
    return {
        judge: compare_all(
            boards.sign * queries.of(values), boards.systems, weights=queries.weights, **options
        )
        for judge, values in boards.values.items()
    }


def _swaps(a: pd.DataFrame, b: pd.DataFrame) -> dict[str, int]:
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
