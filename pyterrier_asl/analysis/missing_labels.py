"""What do preferences still say when labels or queries are missing?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm.auto import tqdm

from .judged_runs import JudgedRuns
from .pairs import all_pairs, by_query, preferences
from .relevant_ranks import RelevantRanks

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The shares of labels or queries that are kept.
FRACTIONS: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_NAMES = ("RR", "rrLP", "sgnLP")


def missing_labels(
    runs: Any,
    qrels: Any,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    samples: int = 10,
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
        qrels: frame, file, or ir_datasets id.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        fractions: shares of labels to keep, each in (0, 1].
        samples: how many samples of each.
        seed: of the draws; the same seed gives the same numbers.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        A row for each ``fraction``, ``sample`` and ``preference`` (RR, rrLP, sgnLP): ``ranking``
        and ``system``, the shares of preferences agreed upon, and ``tied``, the share of pairs of
        rankings that tie.

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
    _check(fractions, samples)
    judged = JudgedRuns.of(runs, qrels)
    ranks = RelevantRanks.of(judged, rel=rel, cutoff=cutoff)
    truth = _Sums(ranks.reciprocal(), ranks.total)
    rows = []
    for fraction, sample, kept in _samples(len(ranks.pairs), fractions, samples, seed, progress):
        seen = _Sums(ranks.reciprocal(kept), ranks.total, truth.better)
        for name in _NAMES:
            agreed = seen.agreed[name] / max(truth.compared, 1)
            system = _agreement(seen.means[name], truth.means["RR"])
            rows.append((fraction, sample, name, agreed, system, seen.tied[name] / seen.pairs))
    columns = ["fraction", "sample", "preference", "ranking", "system", "tied"]
    return pd.DataFrame(rows, columns=columns)


def missing_queries(
    runs: Any,
    qrels: Any,
    *,
    rel: float = 1,
    cutoff: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    samples: int = 10,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Agreement of systems with reciprocal rank on all queries, as queries go (Figure 8b).

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id.
        rel: minimum grade of a relevant document.
        cutoff: look at the first ``cutoff`` documents only.
        fractions: shares of queries to keep, each in (0, 1].
        samples: how many samples of each.
        seed: of the draws; the same seed gives the same numbers.
        progress: whether to show a progress bar; None: where there is a terminal.

    Returns:
        A row for each ``fraction``, ``sample`` and ``preference`` (RR, rrLP, sgnLP): ``system``,
        the share of pairs of systems told apart by mean δRR_1 on all queries that the mean
        preference over the queries kept decides likewise.

    Source: Diaz, Best-Case Retrieval Evaluation, 2023, Figure 8b.
    """
    _check(fractions, samples)
    judged = JudgedRuns.of(runs, qrels)
    total = judged.judgements.num_relevant(rel)
    i_star, rrlp = preferences(judged.reciprocal_ranks(rel, cutoff), total)
    by_name = {"RR": np.where(i_star == 1, rrlp, 0.0), "rrLP": rrlp, "sgnLP": np.sign(rrlp)}
    truth = by_name["RR"].mean(axis=1)
    rows = []
    for fraction, sample, kept in _samples(len(total), fractions, samples, seed, progress):
        for name in _NAMES:
            mean = by_name[name] @ (kept / kept.sum())
            rows.append((fraction, sample, name, _agreement(mean, truth)))
    return pd.DataFrame(rows, columns=["fraction", "sample", "preference", "system"])


class _Sums:
    """What all pairs of rankings say on one set of labels, summed so that none need be kept."""

    def __init__(
        self, reciprocal: Floats, total: npt.NDArray[np.int64], better: list[Bools] | None = None
    ) -> None:
        """``better``: for each query, which pairs δRR_1 prefers the row's ranking in, in truth."""
        systems = len(reciprocal)
        self.pairs = systems * (systems - 1) // 2 * len(total)
        self.better: list[Bools] = []
        means = {name: np.zeros((systems, systems)) for name in _NAMES}
        self.tied, self.agreed = dict.fromkeys(_NAMES, 0), dict.fromkeys(_NAMES, 0)
        for query, part in enumerate(by_query(reciprocal, total)):
            i_star, rrlp = all_pairs(part)
            values = {"RR": np.where(i_star == 1, rrlp, 0.0), "rrLP": rrlp, "sgnLP": np.sign(rrlp)}
            self.better.append(values["RR"] > 0)
            preferred = self.better[query] if better is None else better[query]
            for name, value in values.items():
                means[name] += value / len(total)
                self.tied[name] += (int(np.sum(value == 0)) - systems) // 2
                self.agreed[name] += int(np.sum(value[preferred] > 0))
        above = np.triu_indices(systems, k=1)
        self.means = {name: mean[above] for name, mean in means.items()}
        self.compared = sum(int(each.sum()) for each in self.better)


def _agreement(mean: Floats, truth: Floats) -> float:
    """The share of what the truth decides that a mean decides likewise."""
    decided = np.abs(truth) > 1e-12
    estimate = np.where(np.abs(mean) > 1e-12, np.sign(mean), 0)
    agreed = estimate[decided] == np.sign(truth[decided])
    return float(agreed.mean()) if decided.any() else float("nan")


def _samples(
    items: int, fractions: Sequence[float], samples: int, seed: int, progress: bool | None
) -> Iterator[tuple[float, int, Bools]]:
    """For each fraction and sample, which of the items are kept; at least one."""
    todo = [(fraction, sample) for fraction in fractions for sample in range(samples)]
    generator = np.random.default_rng(seed)
    hidden = None if progress is None else not progress
    for fraction, sample in tqdm(todo, desc="samples", disable=hidden, leave=False):
        kept = np.zeros(items, dtype=bool)
        kept[generator.permutation(items)[: max(1, round(fraction * items))]] = True
        yield fraction, sample, kept


def _check(fractions: Sequence[float], samples: int) -> None:
    wrong = [fraction for fraction in fractions if not 0 < fraction <= 1]
    if wrong:
        raise ValueError(f"a share to keep lies above 0 and up to 1, but {wrong[0]} does not")
    if samples < 1:
        raise ValueError(f"samples is {samples}: give at least 1")
