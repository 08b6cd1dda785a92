"""Provenance of a report: version, command, digests of the input."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pandas as pd
import pyarrow as pa

from ..evaluation.evaluation import Evaluation
from ..evaluation.scores import ScoreTable
from ..io.digests import digest_of
from ..judging.judgements import Judgements
from ..judging.labels import OFFICIAL


@dataclass(frozen=True)
class Provenance:
    """The origin of a report.

    Attributes:
        version: the version of this package.
        command: the command line, '' for a call from Python.
        qrels: digest (BLAKE2b, 128 bits) of the ids and grades of the judgements as they were read;
            without runs the digest of all scores.
        runs: digest of each run's query ids, document ids and scores in their order; without runs
            the digest of each system's scores.
        labels: source of the labels -> number of labels.
    """

    version: str
    command: str
    qrels: str
    runs: list[str]
    labels: dict[str, int]

    @classmethod
    def of(
        cls,
        runs: Evaluation,
        command: str = "",
        merged: pd.DataFrame | None = None,
    ) -> Provenance:
        """Records the provenance of a report on runs.

        Args:
            runs: the runs.
            command: the command line.
            merged: the judgements with the labels that were added to them.

        >>> judged = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> Provenance.of(judged).runs == Provenance.of(judged).runs
        True
        """
        rows = pd.DataFrame({"source": []}) if merged is None else merged
        labels = rows.loc[rows["source"] != OFFICIAL, "source"].value_counts()
        return cls(
            version("pyterrier-asl"),
            command,
            _digest(runs.judgements),
            [digest_of([of.qid, of.docno, of.value]) for of in (run.table for run in runs.runs)],
            {str(name): int(count) for name, count in sorted(labels.items())},
        )

    @classmethod
    def of_scores(cls, scores: ScoreTable, names: list[str], command: str = "") -> Provenance:
        """Records the provenance of a report on scores that others computed."""
        rows = scores.rows

        def digest(part: Any) -> str:
            return digest_of(
                [pa.array(list(map(str, part[name])), pa.large_string()) for name in part]
            )

        digests = [digest(rows[rows["name"] == name]) for name in names]
        return cls(version("pyterrier-asl"), command, digest(rows), digests, {})


def _digest(judgements: Judgements) -> str:
    return digest_of(
        [judgements.qid_text, judgements.offsets, judgements.docnos, judgements.grades]
    )
