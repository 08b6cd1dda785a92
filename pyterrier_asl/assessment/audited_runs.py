"""Runs, measured by a machine's labels and by people's: the data of audits and of their plans."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..common.lazy import pd
from ..common.notices import names_of
from ..common.types import Floats, Ints
from ..evaluation.evaluation import Runs
from ..evaluation.sources import QrelsLike
from ..io.columns import is_table
from ..judging.pair_index import positions
from ..judging.qrels import read_all_labels, source_of
from ..measures.parsing import NamedMeasure
from .judges import Judges, with_reference

#: The names of the two judges of an audit.
PEOPLE, MACHINE = "people", "machine"

#: What begins the first line of a file of a plan, before its settings as JSON.
SETTINGS = "# "


@dataclass(frozen=True)
class AuditedRuns:
    """Runs, measured by a machine's judgements and, on some queries, by people's judgements.

    Attributes:
        judges: the people and the machine.
        qids: the machine's queries as text; the queries that people judged come first.
        size: the number of queries that people judged.
        order: the machine's queries in the order of ``qids``, by number.
        depth: the number of first documents of each run that people judged in all their queries, by
            the plan of the audit; without a plan the least number to which all are judged. None:
            people judged whole rankings.
    """

    judges: Judges
    qids: list[str]
    size: int
    order: Ints
    depth: int | None

    @classmethod
    def of(
        cls,
        runs: Runs,
        people: QrelsLike,
        machine: QrelsLike,
        rel: float | None,
        machine_rel: float | None,
        name: str = MACHINE,
    ) -> AuditedRuns:
        """Reads judgements and runs; see :func:`~pyterrier_asl.audit` for the arguments."""
        own = None if machine_rel is None else {name: machine_rel}
        planned = _planned_depths(people)
        if _are_several(people):
            people = read_all_labels(people)
        sources = with_reference({name: machine}, PEOPLE, people)
        judges = Judges.of(sources, runs, rel=rel, judge_rel=own, people=[PEOPLE])
        if len(judges.names) > 2:
            raise ValueError(
                f"an audit is of one machine by one judgement of people, not of "
                f"{names_of(judges.names)}: keep the labels of one judge"
            )
        by_people, by_machine = (judges.members[n].judgements.qid_text for n in judges.names)
        audited = positions(by_people, by_machine)
        if (audited < 0).any():
            unknown = by_people.filter(pa.array(audited < 0)).to_pylist()
            raise ValueError(
                f"people have judged {len(unknown)} queries that the machine has not, such as "
                f"{unknown[0]!r}: leave them out, or have the machine judge them"
            )
        order = np.append(audited, np.setdiff1d(np.arange(len(by_machine)), audited))
        qids = by_machine.take(pa.array(order)).to_pylist()
        depths = planned or [run.judged_depth for run in judges.runs_by(PEOPLE).runs]
        depth = min((depth for depth in depths if depth is not None), default=None)
        return cls(judges, qids, len(by_people), order, depth)

    def check_machine(self, measure: NamedMeasure) -> None:
        """Raises an error if the machine finds nothing relevant in the audited queries."""
        _, name = self.judges.names
        machine = self.judges.members[name]
        rows = np.flatnonzero(np.isin(machine.judgements.queries, self.order[: self.size]))
        replace(machine, judgements=machine.judgements.select(rows)).check_finds_relevant(
            self.judges.least_relevant(measure, name), f" in the {self.size} audited queries"
        )

    def pool(self, depth: int | None) -> dict[str, list[str]]:
        """The first ``depth`` documents of all runs for each of the machine's queries, by id."""
        parts = [
            pd.DataFrame({"query": ranking.queries, "docno": run.docnos(ranking)})
            for run in self.judges.runs_by(self.judges.names[1]).runs
            for ranking in [run.whole_ranking.cut(depth)]
        ]
        by_query = (
            pd.concat(parts).drop_duplicates().groupby("query")["docno"].agg(sorted).to_dict()
        )
        return {qid: by_query.get(at, []) for qid, at in zip(self.qids, self.order.tolist())}

    def judged(self, measure: NamedMeasure) -> Floats:
        """The share of each run's documents to the cut-off that people judged, shape (S,)."""
        runs = (run.view(cutoff_of(measure)) for run in self.judges.runs_by(PEOPLE).runs)
        return np.array([len(run.pairs) / max(run.retrieved.sum(), 1) for run in runs])

    def is_deeper(self, measure: NamedMeasure) -> bool:
        """Whether a measure looks at documents below the depth to which people judged."""
        return (cutoff_of(measure) or np.inf) > (self.depth or np.inf)

    def values(self, measure: NamedMeasure, rows: Ints, less: Ints) -> list[Floats]:
        """The values by people, by the machine on the same queries, and on the other queries.

        Args:
            measure: the measure.
            rows: the run of each row.
            less: the run whose values are subtracted; -1: none.
        """
        by_people, by_machine = (
            self.judges.runs_by(name).values(self.judges.measure_by(measure, name).measure)
            for name in self.judges.names
        )
        # A last row of zeros, with the index -1, for means, from which nothing is subtracted.
        values = np.pad(np.hstack((by_people, by_machine[:, self.order])), ((0, 1), (0, 0)))
        return np.split(values[rows] - values[less], [self.size, 2 * self.size], axis=1)


def cutoff_of(measure: NamedMeasure) -> int | None:
    """The cut-off of a measure; None: it looks at whole rankings."""
    return measure.measure.params.get("cutoff")  # type: ignore[no-any-return]


def _are_several(people: Any) -> bool:
    """Whether people's judgements are several files or frames of labels."""
    is_list = isinstance(people, (list, tuple)) and bool(people)
    return is_list and all(isinstance(own, (str, os.PathLike)) or is_table(own) for own in people)


def _planned_depths(people: Any) -> list[int | None]:
    """The depth in the settings of each file that a plan wrote."""
    depths: list[int | None] = []
    for source in people if _are_several(people) else [source_of(people)]:
        if isinstance(source, (str, os.PathLike)) and Path(source).is_file():
            with suppress(ValueError), open(source, encoding="utf-8") as file:
                depths.append(json.loads(file.readline().removeprefix(SETTINGS))["depth"])
    return depths


def means_and_differences(runs: int, first: int = 0, all_pairs: bool = False) -> tuple[Ints, Ints]:
    """The runs of all means, then of all differences, and the subtracted runs; -1: none."""
    means = [(row, -1) for row in range(runs)]
    others = [(row, first) for row in range(runs) if row != first]
    rows, less = np.array([*means, *(combinations(range(runs), 2) if all_pairs else others)]).T
    return rows, less
