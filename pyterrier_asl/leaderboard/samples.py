"""The values of systems for the topics of one or more collections, by one or more judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ..assessment.judges import QRELS, Judges
from ..common.notices import counted, names_of
from ..common.types import Floats, Ints
from ..evaluation.collections import shared_systems
from ..evaluation.facts import joined_notes
from ..evaluation.labellings import Labelled, check_cutoff, labelled_measures
from ..evaluation.scores import ScoreTable
from ..measures.parsing import NamedMeasure
from ..statistics.rounding import EQUAL
from ..statistics.settings import FEW, FEWEST
from .odd_runs import alone_with_unjudged

#: The greatest number of differences of pairs by topic.
_MOST_BOUNDS = 10**8


@dataclass(frozen=True)
class Sample:
    """Values of S systems for Q topics.

    Attributes:
        names: the systems.
        qids: the topics.
        higher_is_better: the direction of the measure.
        values: judge -> values as the measure gives them, shape (S, Q), the first judge's first.
        lower: judge -> the least gain of the row's system over the column's for all labels of the
            unjudged documents, shape (S, S, Q); empty if they count as not relevant.
        collections: the collection of each topic; None: one collection.
        left_out: the number of topics that a judge lacks.
        alone: sentences on the runs that alone retrieved most of the unjudged documents.
    """

    names: list[str]
    qids: list[Any]
    higher_is_better: bool
    values: dict[str, Floats]
    lower: dict[str, Floats] = field(default_factory=dict)
    collections: list[str] | None = None
    left_out: int = 0
    alone: list[str] = field(default_factory=list)

    @property
    def sign(self) -> int:
        """1, or -1 where lower values are better."""
        return 1 if self.higher_is_better else -1

    @property
    def means(self) -> Floats:
        """The mean of each system by the first judge; with collections the mean of their means."""
        values = next(iter(self.values.values()))
        if self.collections is None:
            return np.asarray(values.mean(axis=1))
        tracks = np.array(self.collections)
        parts = [values[:, tracks == track].mean(axis=1) for track in dict.fromkeys(tracks)]
        return np.asarray(np.mean(parts, axis=0))

    @cached_property
    def ranks(self) -> Ints:
        """The rank of each system by :attr:`means`, from 1; equal means share a rank."""
        means = self.sign * self.means
        rounding = EQUAL * max(np.abs(values).max() for values in self.values.values())
        return np.asarray(1 + (means > means[:, np.newaxis] + rounding).sum(axis=1))

    def systems(self, names: Sequence[str]) -> Sample:
        """The sample of some of the systems, in this order."""
        rows = [self.names.index(name) for name in names]
        return replace(
            self,
            names=list(names),
            values={judge: values[rows] for judge, values in self.values.items()},
            lower={judge: lower[np.ix_(rows, rows)] for judge, lower in self.lower.items()},
        )


def sample_of_runs(
    judges: Judges,
    measure: NamedMeasure,
    *,
    unjudged: bool = False,
    depth: int | None = None,
    highest: float | None = None,
) -> Sample:
    """The sample of a collection's runs by their judges; see `ranks` for the arguments.

    Raises:
        ValueError: for judges without a common topic, or too many bounds.
    """
    values, topics = judges.values(measure), len(judges.qids)
    if unjudged and (size := len(judges.systems) ** 2 * topics) > _MOST_BOUNDS:
        raise ValueError(
            f"bounds of all pairs of {len(judges.systems)} systems for {topics} topics are "
            f"{size:,} numbers, more than {_MOST_BOUNDS:,}: leave out systems, or unjudged=True"
        )
    lower, alone = {}, []
    for name in judges.names if unjudged else ():
        asked = judges.measure_by(measure, name)
        check_cutoff(asked.measure, asked.name)
        runs, measures = judges.runs_by(name), {asked.name: asked.measure}
        [labelled] = labelled_measures(runs, measures, depth=depth, highest=highest).values()
        lower[name] = _least_gains(labelled, asked.higher_is_better)[..., judges.positions[name]]
        by = f"By {name} " * (len(judges.names) > 1)
        alone += [by + text for text in alone_with_unjudged(labelled, judges.systems)]
    return Sample(
        judges.systems,
        judges.qids,
        measure.higher_is_better is not False,
        values,
        lower,
        left_out=len(judges.all_qids) - topics,
        alone=alone,
    )


def sample_of_scores(scores: ScoreTable, measure: str, track: str = "") -> tuple[Sample, str]:
    """The sample of a collection's scores, where there are no runs, and a word on missing ones."""
    read, up = scores.matrices([measure], track), scores.direction(measure)
    [table] = read.frames.values()
    values = {QRELS: table.to_numpy(dtype=np.float64)}
    return Sample(list(table.index), list(table), up, values), read.note


def _least_gains(labelled: Labelled, higher_is_better: bool | None) -> Floats:
    """The least gain of each run over each other run among all labels of unjudged documents."""
    systems = len(labelled.sides)
    lower = np.zeros((systems, systems, len(labelled.judgements)))
    for a, b in combinations(range(systems), 2):
        low, high = labelled.difference(a, b)
        if higher_is_better is False:
            low, high = -high, -low
        lower[a, b], lower[b, a] = low, -high
    return lower


def joined(samples: Mapping[str, Sample], *, common: bool = False) -> dict[str, Sample]:
    """Samples of collections with the same systems in the same order.

    Args:
        samples: by collection.
        common: whether to leave out systems that a collection lacks.

    Raises:
        ValueError: for a system that a collection lacks, with both names, without ``common``; if no
            system is left; for different judges.
    """
    first = next(iter(samples.values()))
    for track, sample in samples.items():
        if list(sample.values) != list(first.values):
            raise ValueError(
                f"collection {track!r} has the judges {', '.join(sample.values)}, another has "
                f"{', '.join(first.values)}: give the same judges for all collections"
            )
    shared = shared_systems(
        {track: sample.names for track, sample in samples.items()}, common=common
    )
    return {track: sample.systems(shared) for track, sample in samples.items()}


def together(samples: Mapping[str, Sample]) -> Sample:
    """All collections as one sample, each topic of its collection."""
    first, *_ = parts = list(samples.values())
    return Sample(
        names=first.names,
        qids=[(track, qid) for track, sample in samples.items() for qid in sample.qids],
        higher_is_better=first.higher_is_better,
        values={
            judge: np.concatenate([part.values[judge] for part in parts], axis=-1)
            for judge in first.values
        },
        lower={
            judge: np.concatenate([part.lower[judge] for part in parts], axis=-1)
            for judge in first.lower
        },
        collections=[track for track, sample in samples.items() for _ in sample.qids],
        left_out=sum(part.left_out for part in parts),
        alone=joined_notes({track: sample.alone for track, sample in samples.items()}),
    )


def checked_sample(sample: Sample, measure: str) -> list[str]:
    """Why the intervals of a sample may hold less often than their level, in sentences.

    Raises:
        ValueError: for a value that is not finite, a collection of a single topic, or fewer topics
            than :data:`FEWEST`.
    """
    topics, limits = len(sample.qids), list[str]()
    if topics < FEWEST:
        raise ValueError(
            f"intervals of ranks need at least {FEWEST} topics, not {counted(topics, 'topic')}"
        )
    if topics < FEW:
        limits.append(
            f"there are only {topics} topics: intervals may hold less often than their level"
        )
    sizes = Counter(sample.collections or [])
    if single := [repr(track) for track, size in sizes.items() if size == 1]:
        raise ValueError(f"collection {single[0]} has a single topic: leave it out")
    if small := [track for track, size in sizes.items() if size < FEWEST]:
        has, it = ("has", "it counts") if len(small) == 1 else ("have", "they count")
        limits.append(
            f"{names_of(small)} {has} fewer than {FEWEST} topics: {it} in overall, but {has} no "
            "table"
        )
    for judge, values in [*sample.values.items(), *sample.lower.items()]:
        for *systems, topic in np.argwhere(~np.isfinite(values)).tolist()[:1]:
            pair = " less ".join(repr(sample.names[system]) for system in systems)
            by = f" by judge {judge!r}" * (len(sample.values) > 1)
            raise ValueError(
                f"{measure} of {pair} for topic {sample.qids[topic]!r}{by} is "
                f"{values[(*systems, topic)]}: give every system a finite value for every topic"
            )
    return limits
