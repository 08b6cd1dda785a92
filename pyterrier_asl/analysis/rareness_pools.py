"""Who looks rare, if rareness is counted over some of the runs only?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..charts.forms import ranks_on_lists
from ..io.lazy import pd
from ..io.names import check_names
from ..measures import AP_Rareness
from ..measures.names import Measures, named_measures
from ..measures.rareness import Pools
from ..statistics.correlation import kendall_tau, tau_ap
from ..statistics.rounding import rounded, shared_ranks
from .finders import group_codes
from .reading import per_slice, read
from .registry import TURKMEN, Bools, Evaluation, Qrels, Queries, Runs, Slices, Weights, analysis


@analysis(TURKMEN, "section 5.4", group_by="pool")
def rareness_by_pool(
    runs: Runs,
    qrels: Qrels,
    pools: Mapping[str, Iterable[str]],
    measure: Measures | None = None,
    *,
    duplicates: str | None = None,
    rel: float | None = None,
    groups: Mapping[str, str] | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """Which systems depend on the type of runs in the pool?

    The value of every run with S_d counted over each of several pools of runs.

    A run that is not of a pool is scored as if it joined it: S + 1, and S_d + 1 for what it finds.

    Args:
        pools: name -> names of its runs, such as those of one type: see :func:`pools_by`. The pool
            ``'all'`` of all runs comes first.
        measure: a rareness measure without a pool; None: ``AP_Rareness(alpha=1)@100``.
        rel: minimum grade of a relevant document, for a measure that does not say it itself.
        groups: run -> group; count groups instead of runs.

    Returns:
        A row for each pool and run, with ``pool``, ``run``, ``member`` of that pool, ``value``,
        ``rank`` (runs of one value share the best), and ``moved``, how many ranks it is above its
        rank by the pool of all.

    Raises:
        ValueError: for a pool without runs, or with one that is not there.

    Source: Türkmen, Lease and Kutlu, 2023, section 5.4, asks whether official runs alone should
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
    judged, _ = read(runs, qrels, duplicates, rel, measure)
    pools_of_runs = _pools(judged, measure, rel)
    codes = None if groups is None else group_codes(judged.names, groups)
    masks = {"all": np.ones(len(judged), dtype=bool)}
    masks |= {str(name): _members(judged, str(name), members) for name, members in pools.items()}

    def of_slice(queries: Queries) -> pd.DataFrame:
        tables: list[pd.DataFrame] = []
        for name, mask in masks.items():
            mean = rounded(queries.mean(pools_of_runs.values(mask, codes)))
            columns = {"pool": name, "run": judged.names, "member": mask, "value": mean}
            table = pd.DataFrame({**columns, "rank": shared_ranks(mean)})
            tables.append(table.assign(moved=(tables or [table])[0]["rank"] - table["rank"]))
        return pd.concat(tables, ignore_index=True)

    return per_slice(judged.qids, of_slice, weights, by)


@rareness_by_pool.chart
def rareness_by_pool_chart(frame: pd.DataFrame) -> Any:
    """The rank of every run with rareness counted over each pool of runs."""
    return ranks_on_lists(
        frame,
        "Who looks rare by which runs",
        "Ranks by a rareness measure with S_d counted over all runs, at the left, and over some "
        "of them only; a line is a run, its colour how many ranks it moves at most.",
        across="pool",
        moved="moved",
        tooltip=["run", "pool", "member", "value", "rank"],
    )


def agreement_of_pools(by_pool: pd.DataFrame) -> pd.DataFrame:
    """The agreement of the rankings of systems by several pools with the one by all runs.

    Args:
        by_pool: what :func:`rareness_by_pool` returned, without slices.

    Returns:
        A row for each pool but that of all, with ``pool``, ``runs`` in it, ``tau`` (Kendall's
        tau-b), ``tau_AP``, and ``largest_move`` of a run's rank, up or down.
    """
    table = by_pool.pivot(index="run", columns="pool", values="value")
    rows = []
    for name, part in by_pool[by_pool["pool"] != "all"].groupby("pool", sort=False):
        both = table[name].to_numpy(), table["all"].to_numpy()
        largest = int(part["moved"].abs().max())
        rows.append((name, int(part["member"].sum()), kendall_tau(*both), tau_ap(*both), largest))
    return pd.DataFrame(rows, columns=["pool", "runs", "tau", "tau_AP", "largest_move"])


@analysis(TURKMEN, "section 5.4")
def rareness_without_own_group(
    runs: Runs,
    qrels: Qrels,
    groups: Mapping[str, str],
    measure: Measures | None = None,
    *,
    duplicates: str | None = None,
    rel: float | None = None,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How does rareness change without the group's other runs?

    The value of every run with S_d counted over the other groups' runs, and its own.

    Runs of one group often find the same, and so make each other's finds common; here a run is
    scored as if it were its group's only one.

    Args:
        groups: run -> group; a run that is not in it is a group by itself.
        measure: a rareness measure without a pool; None: ``AP_Rareness(alpha=1)@100``.
        rel: minimum grade of a relevant document, for a measure that does not say it itself.

    Returns:
        A row for each run, with ``run``, ``group``, ``runs_of_group``, ``value`` and ``rank`` with
        all runs counted, ``value_without`` and ``rank_without`` its group's others.

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
    judged, _ = read(runs, qrels, duplicates, rel, measure)
    pools_of_runs = _pools(judged, measure, rel)
    codes = group_codes(judged.names, groups)
    values = pools_of_runs.values()
    without = np.empty_like(values)
    for code in np.unique(codes):
        own = codes == code
        without[own] = pools_of_runs.values(~own)[own]

    def of_slice(queries: Queries) -> pd.DataFrame:
        value, alone = rounded(queries.mean(values)), rounded(queries.mean(without))
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

    return per_slice(judged.qids, of_slice, weights, by)


@rareness_without_own_group.chart
def own_group_chart(frame: pd.DataFrame) -> Any:
    """The rank of every run with rareness counted without its group's other runs."""
    lists = {"rank": "by all runs", "rank_without": "without its own group"}
    moved = frame.assign(moved=frame["rank"] - frame["rank_without"])
    keys = ["run", "group", "runs_of_group", "moved"]
    long = moved.melt(keys, list(lists), "list", "rank of run").replace({"list": lists})
    return ranks_on_lists(
        long,
        "Rareness without one's own group",
        "Ranks by a rareness measure with all runs counted, and without the other runs of the "
        "run's own group: runs that find the same make each other's finds common.",
        across="list",
        moved="moved",
        rank="rank of run",
        tooltip=[*keys, "rank of run"],
    )


def pools_by(table: Mapping[str, str]) -> dict[str, list[str]]:
    """Pools of the runs that have the same value, such as the type of each run.

    >>> pools_by({"a": "manual", "b": "automatic", "c": "manual"})
    {'manual': ['a', 'c'], 'automatic': ['b']}
    """
    pools: dict[str, list[str]] = {}
    for run, value in table.items():
        pools.setdefault(value, []).append(run)
    return pools


def _members(judged: Evaluation, name: str, members: Iterable[str]) -> Bools:
    wanted = list(members)
    if not wanted:
        raise ValueError(f"pool {name!r} has no runs: name some")
    check_names(f"pool {name!r}", wanted, judged.names, "runs")
    return np.isin(judged.names, wanted)


def _pools(judged: Evaluation, measure: Measures | None, rel: float | None) -> Pools:
    wanted = AP_Rareness(alpha=1) @ 100 if measure is None else measure
    return next(iter(pools_by_measure(judged, wanted, rel).values()))


def pools_by_measure(
    judged: Evaluation, measures: Measures, rel: float | None = None
) -> dict[str, Pools]:
    """The runs as pools of each other in rareness measures, by the measures' names.

    Args:
        judged: the runs.
        measures: one or several rareness measures without a pool, or their names.
        rel: minimum grade of a relevant document, for measures that do not say it themselves.

    Raises:
        ValueError: for another measure, or one that has a pool.
    """
    named = named_measures(measures)
    wanted = [measure.with_params(rel=rel).measure for measure in named]
    return {str(measure): judged.once(Pools.of_runs, measure) for measure in wanted}
