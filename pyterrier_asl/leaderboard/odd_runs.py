"""What a reader of a leaderboard must know of single runs and topics, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..common.notices import counted, grouped, names_of
from ..common.types import Floats
from ..evaluation.evaluation import Evaluation
from ..evaluation.labellings import Labelled
from ..evaluation.run_facts import RUN, Fact, first_cutoff
from ..io.digests import digest_of
from ..statistics.rounding import EQUAL

#: The share of the median run's documents up to which a run is nearly empty.
_NEARLY_EMPTY = 0.1
#: The most first ranks that are looked at for nearly empty runs.
_FIRST = 10
#: The share of the runs that are looked at for unjudged documents, and the least share of these
#: documents that is said.
_MOST_UNJUDGED, _LEAST_ALONE = 0.1, 0.5


def odd_runs(runs: Evaluation, measures: Mapping[str, Any]) -> list[str]:
    """Sentences on identical runs and on nearly empty runs.

    Args:
        runs: the runs.
        measures: the measures by name.

    >>> run, alone = {"q": {"d": 2, "e": 1}}, {"q": {"e": 2, "d": 1}}
    >>> odd_runs(Evaluation.of({"a": run, "b": alone, "c": run}, {"q": {"d": 1}}), {})
    ['a and c are identical: the same documents in the same order']
    """
    return [*_identical(runs), *_nearly_empty(runs, min(first_cutoff(measures), _FIRST))]


def _identical(runs: Evaluation) -> Iterator[str]:
    alike = grouped(
        (digest_of([run.retrieved, run.ranks, run.pairs]), (run, name))
        for run, name in zip(runs.runs, runs.names)
    )
    for some in alike.values():  # ids are compared only of runs that could be identical
        groups = grouped(
            (digest_of([run.docnos(run.whole_ranking)]), name)
            for run, name in some
            if len(some) > 1
        )
        yield from (
            f"{names_of(names)} are identical: the same documents in the same order"
            for names in groups.values()
            if len(names) > 1
        )


def _nearly_empty(runs: Evaluation, depth: int) -> Iterator[str]:
    numbers = np.array([np.minimum(run.retrieved, depth).sum() for run in runs.runs])
    median = float(np.median(numbers))
    few = [
        row for row in np.argsort(numbers, kind="stable") if numbers[row] < _NEARLY_EMPTY * median
    ]
    if few:
        first, *others = (runs.names[row] for row in few)
        yield Fact(
            "nearly empty",
            f"{RUN} is nearly empty: it has {counted(int(numbers[few[0]]), 'document')} at the "
            f"first {counted(depth, 'rank')} of {counted(len(runs.qids), 'query', 'queries')}, the "
            f"median run {median:,g}",
        ).sentence(first, others)


def topics_without_difference(values: Floats, measure: str) -> Iterator[str]:
    """The number of topics in which all systems have the same value, unless these are all topics.

    Args:
        values: shape (S, Q).
        measure: the name of the measure.

    >>> [*topics_without_difference(np.array([[0, 0.5, 1], [0, 1, 1]]), "RR")]
    ['Both systems have the same RR for 2 of 3 topics.']
    """
    same = np.ptp(values, axis=0) <= EQUAL * np.abs(values).max(initial=0)
    if same.any() and not same.all():
        who = "Both" if len(values) == 2 else f"All {len(values)}"
        topics = counted(len(same), "topic")
        yield f"{who} systems have the same {measure} for {same.sum():,} of {topics}."


def alone_with_unjudged(labelled: Labelled, names: list[str]) -> Iterator[str]:
    """The runs that alone retrieved most of the unjudged documents, if a few did.

    Args:
        labelled: the runs with their unjudged documents.
        names: the names of the runs.
    """
    retrieved = np.array([np.isin(labelled.documents, r.pairs) for r in labelled.unjudged.runs])
    few = math.ceil(_MOST_UNJUDGED * len(names))
    order = np.argsort(-retrieved.sum(axis=1), kind="stable")
    alone = np.asarray(~retrieved[order[few:]].any(axis=0))
    if len(names) > 2 and len(alone) and alone.mean() >= _LEAST_ALONE:
        most, them = names_of([names[row] for row in order[:few]]), "it" if few == 1 else "them"
        yield (
            f"{few} of {len(names)} runs ({most}) alone retrieved {100 * alone.mean():.0f} % of "
            f"the {len(alone):,} unjudged documents: leave {them} out to see the ranks of the "
            "others."
        )
