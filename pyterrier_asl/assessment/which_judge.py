"""Which judge agrees best with the reference, and which of the others can be distinguished from it?

The agreements of two judges with the reference are compared in the same draws of queries, on the
pairs of query and document that both of them and the reference judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.notices import names_of
from ..measures.parsing import NamedMeasure
from ..statistics.intervals import bootstrap_p
from ..statistics.tests import with_corrected_p
from .agreement import (
    ON_GRADES,
    Agreement,
    agreements_of,
    draw_queries,
    interval_of,
)
from .human_range import DOCUMENTS, SYSTEMS, among_people, queries_of, with_ends
from .judges import Judges

#: The columns of :attr:`.JudgeReport.differences`.
COLUMNS = [
    *("judge", "other", "reference", "measure", "agreement", "difference", "ci_low", "ci_high"),
    *("p", "pairs", "queries", "p_corrected", "significant"),
]

#: The number of judges that the sentence names.
_NAMED = 8


def differences_of_judges(
    judges: Judges, measures: list[NamedMeasure], *, alpha: float, draws: int, seed: int
) -> pd.DataFrame:
    """Compares the agreement of every two judges with the reference.

    Args:
        judges: the judges, the reference first.
        measures: those that rank the runs.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries, at least; more for many judges.
        seed: seed of the draws.

    Returns:
        The frame :attr:`.JudgeReport.differences`. p is corrected over the pairs of judges.
    """
    reference, *others = judges.names
    judge_pairs = list(combinations(others, 2))
    # So many that p can be significant after the correction.
    draw = partial(draw_queries, draws=max(draws, ceil(4 * len(judge_pairs) / alpha)), seed=seed)
    groups: dict[tuple[str, str], Judges | None] = dict.fromkeys(judge_pairs, judges)
    if judges.on_shared_pairs is not judges:
        groups = {pair: judges.select([reference, *pair]).on_shared_pairs for pair in judge_pairs}
    parts = []
    for measure in [None, *measures]:
        done: dict[int, Any] = {}
        rows: list[dict[str, Any]] = []
        for pair, group in groups.items():
            if group is None:  # without a pair of query and document in common
                continue
            if id(group) not in done:
                done[id(group)] = agreements_of(group, measure, draw, reference)
            agreements = [done[id(group)][frozenset((reference, name))] for name in pair]
            about = {"reference": reference, "measure": "" if measure is None else measure.name}
            rows += (about | row for row in _compared(pair, agreements, alpha))
        kinds = pd.DataFrame(rows, columns=COLUMNS[:-2]).groupby("agreement", sort=False)
        parts += [with_corrected_p(own, "bootstrap", "holm", alpha) for _, own in kinds]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _compared(
    pair: tuple[str, str], agreements: list[Agreement], alpha: float
) -> Iterator[dict[str, Any]]:
    """A row for each kind of agreement, the judge that agrees more first."""
    a, b = agreements
    for kind in a.values:
        if kind not in ON_GRADES:  # which have no draws
            less = b.values[kind] - a.values[kind]
            (judge, other), sign = (pair[::-1], -1) if less[0] > 0 else (pair, 1)
            difference, low, high = interval_of(sign * less, alpha, a.queries)
            yield {
                "judge": judge,
                "other": other,
                "agreement": kind,
                "difference": difference,
                "ci_low": low,
                "ci_high": high,
                "p": np.nan if np.isnan(low) else bootstrap_p(less[0], less[1:]),
                "pairs": a.pairs,
                "queries": a.queries,
            }


def best_judge(agreement: pd.DataFrame, differences: pd.DataFrame, runs: int) -> list[str]:
    """The judge that agrees best, and which others are shown to agree less, for a paper.

    The ranking of the runs by the first measure decides; without runs, kappa.

    Args:
        agreement: the frame of :func:`.agreement_with_people`.
        differences: the frame of :func:`differences_of_judges`.
        runs: the number of runs.

    Returns:
        Two sentences; none for fewer than two judges with an agreement.
    """
    for kind in (SYSTEMS, DOCUMENTS):
        rows = agreement[agreement["agreement"] == kind].drop_duplicates("judge")
        rows = rows.dropna(subset="value").sort_values("value", ascending=False, kind="stable")
        if len(rows) > 1:
            break
    else:
        return []
    records: list[Any] = rows.to_dict("records")
    first, *rest = records
    chosen = differences[differences["agreement"] == kind]
    chosen = chosen[chosen["measure"].isin(chosen["measure"].head(1))]
    compared: list[Any] = chosen.to_dict("records")
    by_pair = {frozenset((row["judge"], row["other"])): row for row in compared}
    less, alike, unknown = [], [], []
    for row in rest:
        found = by_pair.get(frozenset((first["judge"], row["judge"])))
        if found is None or np.isnan(found["p"]):
            unknown.append(row["judge"])
        elif found["significant"] and found["other"] == row["judge"]:
            ends = "{difference:+.3f} [{ci_low:+.3f}, {ci_high:+.3f}]".format(**found)
            less.append(f"{row['judge']} ({ends})")
        else:
            alike.append(f"{row['judge']} ({row['value']:.3f})")
    parts = []
    if less:
        parts.append(
            f"{names_of(less, _NAMED)} {'agrees' if len(less) == 1 else 'agree'} significantly less"
        )
    if alike:
        are = "is" if len(alike) == 1 else "are"
        parts.append(f"{names_of(alike, _NAMED)} {are} not significantly different from it")
    if unknown:
        parts.append(f"{names_of(unknown, _NAMED)} cannot be compared with it")
    of = f"Of the {len(rest)} other judges, " if len(rest) > 1 else ""
    family = (
        f"; p is corrected for {len(chosen)} pairs of judges, intervals are not"
        if len(chosen) > 1
        else ""
    )
    on = "relevance" if kind == DOCUMENTS else f"the ranking of {runs} runs by {first['measure']}"
    return [
        f"{first['judge']} agrees best with {first['reference']} on {on} ({kind} "
        f"{with_ends(first)}, {queries_of(first)}{among_people(first)}).",
        f"{of}{'; '.join(parts)} (paired bootstrap over queries{family}).",
    ]
