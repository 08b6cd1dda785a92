"""How does rareness depend on the runs in the pool, and on systems that are added to it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..charts import alt, figure, ranks_on_lists, tooltips
from ..common.lazy import pd
from ..common.notices import grouped
from ..common.parameters import check_names
from ..common.types import Bools, Ints
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.relevant_documents import RelevantRanks
from ..evaluation.sources import QrelsLike
from ..measures.parsing import Measures, one_measure
from ..measures.rareness import Pools
from ..scoring.rareness import gains
from ..statistics.agreement import kendall_tau, tau_ap
from ..statistics.rounding import NO_DIFFERENCE, rounded, shared_ranks
from .finders import group_codes
from .inputs import measures_with_rel, read
from .registry import TURKMEN, analysis


@analysis(TURKMEN, "section 5.4", group_by="pool")
def rareness_by_pool(
    runs: Runs,
    qrels: QrelsLike,
    pools: Mapping[str, Iterable[str]],
    measure: Measures | None = None,
    *,
    rel: float | None = None,
    groups: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which systems depend on the type of runs in the pool?

    The value of every run with S_d counted over each of several pools of runs.

    A run that is not in a pool is scored as if it joined the pool: S + 1, and S_d + 1 for the
    documents that it finds.

    Args:
        pools: name -> names of its runs, such as the runs of one type: see :func:`pools_by`. The
            pool ``'all'`` of all runs comes first.
        measure: a rareness measure without a pool; None: ``AP_Rareness(alpha=1)@100``.
        rel: minimum grade of a relevant document, for a measure without one.
        groups: run -> group; count groups instead of runs.

    Returns:
        A row for each pool and run, with ``pool``, ``run``, ``member`` of the pool, ``value``,
        ``rank`` (equal values share the best rank), and ``moved``, the number of ranks above its
        rank by the pool of all runs.

    Raises:
        ValueError: for a pool without runs, or with a run that does not exist.

    Source: Türkmen, Lease and Kutlu, 2023, section 5.4, asks whether only official runs should
    count.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> by_pool = rareness_by_pool(
    ...     runs, {"q": {"d": 1, "e": 1}}, {"only b": ["b"]}, "P_Rareness(alpha=1.0)@2"
    ... )
    >>> by_pool[["pool", "run", "member", "value"]]
         pool run  member  value
    0     all   a    True   1.25
    1     all   b    True   0.50
    2  only b   a   False   1.25
    3  only b   b    True   0.50
    """
    judged, _ = read(runs, qrels, rel, measure)
    pools_of_runs = _pools(judged, measure, rel)
    codes = None if groups is None else group_codes(judged.names, groups)
    masks = {"all": np.ones(len(judged), dtype=bool)} | {
        str(name): _members(judged, str(name), members) for name, members in pools.items()
    }

    means = {
        name: rounded(pools_of_runs.values(mask, codes).mean(axis=-1))
        for name, mask in masks.items()
    }
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "pool": name,
                    "run": judged.names,
                    "member": masks[name],
                    "value": mean,
                    "rank": shared_ranks(mean),
                    "moved": shared_ranks(means["all"]) - shared_ranks(mean),
                }
            )
            for name, mean in means.items()
        ],
        ignore_index=True,
    )


@rareness_by_pool.chart
def rareness_by_pool_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The rank of every run with rareness counted over each pool of runs."""
    return ranks_on_lists(
        frame,
        "Ranks by rareness over several pools",
        "Ranks by a rareness measure with S_d counted over all runs, at the left, and over some "
        "of them only; one line per run, its colour the largest number of ranks that it moves.",
        across="pool",
        moved="moved",
        tooltip=["run", "pool", "member", "value", "rank"],
    )


def agreement_of_pools(by_pool: pd.DataFrame) -> pd.DataFrame:
    """The agreement of the rankings of systems by several pools with the ranking by all runs.

    Args:
        by_pool: the table of :func:`rareness_by_pool`, without slices.

    Returns:
        A row for each pool except ``'all'``, with ``pool``, ``runs`` in it, ``tau`` (Kendall's
        tau-b), ``tau_AP``, and ``largest_move`` of a run's rank, up or down.
    """
    table = by_pool.pivot(index="run", columns="pool", values="value")
    rows = [
        (
            name,
            int(part["member"].sum()),
            *(of(table[name].to_numpy(), table["all"].to_numpy()) for of in (kendall_tau, tau_ap)),
            int(part["moved"].abs().max()),
        )
        for name, part in by_pool[by_pool["pool"] != "all"].groupby("pool", sort=False)
    ]
    return pd.DataFrame(rows, columns=["pool", "runs", "tau", "tau_AP", "largest_move"])


@analysis(TURKMEN, "section 5.4")
def rareness_without_own_group(
    runs: Runs,
    qrels: QrelsLike,
    groups: Mapping[str, str],
    measure: Measures | None = None,
    *,
    rel: float | None = None,
) -> pd.DataFrame:
    """How does rareness change without the group's other runs?

    The value of every run with S_d counted over this run and the runs of the other groups.

    Runs of one group often find the same documents, which makes these documents common. Here a run
    is scored as if it were the only run of its group.

    Args:
        groups: run -> group; a run without a group is a group of one run.
        measure: a rareness measure without a pool; None: ``AP_Rareness(alpha=1)@100``.
        rel: minimum grade of a relevant document, for a measure without one.

    Returns:
        A row for each run, with ``run``, ``group``, ``runs_of_group``, ``value`` and ``rank`` with
        all runs counted, ``value_without`` and ``rank_without`` the other runs of its group.

    >>> run = {"q": {"d": 1}}
    >>> runs = {"a1": run, "a2": run, "b": {"q": {"x": 1, "e": 0}}}
    >>> rareness_without_own_group(
    ...     runs, {"q": {"d": 1, "e": 1}}, {"a1": "a", "a2": "a"}, "P_Rareness(alpha=1.0)@2"
    ... )[["run", "value", "value_without"]].round(4)
      run   value  value_without
    0  a1  0.6667         0.7500
    1  a2  0.6667         0.7500
    2   b  0.8333         0.8333
    """
    judged, _ = read(runs, qrels, rel, measure)
    pools_of_runs = _pools(judged, measure, rel)
    codes = group_codes(judged.names, groups)
    values = pools_of_runs.values()
    without = np.empty_like(values)
    for code in np.unique(codes):
        is_member = codes == code
        without[is_member] = pools_of_runs.values(~is_member)[is_member]

    value, alone = rounded(values.mean(axis=-1)), rounded(without.mean(axis=-1))
    return pd.DataFrame(
        {
            "run": judged.names,
            "group": [groups.get(name, name) for name in judged.names],
            "runs_of_group": np.bincount(codes)[codes],
            "value": value,
            "rank": shared_ranks(value),
            "value_without": alone,
            "rank_without": shared_ranks(alone),
        }
    )


@rareness_without_own_group.chart
def own_group_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The rank of every run with rareness counted without the other runs of its group."""
    lists = {"rank": "by all runs", "rank_without": "without its group"}
    keys = ["run", "group", "runs_of_group", "moved"]
    return ranks_on_lists(
        frame.assign(moved=frame["rank"] - frame["rank_without"])
        .rename(columns=lists)
        .melt(keys, list(lists.values()), "list", "rank of run"),
        "Rareness without the run's group",
        "Ranks by a rareness measure with all runs counted, and without the other runs of the "
        "group: documents that several runs of a group find are not rare.",
        across="list",
        moved="moved",
        rank="rank of run",
        tooltip=[*keys, "rank of run"],
    )


def pools_by(table: Mapping[str, str]) -> dict[str, list[str]]:
    """Pools of the runs with equal values, such as the type of each run.

    >>> pools_by({"a": "manual", "b": "automatic", "c": "manual"})
    {'manual': ['a', 'c'], 'automatic': ['b']}
    """
    return grouped((value, run) for run, value in table.items())


def _members(judged: Evaluation, name: str, members: Iterable[str]) -> Bools:
    wanted = list(members)
    if not wanted:
        raise ValueError(f"pool {name!r} has no runs: name some")
    check_names(f"pool {name!r}", wanted, judged.names, "runs")
    return np.isin(judged.names, wanted)


def _pools(judged: Evaluation, measure: Measures | None, rel: float | None) -> Pools:
    wanted = one_measure("AP_Rareness(alpha=1)@100" if measure is None else measure)
    return pools_by_measure(judged, wanted.measure, rel).popitem()[1]


def pools_by_measure(
    judged: Evaluation, measures: Measures, rel: float | None = None
) -> dict[str, Pools]:
    """The runs as the pool of rareness measures, by the names of the measures.

    Args:
        judged: the runs.
        measures: one or several rareness measures without a pool, or their names.
        rel: minimum grade of a relevant document, for measures without one.

    Raises:
        ValueError: for another measure, or a measure with a pool.
    """
    return {
        name: judged.once(Pools.of_runs, measure)
        for name, measure in measures_with_rel(measures, rel).items()
    }


@analysis(TURKMEN, "Figure 1")
def synthetic_systems(
    runs: Runs,
    qrels: QrelsLike,
    qid: Any,
    *,
    cutoff: int = 100,
    alphas: Sequence[float] = (0.0, 0.5, 1.0),
    documents: Sequence[int] | None = None,
    rel: float | None = None,
    normalized: bool = False,
) -> pd.DataFrame:
    """How are synthetic systems ranked that find rare or common documents?

    The rank of two synthetic systems among real systems by P_Rareness@k on one query (Figure 1).

    Each synthetic system is scored as one more system among the real ones, which changes the scores
    of all systems: S is larger by 1, and so is S_d of its documents. Both retrieve D relevant
    documents and no others. ``rare`` retrieves D synthetic documents, which no other system
    retrieves. ``common`` retrieves the D relevant documents that most systems have in their top k,
    so D is at most the number of relevant documents of the query.

    Args:
        qid: the query.
        cutoff: k.
        alphas: weights of rareness.
        documents: numbers D of relevant documents, at most k; None: 0 to k.
        normalized: whether to use the normalized measure, which cannot exceed 1.

    Returns:
        A row for each system, alpha and D, with ``system``, ``alpha``, ``documents``, ``value`` of
        P_Rareness@k, and ``rank``: 1 plus the number of real systems with a better value.

    Raises:
        ValueError: for a query that is not judged, or a D above k.

    Source: Türkmen, Lease and Kutlu, 2023, section 3 and Figure 1.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> ranked = synthetic_systems(runs, {"q": {"d": 1, "e": 1}}, "q", cutoff=2, alphas=[1])
    >>> ranked[["system", "documents", "value", "rank"]].round(4)
       system  documents   value  rank
    0    rare          0  0.0000     3
    1    rare          1  0.8333     2
    2    rare          2  1.6667     1
    3  common          0  0.0000     3
    4  common          1  0.5000     2
    5  common          2  1.1667     1
    """
    judged, rel = read(runs, qrels, rel)
    ranks = judged.once(RelevantRanks.of, rel)
    retrieves = ranks.found(cutoff)[:, ranks.documents_of(judged, qid)].astype(np.int64)
    numbers = range(cutoff + 1) if documents is None else documents
    if max(numbers, default=0) > cutoff:
        raise ValueError(f"{max(numbers)} documents do not fit into the first {cutoff}")
    by_finders = np.argsort(-retrieves.sum(axis=0), kind="stable")
    rows = []
    for system, alpha, number in product(("rare", "common"), alphas, numbers):
        common = number if system == "common" else 0
        if common <= retrieves.shape[1]:
            new = np.isin(np.arange(retrieves.shape[1]), by_finders[:common]).astype(np.int64)
            found = _ranked_among(retrieves, new, number - common, cutoff, alpha, normalized)
            rows.append((system, float(alpha), number, *found))
    return pd.DataFrame(rows, columns=["system", "alpha", "documents", "value", "rank"])


@synthetic_systems.chart
def synthetic_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The ranks of a system that finds rare and of a system that finds common documents."""
    return figure(
        alt.Chart(frame).mark_line(interpolate="step-after"),
        "Synthetic systems among real systems",
        "The rank by P_Rareness of a system that finds documents that no other system finds, and "
        "of a system that finds documents that most systems find, by their number.",
        x=alt.X("documents:Q", title="relevant documents retrieved"),
        y=alt.Y(
            "rank:Q",
            title="rank",
            scale=alt.Scale(reverse=True, domainMin=1),
            axis=alt.Axis(tickMinStep=1),
        ),
        color=alt.Color(
            "alpha:O",
            title="α",
            scale=alt.Scale(scheme="viridis"),
            legend=alt.Legend(orient="bottom"),
        ),
        strokeDash=alt.StrokeDash("system:N", title=None, legend=alt.Legend(orient="top")),
        tooltip=tooltips(
            "system", "alpha", "documents", alt.Tooltip("value", format=".3f"), "rank"
        ),
    )


def _ranked_among(
    retrieves: Ints, new: Ints, synthetic: int, cutoff: int, alpha: float, normalized: bool
) -> tuple[float, int]:
    """Value and rank of one more system, which finds real and synthetic documents.

    Args:
        retrieves: the real documents that each real system retrieves, shape (S, R).
        new: the real documents that the system retrieves, shape (R,).
        synthetic: the number of synthetic documents that it retrieves.
        cutoff: k.
        alpha: the weight of rareness.
        normalized: whether to use the normalized measure.
    """
    finders = np.append(retrieves.sum(axis=0) + new, 1)  # the last is a synthetic document
    systems, offsets = np.full(len(finders), len(retrieves) + 1), np.arange(len(finders) + 1)
    gain = gains(finders, systems, offsets, alpha=alpha, normalized=normalized)
    value = (new @ gain[:-1] + synthetic * gain[-1]) / cutoff
    return float(value), 1 + int(np.sum(retrieves @ gain[:-1] / cutoff > value + NO_DIFFERENCE))
