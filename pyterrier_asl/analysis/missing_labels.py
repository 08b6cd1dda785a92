"""What do preferences still say when labels or queries are missing?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm.auto import tqdm

from .judged_runs import JudgedRuns
from .pairs import all_pairs, by_query, preferences
from .relevant_ranks import RelevantRanks
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The shares of labels or queries that are kept.
FRACTIONS: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_NAMES = ("RR", "rrLP", "sgnLP")


def missing_labels(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    samples: int = 10,
    weights: Any = None,
    by: Any = None,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Agreement with reciprocal rank on all labels, and ties, as labels go (Figures 8a and 9).

    A sample keeps a share of all labels of relevant documents, drawn without replacement; the other
    documents count as not relevant. Preferences on what is left are compared with δRR_1 on all
    labels, over the pairs that δRR_1 tells apart: of two rankings (``ranking``), and of two
    systems by the mean over queries (``system``). A preference that ties does not agree.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        fractions: shares of labels to keep, each in (0, 1].
        samples: how many samples of each.
        weights: how much each query counts; labels of queries of weight 0 are not drawn.
        by: what slice each query is in; one table for each, of samples of its own.
        seed: of the draws; the same seed gives the same numbers.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        A row for each ``fraction``, ``sample`` and ``preference`` (RR, rrLP, sgnLP), with
        ``ranking`` and ``system``, the shares of preferences agreed upon, and ``tied``, the share
        of pairs of rankings that tie.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figures 8a and 9.

    >>> runs = {"a": {"q": {"d": 3, "e": 2}}, "b": {"q": {"x": 3, "d": 2, "e": 1}}}
    >>> missing_labels(runs, {"q": {"d": 1, "e": 1}}, fractions=[0.5, 1], samples=1)
       fraction  sample preference  ranking  system  tied
    0       0.5       0         RR      1.0     1.0   0.0
    1       0.5       0       rrLP      1.0     1.0   0.0
    2       0.5       0      sgnLP      1.0     1.0   0.0
    3       1.0       0         RR      1.0     1.0   0.0
    4       1.0       0       rrLP      1.0     1.0   0.0
    5       1.0       0      sgnLP      1.0     1.0   0.0
    """
    drawn = _Samples(fractions, samples, seed, progress)
    judged = JudgedRuns.of(runs, qrels)
    everything = RelevantRanks.of(judged, rel=rel, cutoff=cutoff)

    def of(queries: Queries) -> pd.DataFrame:
        some = queries.counting
        ranks, share = everything.of_queries(some.at), some.each / some.each.sum()
        truth = _Sums(ranks.reciprocal(), ranks.total, share)
        rows = []
        for fraction, sample, kept in drawn.of(len(ranks.pairs)):
            seen = _Sums(ranks.reciprocal(kept), ranks.total, share, truth.better)
            for name in _NAMES:
                agreed = seen.agreed[name] / truth.compared if truth.compared else 0.0
                system = _agreement(seen.means[name], truth.means["RR"])
                rows.append((fraction, sample, name, agreed, system, seen.tied[name]))
        columns = ["fraction", "sample", "preference", "ranking", "system", "tied"]
        return pd.DataFrame(rows, columns=columns)

    return per_slice(judged.qids, of, weights, by)


def missing_queries(
    runs: Any,
    qrels: Any = None,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    samples: int = 10,
    weights: Any = None,
    by: Any = None,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Agreement of systems with reciprocal rank on all queries, as queries go (Figure 8b).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        fractions: shares of queries to keep, each in (0, 1].
        samples: how many samples of each.
        weights: how much each query counts; labels of queries of weight 0 are not drawn.
        by: what slice each query is in; one table for each, of samples of its own.
        seed: of the draws; the same seed gives the same numbers.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        A row for each ``fraction``, ``sample`` and ``preference`` (RR, rrLP, sgnLP), with
        ``system``, the share of pairs of systems told apart by mean δRR_1 on all queries that the
        mean preference over the queries kept decides likewise.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 8b.
    """
    drawn = _Samples(fractions, samples, seed, progress)
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    i_star, rrlp = preferences(judged.reciprocal_ranks(rel, cutoff), total)
    by_name = _named(i_star, rrlp)

    def of(queries: Queries) -> pd.DataFrame:
        some = queries.counting
        truth = some.mean(by_name["RR"])
        rows = []
        for fraction, sample, kept in drawn.of(len(some)):
            share = kept * some.each / (kept @ some.each)
            for name in _NAMES:
                mean = some.of(by_name[name]) @ share
                rows.append((fraction, sample, name, _agreement(mean, truth)))
        return pd.DataFrame(rows, columns=["fraction", "sample", "preference", "system"])

    return per_slice(judged.qids, of, weights, by)


def _named(i_star: npt.NDArray[np.int64], rrlp: Floats) -> dict[str, Floats]:
    """The preferences of :data:`_NAMES`, from i* and rrLP."""
    return {"RR": np.where(i_star == 1, rrlp, 0.0), "rrLP": rrlp, "sgnLP": np.sign(rrlp)}


class _Sums:
    """What all pairs of rankings say on one set of labels, summed so that none need be kept.

    Attributes:
        better: for each query, in which pairs δRR_1 prefers the row's ranking.
        compared: the share of pairs that δRR_1 tells apart.
        agreed: for each preference, the share of pairs told apart in truth that it decides alike.
        tied: for each preference, the share of pairs that tie.
        means: for each preference, its mean over queries for each pair of systems.
    """

    def __init__(
        self,
        reciprocal: Floats,
        total: npt.NDArray[np.int64],
        share: Floats,
        better: list[Bools] | None = None,
    ) -> None:
        """``share``: of each query in the means; ``better``: as the attribute, in truth."""
        systems = len(reciprocal)
        pairs = max(systems * (systems - 1) // 2, 1)
        self.better: list[Bools] = []
        self.compared = 0.0
        means = {name: np.zeros((systems, systems)) for name in _NAMES}
        self.tied, self.agreed = dict.fromkeys(_NAMES, 0.0), dict.fromkeys(_NAMES, 0.0)
        for query, part in enumerate(by_query(reciprocal, total)):
            values = _named(*all_pairs(part))
            self.better.append(values["RR"] > 0)
            self.compared += share[query] * self.better[query].sum() / pairs
            preferred = self.better[query] if better is None else better[query]
            for name, value in values.items():
                means[name] += share[query] * value
                self.tied[name] += share[query] * (np.sum(value == 0) - systems) / 2 / pairs
                self.agreed[name] += share[query] * np.sum(value[preferred] > 0) / pairs
        above = np.triu_indices(systems, k=1)
        self.means = {name: mean[above] for name, mean in means.items()}


def _agreement(mean: Floats, truth: Floats) -> float:
    """The share of what the truth decides that a mean decides likewise."""
    decided = np.abs(truth) > 1e-12
    estimate = np.where(np.abs(mean) > 1e-12, np.sign(mean), 0)
    agreed = estimate[decided] == np.sign(truth[decided])
    return float(agreed.mean()) if decided.any() else float("nan")


@dataclass(frozen=True)
class _Samples:
    """What is drawn of labels or queries; see :func:`missing_labels`."""

    fractions: Sequence[float]
    samples: int
    seed: int
    progress: bool | None

    def __post_init__(self) -> None:
        wrong = [fraction for fraction in self.fractions if not 0 < fraction <= 1]
        if wrong:
            raise ValueError(f"a share to keep lies above 0 and up to 1, but {wrong[0]} does not")
        if self.samples < 1:
            raise ValueError(f"samples is {self.samples}: give at least 1")

    def of(self, items: int) -> Iterator[tuple[float, int, Bools]]:
        """For each fraction and sample, which of the items are kept; at least one."""
        todo = [(fraction, sample) for fraction in self.fractions for sample in range(self.samples)]
        generator = np.random.default_rng(self.seed)
        hidden = None if self.progress is None else not self.progress
        for fraction, sample in tqdm(todo, desc="samples", disable=hidden, leave=False):
            kept = np.zeros(items, dtype=bool)
            kept[generator.permutation(items)[: max(1, round(fraction * items))]] = True
            yield fraction, sample, kept
