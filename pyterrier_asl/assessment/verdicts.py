"""Verdicts on judges: within the human range or not, and which of them agrees best.

The agreement of a judge with a person is compared with the agreement of other people with this
person, on the same pairs of query and document: the pairs that the judge and all people judged. The
agreements of two judges with the reference are compared in the same draws of queries, on the pairs
that both of them and the reference judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations
from math import ceil, comb
from types import MappingProxyType
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted, names_of
from ..common.types import Floats
from ..judging.judgements import shared_pairs
from ..measures.parsing import NamedMeasure
from ..statistics.intervals import Interval, bootstrap_p
from ..statistics.tests import with_corrected_p
from .agreement import ON_GRADES, Agreement, agreements_of, draw_queries, interval_of
from .judges import FEW_QUERIES, Judges

#: The amount by which a judge may agree less than people and still be within the human range.
MARGIN = 0.05

#: Verdicts on a judge.
WITHIN = "within the human range"
BELOW = "below the human range"
UNDECIDED = "cannot be said"
UNKNOWN = "range unknown"

#: The columns of the agreement of people with each other, and of a judge's minus theirs.
HUMAN = ("human_low", "human_high", "less_human", "less_low", "less_high")

#: The columns of :attr:`.JudgeReport.differences`.
COLUMNS = [
    *("judge", "other", "reference", "measure", "agreement", "difference", "ci_low", "ci_high"),
    *("p", "pairs", "queries", "p_corrected", "significant"),
]

#: The number of judges that the sentence names.
_NAMED = 8

#: What is said of one judge, and of several, beside the best.
_AGAINST_BEST = {
    "agrees significantly less": "agree significantly less",
    "is not significantly different from it": "are not significantly different from it",
    "cannot be compared with it": "cannot be compared with it",
}

#: The agreements that verdicts are about: on documents, and on the ranking of systems.
DOCUMENTS, SYSTEMS = "kappa", "tau"


def agreement_with_people(
    judges: Judges,
    measures: Iterable[NamedMeasure] = (),
    *,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Every agreement of each judge with the reference, and of people with each other.

    Args:
        judges: the judges, the reference first.
        measures: those that rank the runs.
        alpha: intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: seed of the draws.

    Returns:
        A row for each judge, measure and kind of agreement, with the columns of ``agreement``
        in :class:`~pyterrier_asl.assessment.compare_judges.JudgeReport`.
    """
    draw = partial(draw_queries, draws=draws, seed=seed)
    reference, *others = judges.names
    compared = {name: _on_shared_pairs(judges, name) for name in others}
    rows = []
    for measure in [None, *measures]:
        for name, (group, has_range) in compared.items():
            if measure is not None and not group.on_shared_pairs:
                continue
            agreements = agreements_of(group, measure, draw)
            label = "" if measure is None else judges.label(measure, [reference, name])
            keys = {"judge": name, "reference": reference, "measure": label}
            by_both = (judges.members[judge].judgements for judge in (reference, name))
            both = {"judged_by_both": len(shared_pairs(*by_both)[0])}
            for row in agreements[frozenset((reference, name))].rows(alpha):
                none = np.array([np.nan])  # grades of two people on different scales
                of_kind = {
                    pair: own.values.get(row["agreement"], none) for pair, own in agreements.items()
                }
                human = _human_columns(group, has_range, name, of_kind, alpha, row["queries"])
                rows.append({**keys, **row, **human, **both})
    return pd.DataFrame(rows)


def _on_shared_pairs(judges: Judges, name: str) -> tuple[Judges, bool]:
    """The reference, a judge and people on the pairs that all judged, and if there is a range.

    Without a human range: the reference and the judge, on the pairs that both judged.
    """
    reference = judges.names[0]
    people = judges.select(dict.fromkeys([reference, *judges.people, name])).on_shared_pairs
    if people is not None and len(set(judges.people) - {name}) > 1:
        return people, True
    both = judges.select([reference, name])
    return both.on_shared_pairs or both, False


def _human_columns(
    judges: Judges,
    has_range: bool,
    name: str,
    values: dict[frozenset[str], Floats],
    alpha: float,
    queries: int,
) -> dict[str, Any]:
    """The agreement of people with each other, and a judge's agreement minus theirs."""
    if not has_range:
        return {**dict.fromkeys(HUMAN, np.nan), "verdict": UNKNOWN, "human_pairs": 0}
    human = [float(values[frozenset(pair)][0]) for pair in combinations(judges.people, 2)]
    less = interval_of(_less_human(name, judges.people, values), alpha, queries)
    return {
        **dict(zip(HUMAN, (min(human), max(human), *less))),
        "verdict": _verdict(less),
        "human_pairs": len(judges.members[name].judgements.grades),
    }


def _less_human(name: str, people: list[str], values: dict[frozenset[str], Floats]) -> Floats:
    """A judge's agreement with a person minus other people's with this person, mean over people."""
    others = [person for person in people if person != name]
    of_persons = [
        values[frozenset((name, person))]
        - np.mean([values[frozenset((person, o))] for o in others if o != person], axis=0)
        for person in others
    ]
    return np.asarray(np.mean(of_persons, axis=0))


def _verdict(less: Interval) -> str:
    if np.isnan(less.mean):
        return UNKNOWN
    if less.low >= -MARGIN:
        return WITHIN
    return BELOW if less.high < -MARGIN else UNDECIDED


# In words

#: What a verdict says of a judge's ranking of systems, and of its labels.
_ON_SYSTEMS = {
    WITHIN: "ranks systems as people do",
    BELOW: "ranks systems less like people than people do",
    UNDECIDED: "ranks systems perhaps as people do, which {queries} do not show",
    UNKNOWN: "ranks systems",
}
_ON_DOCUMENTS = {
    WITHIN: ", as people's do ({human})",
    BELOW: ", less than people's ({human})",
    UNDECIDED: "; people's have {human}, and {queries} do not show whether that is more",
    UNKNOWN: "",
}

#: Said of all judges where the human range is unknown.
UNKNOWN_RANGE = "How people agree is unknown: there is one person."

#: Labels agree little below this kappa.
_LITTLE = 0.4


def judge_lines(
    agreement: pd.DataFrame, people: list[str], favours: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """What each judge can be used for, in a line per judge, with cautions.

    Args:
        agreement: the frame of :func:`agreement_with_people`.
        people: the judges that are people.
        favours: judge -> how many runs it favours, as the end of the sentence.
    """
    lines = {}
    for judge, rows in agreement.groupby("judge", sort=False):
        records = rows.to_dict("records")
        labels = next(row for row in records if row["agreement"] == DOCUMENTS)
        answers = [
            *(_ranking(row) for row in records if row["agreement"] == SYSTEMS),
            _labels(labels, share=records[0]["value"]),
            *([favours[str(judge)]] if judge in favours else []),
        ]
        lines[str(judge)] = " ".join(
            [f"{judge}: {'; '.join(answers)}.", *_cautions(labels, people)]
        )
    return lines


def _ranking(row: dict[Any, Any]) -> str:
    """How a judge ranks systems by a measure."""
    if np.isnan(row["value"]):
        return f"cannot rank systems by {row['measure']}, by which they are equal"
    return (
        f"{_ON_SYSTEMS[row['verdict']].format(queries=queries_of(row))} by {row['measure']} "
        f"(tau {with_ends(row)} on {counted(row['pairs'], 'pair')}{among_people(row)})"
    )


def _labels(row: dict[Any, Any], share: float) -> str:
    """How a judge labels documents; ``share`` is the share of equal labels."""
    if not row["pairs"]:
        return f"no document was judged by {row['judge']} and {row['reference']}"
    if np.isnan(row["value"]):
        return (
            f"kappa is not informative, because all labels of a judge are the same: agreement "
            f"{share:.3f}, share of relevant documents by {row['reference']} "
            f"{row['reference_relevant']:.3f}, {row['judge']} {row['relevant']:.3f}"
        )
    verdict = _ON_DOCUMENTS[row["verdict"]].format(human=people_range(row), queries=queries_of(row))
    return f"labels agree{' little' * (row['value'] < _LITTLE)} (kappa {with_ends(row)}){verdict}"


def _cautions(row: dict[Any, Any], people: list[str]) -> Iterator[str]:
    """What limits the line about a judge, by its row of kappa."""
    if row["verdict"] == UNKNOWN and len(people) > 1:
        yield f"How people agree is unknown: {_why_unknown(row, people)}."
    if row["human_low"] < _LITTLE:
        yield f"Caution: people agree little with each other on labels (kappa {people_range(row)})."
    if 0 < row["human_pairs"] < row["judged_by_both"]:
        yield (
            f"Caution: the values are on the {counted(row['pairs'], 'pair')} of query and document "
            f"that {row['judge']} and all people judged; on the {row['judged_by_both']:,} that "
            f"{row['judge']} and {row['reference']} judged they can differ."
        )
    if row["queries"] < FEW_QUERIES:
        yield f"Caution: intervals of {queries_of(row)} are too narrow ({FEW_QUERIES} are needed)."


def people_range(row: dict[Any, Any]) -> str:
    """The least and the greatest agreement of two people; '' where it is unknown."""
    return " to ".join(
        dict.fromkeys(f"{row[end]:.3f}" for end in HUMAN[:2] if not np.isnan(row[end]))
    )


def among_people(row: dict[Any, Any]) -> str:
    """The end of a value in brackets: how people agree, if that is known."""
    return f"; people among themselves {human}" if (human := people_range(row)) else ""


def with_ends(row: dict[Any, Any]) -> str:
    """A value with its interval, if there is one."""
    ends = "" if np.isnan(row["ci_low"]) else f" [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
    return f"{row['value']:.3f}{ends}"


def queries_of(row: dict[Any, Any]) -> str:
    """The number of queries of a row."""
    return counted(row["queries"], "query", "queries")


def _why_unknown(row: dict[Any, Any], people: list[str]) -> str:
    if len(set(people) - {row["judge"]}) < 2:
        return f"{row['judge']} is one of two people"
    if not row["human_pairs"]:
        return f"no document was judged by {row['judge']} and all people"
    return "kappa has no value on the documents that all judged"


# Which judge agrees best


def differences_of_judges(
    judges: Judges, measures: list[NamedMeasure], *, alpha: float, draws: int, seed: int
) -> pd.DataFrame:
    """Compares the agreement of every two judges with the reference.

    Args:
        judges: the judges, the reference first.
        measures: those that rank the runs.
        alpha: the level of significance; intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: seed of the draws.

    Returns:
        The frame :attr:`.JudgeReport.differences`. p is corrected over the pairs of judges; 0 is
        less than 2 / (draws + 1), corrected less than :func:`least_p`.
    """
    reference, *others = judges.names
    judge_pairs = list(combinations(others, 2))
    draw = partial(draw_queries, draws=draws, seed=seed)
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


def least_p(judges: int, draws: int) -> float:
    """The bound of a corrected p of 0, over the pairs of judges.

    >>> least_p(9, 7199)
    0.01
    """
    return ceil(1e4 * comb(judges, 2) * 2 / (draws + 1)) / 1e4  # as printed


def _compared(
    pair: tuple[str, str], agreements: list[Agreement], alpha: float
) -> Iterator[dict[str, Any]]:
    """A row for each kind of agreement, the judge that agrees more first."""
    a, b = agreements
    for kind in (kind for kind in a.values if kind not in ON_GRADES):  # which have no draws
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
    first, *rest = rows.to_dict("records")
    chosen = differences[differences["agreement"] == kind]
    chosen = chosen[chosen["measure"].isin(chosen["measure"].head(1))]
    by_pair = {frozenset((row["judge"], row["other"])): row for row in chosen.to_dict("records")}
    said: dict[str, list[str]] = {way: [] for way in _AGAINST_BEST}
    for row in rest:
        found = by_pair.get(frozenset((first["judge"], row["judge"])))
        if found is None or np.isnan(found["p"]):
            said["cannot be compared with it"].append(row["judge"])
        elif found["significant"] and found["other"] == row["judge"]:
            ends = "{difference:+.3f} [{ci_low:+.3f}, {ci_high:+.3f}]".format_map(found)
            said["agrees significantly less"].append(f"{row['judge']} ({ends})")
        else:
            alike = f"{row['judge']} ({row['value']:.3f})"
            said["is not significantly different from it"].append(alike)
    parts = [
        f"{names_of(names, _NAMED)} {way if len(names) == 1 else _AGAINST_BEST[way]}"
        for way, names in said.items()
        if names
    ]
    of = f"Of the {len(rest)} other judges, " * (len(rest) > 1)
    family = f"; p is corrected for {len(chosen)} pairs of judges, intervals are not"
    on = "relevance" if kind == DOCUMENTS else f"the ranking of {runs} runs by {first['measure']}"
    return [
        f"{first['judge']} agrees best with {first['reference']} on {on} ({kind} "
        f"{with_ends(first)}, {queries_of(first)}{among_people(first)}).",
        f"{of}{'; '.join(parts)} (paired bootstrap over queries{family * (len(chosen) > 1)}).",
    ]
