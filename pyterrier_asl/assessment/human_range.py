"""The human range: agreement of people with each other, with a verdict on each judge.

The agreement of a judge with a person is compared with the agreement of other people with this
person, on the same pairs of query and document: the pairs that the judge and all people judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ..io.lazy import pd
from ..io.notices import counted
from ..measures.names import Measures, NamedMeasure
from ..scoring.arrays import Floats
from ..statistics.intervals import Interval
from .agreement import agreement_on_documents, agreement_on_systems, draw_queries, interval_of
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

#: The agreements that verdicts are about: on documents, and on the ranking of systems.
DOCUMENTS, SYSTEMS = "kappa", "tau"


def verdicts(
    judges: Judges,
    measures: Measures = "AP",
    *,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Each judge's kappa and tau with the reference, and whether it is within the human range.

    Args:
        judges: the judges, the reference first; the human range is the range of its ``people``.
        measures: for tau: one measure or several, or their names; without runs there is no tau.
        alpha: intervals cover 1 - alpha.
        draws: draws of the bootstrap over queries.
        seed: of those draws.

    Returns:
        The rows of kappa and tau of :func:`agreement_with_people`, and ``sentence``, the verdict
        in words.

    >>> nist = {f"q{n}": {"a": 1, "b": 0, "c": n % 2} for n in range(20)}
    >>> model = {f"q{n}": {"a": 1, "b": 0, "c": int(n % 3 == 0)} for n in range(20)}
    >>> judges = Judges.of({"nist": nist, "model": model}, people=["nist"])
    >>> verdicts(judges, draws=200)[["judge", "agreement", "value", "verdict"]].round(3)
       judge agreement  value        verdict
    0  model     kappa  0.633  range unknown
    """
    ranked = judges.ranked_by(measures)
    table = agreement_with_people(judges, ranked, alpha=alpha, draws=draws, seed=seed)
    kept = table[table["agreement"].isin([DOCUMENTS, SYSTEMS])].reset_index(drop=True)
    return kept.assign(sentence=sentences(kept, judges.people))


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
        seed: of those draws.

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
            if measure is None:
                agreements, label = agreement_on_documents(group, draw), ""
            elif group.on_shared_pairs:
                agreements = agreement_on_systems(group, measure, draw)
                label = judges.label(measure, [reference, name])
            else:
                continue
            for row in agreements[frozenset((reference, name))].rows(reference, name, alpha):
                values = {pair: own.values[row["agreement"]] for pair, own in agreements.items()}
                human = _human_columns(group, has_range, name, values, alpha, row["queries"])
                keys = {"judge": name, "reference": reference, "measure": label}
                rows.append({**keys, **row, **human})
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
    people = judges.people
    human = [float(values[frozenset(pair)][0]) for pair in combinations(people, 2)]
    less = interval_of(_less_human(name, people, values), alpha, queries)
    numbers = (min(human), max(human), less.mean, less.low, less.high)
    return {
        **dict(zip(HUMAN, numbers)),
        "verdict": _verdict(less),
        "human_pairs": len(judges.members[name].judgements.grades),
    }


def _less_human(name: str, people: list[str], values: dict[frozenset[str], Floats]) -> Floats:
    """A judge's agreement with a person minus other people's with this person, mean over people."""
    parts = []
    for person in people:
        others = [other for other in people if other not in (person, name)]
        if person != name and others:
            among = np.mean([values[frozenset((person, other))] for other in others], axis=0)
            parts.append(values[frozenset((name, person))] - among)
    return np.mean(parts, axis=0) if parts else np.array([np.nan])


def _verdict(less: Interval) -> str:
    if np.isnan(less.mean):
        return UNKNOWN
    if less.low >= -MARGIN:
        return WITHIN
    return BELOW if less.high < -MARGIN else UNDECIDED


# In words


def sentences(agreement: pd.DataFrame, people: list[str]) -> list[str]:
    """Sentences with the verdict on each row of kappa or tau, and its numbers.

    Args:
        agreement: rows of :func:`agreement_with_people`.
        people: the judges that are people.
    """
    rows: list[Any] = agreement.to_dict("records")
    return [_sentence(row, people) for row in rows if row["agreement"] in (DOCUMENTS, SYSTEMS)]


def _sentence(row: dict[str, Any], people: list[str]) -> str:
    ends = ("value", "ci_low", "ci_high", "less_low", "less_high")
    row = row | {end: round(row[end], 3) + 0 for end in ends}  # not -0
    judge, symbol = row["judge"], row["agreement"]
    what = "documents" if symbol == DOCUMENTS else f"the ranking by {row['measure']}"
    numbers = f"{symbol} {row['value']:.3f}{_interval(row['ci_low'], row['ci_high'], '.3f')}"
    if np.isnan(row["value"]):
        numbers = f"{symbol} has no value"
    numbers += f" with {row['reference']}"
    queries = counted(row["queries"], "query", "queries")
    pairs = counted(row["pairs"], "pair of query and document", "pairs of query and document")
    if row["verdict"] == UNKNOWN:
        on = f"{pairs} ({queries})" if symbol == DOCUMENTS or row["human_pairs"] else queries
        return f"{judge}, {what}: {numbers} on {on}; {_why_unknown(row, people)}."
    heads = {
        WITHIN: f"{judge} is within the human range",
        BELOW: f"{judge} is below the human range",
        UNDECIDED: f"It cannot be said with {queries} whether {judge} is within the human range",
    }
    few = row["queries"] < FEW_QUERIES
    warning = f"; below {FEW_QUERIES} queries intervals are too narrow" if few else ""
    human = " to ".join(dict.fromkeys(f"{row[end]:.3f}" for end in ("human_low", "human_high")))
    return (
        f"{heads[row['verdict']]} on {what}: {numbers}; people with each other {human}; with a "
        f"person on average {_difference_in_words(row['less_human'])} other people's"
        f"{_interval(row['less_low'], row['less_high'], '+.3f')} ({pairs} that {judge} and all "
        f"people judged, {queries}{warning})."
    )


def _interval(low: float, high: float, form: str) -> str:
    """The ends of an interval in brackets; '' if it has none."""
    return "" if np.isnan(low) else f" [{low:{form}}, {high:{form}}]"


def _difference_in_words(less: float) -> str:
    """How much higher or lower a judge's agreement is."""
    size = f"{abs(less):.3f}"
    if float(size) == 0:
        return "the same as"
    return f"{size} {'higher' if less > 0 else 'lower'} than"


def _why_unknown(row: dict[str, Any], people: list[str]) -> str:
    no_range = "so there is no human range"
    if len(people) < 2:
        return f"there is no second human judge, {no_range}"
    if len(set(people) - {row["judge"]}) < 2:
        return f"{row['judge']} is one of two people, {no_range} for {row['judge']}"
    if not row["human_pairs"]:
        return f"no document was judged by {row['judge']} and all people, {no_range}"
    return f"{row['agreement']} has no value where {row['judge']} and all people judged, {no_range}"
