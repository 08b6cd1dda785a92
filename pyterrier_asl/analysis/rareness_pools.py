"""Who looks rare, if rareness is counted over some of the runs only?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..measures import AP_Rareness
from ..scoring.agreement import tau_ap
from ..statistics import kendall_tau
from .judged_runs import JudgedRuns
from .places import ranks, rounded
from .rareness_values import RarenessValues, group_codes
from .slices import Queries, per_slice

Bools = npt.NDArray[np.bool_]


def rareness_by_pool(
    runs: Any,
    qrels: Any,
    pools: Mapping[str, Iterable[str]],
    measure: Any = None,
    *,
    groups: Mapping[str, str] | None = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The value of every run with S_d counted over each of several pools of runs.

    A run that is not of a pool is scored as if it joined it: S + 1, and S_d + 1 for what it finds.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        pools: name -> names of its runs, such as those of one type: see :func:`pools_by`. The pool
            ``'all'`` of all runs comes first.
        measure: a rareness measure without a pool; None: ``AP_Rareness(alpha=1)@100``.
        groups: run -> group; count groups instead of runs.
        weights: how much each query counts in a mean.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each pool and run, with ``pool``, ``run``, ``member`` of that pool, ``value``,
        ``rank`` (runs of one value share the best), and ``moved``, how many ranks it is above its
        rank by the pool of all.

    Raises:
        ValueError: for a pool without runs, or with one that is not there.

    Source: Türkmen, Lease and Kutlu, 2023, section 5.4, asks whether official runs alone should
    count.

    >>> runs = {"a": {"q": {"d": 2, "e": 1}}, "b": {"q": {"d": 1}}}
    >>> found = rareness_by_pool(
    ...     runs, {"q": {"d": 1, "e": 1}}, {"only b": ["b"]}, "P_Rareness(alpha=1.0)@2"
    ... )
    >>> found[["pool", "run", "member", "value"]]
         pool run  member  value
    0     all   a    True   1.25
    1     all   b    True   0.50
    2  only b   a   False   1.25
    3  only b   b    True   0.50
    """
    judged = JudgedRuns.of(runs, qrels)
    parts = RarenessValues.of(judged, AP_Rareness(alpha=1) @ 100 if measure is None else measure)
    codes = group_codes(judged.names, groups)
    masks = {"all": np.ones(len(judged), dtype=bool)}
    masks |= {str(name): _members(judged, str(name), members) for name, members in pools.items()}
    values = {name: parts.of_pool(mask, codes) for name, mask in masks.items()}

    def of(queries: Queries) -> pd.DataFrame:
        means = {name: rounded(queries.mean(value)) for name, value in values.items()}
        official = ranks(means["all"])
        tables = []
        for name, mean in means.items():
            rank = ranks(mean)
            tables.append(
                pd.DataFrame(
                    {
                        "pool": name, "run": judged.names, "member": masks[name], "value": mean,
                        "rank": rank, "moved": official - rank,
                    }
                )
            )  # fmt: skip
        return pd.concat(tables, ignore_index=True)

    return per_slice(judged.qids, of, weights, by)


def agreement_of_pools(by_pool: pd.DataFrame) -> pd.DataFrame:
    """How far the orders of systems by several pools agree with the one by all runs.

    Args:
        by_pool: what :func:`rareness_by_pool` returned, without slices.

    Returns:
        A row for each pool but that of all, with ``pool``, ``runs`` in it, ``tau`` (Kendall's
        tau-b), ``tau_AP``, and ``largest_move`` of a run's rank, up or down.
    """
    table = by_pool.pivot(index="run", columns="pool", values="value")
    rows = []
    for name, rows_of_pool in by_pool.groupby("pool", sort=False):
        if name == "all":
            continue
        given, official = table[name].to_numpy(), table["all"].to_numpy()
        rows.append(
            {
                "pool": name,
                "runs": int(rows_of_pool["member"].sum()),
                "tau": kendall_tau(given, official),
                "tau_AP": tau_ap(given, official),
                "largest_move": int(rows_of_pool["moved"].abs().max()),
            }
        )
    return pd.DataFrame(rows, columns=["pool", "runs", "tau", "tau_AP", "largest_move"])


def without_own_group(
    runs: Any,
    qrels: Any,
    groups: Mapping[str, str],
    measure: Any = None,
    *,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The value of every run with S_d counted over the other groups' runs, and its own.

    Runs of one group often find the same, and so make each other's finds common; here a run is
    scored as if it were its group's only one.

    Args:
        runs: dict of name -> run, folder of run files, or list of them; or JudgedRuns.
        qrels: frame, file, or ir_datasets id; None: those of JudgedRuns.
        groups: run -> group; a run that is not in it is a group by itself.
        measure: a rareness measure without a pool; None: ``AP_Rareness(alpha=1)@100``.
        weights: how much each query counts in a mean.
        by: what slice each query is in; one table for each.

    Returns:
        A row for each run, with ``run``, ``group``, ``runs_of_group``, ``value`` and ``rank`` with
        all runs counted, ``value_without`` and ``rank_without`` its group's others.

    >>> found = {"q": {"d": 1}}
    >>> runs = {"a1": found, "a2": found, "b": {"q": {"x": 1, "e": 0}}}
    >>> without_own_group(
    ...     runs, {"q": {"d": 1, "e": 1}}, {"a1": "a", "a2": "a"}, "P_Rareness(alpha=1.0)@2"
    ... )[["run", "value", "value_without"]].round(4)
      run   value  value_without
    0  a1  0.6667         0.7500
    1  a2  0.6667         0.7500
    2   b  0.8333         0.8333
    """
    judged = JudgedRuns.of(runs, qrels)
    parts = RarenessValues.of(judged, AP_Rareness(alpha=1) @ 100 if measure is None else measure)
    codes = group_codes(judged.names, groups)
    assert codes is not None
    everyone = parts.of_pool(np.ones(len(judged), dtype=bool))
    without = np.empty_like(everyone)
    for code in np.unique(codes):
        own = codes == code
        without[own] = parts.of_pool(~own)[own]
    sizes = np.bincount(codes)

    def of(queries: Queries) -> pd.DataFrame:
        value, alone = rounded(queries.mean(everyone)), rounded(queries.mean(without))
        return pd.DataFrame(
            {
                "run": judged.names,
                "group": [groups.get(name, name) for name in judged.names],
                "runs_of_group": sizes[codes],
                "value": value,
                "rank": ranks(value),
                "value_without": alone,
                "rank_without": ranks(alone),
            }
        )

    return per_slice(judged.qids, of, weights, by)


def pools_by(table: Mapping[str, str]) -> dict[str, list[str]]:
    """Pools of the runs that have the same value, such as the type of each run.

    >>> pools_by({"a": "manual", "b": "automatic", "c": "manual"})
    {'manual': ['a', 'c'], 'automatic': ['b']}
    """
    pools: dict[str, list[str]] = {}
    for run, value in table.items():
        pools.setdefault(value, []).append(run)
    return pools


def _members(judged: JudgedRuns, name: str, members: Iterable[str]) -> Bools:
    wanted = list(members)
    unknown = sorted(set(wanted) - set(judged.names))
    if unknown or not wanted:
        what = f"names runs that are not there: {unknown[:5]}" if unknown else "has no runs"
        raise ValueError(f"pool {name!r} {what}; there are {len(judged)}: {judged.names[:5]}, ...")
    return np.isin(judged.names, wanted)
