"""Provenance of a report: version, command, digests of the input and metadata of the runs."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pandas as pd
import pyarrow as pa

from ..evaluation.evaluation import Evaluation
from ..evaluation.scores import ScoreTable
from ..io.digests import digest_of
from ..io.metadata import metadata_lines, read_metadata
from ..io.runs import list_runs
from ..judging.judgements import Judgements
from ..unjudged.labels import OFFICIAL


@dataclass(frozen=True)
class Provenance:
    """The origin of a report.

    Attributes:
        version: the version of this package.
        command: the command line, '' for a call from Python.
        qrels: digest of the judgements (BLAKE2b, 128 bits), of ids and grades as they were read; of
            scores that others computed, that of all of them.
        runs: digest of each run, of query ids, document ids and scores in their order, or of its
            scores.
        official: digest of the judgements without labels that were added to them.
        labels: source of the labels -> their number.
        metadata: the ir_metadata of each run, 'key: value' by line; '' for a run without.
    """

    version: str
    command: str
    qrels: str
    runs: list[str]
    metadata: list[str]
    official: str
    labels: dict[str, int]

    @classmethod
    def of(
        cls,
        runs: Evaluation,
        command: str = "",
        sources: Any = None,
        merged: tuple[Any, pd.DataFrame] | None = None,
    ) -> Provenance:
        """Records the provenance of a report on runs.

        Args:
            runs: the runs.
            command: the command line.
            sources: the files or frames of the runs, whose metadata is shown.
            merged: the judgements alone, and with the labels that were added to them.

        >>> judged = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> Provenance.of(judged).runs == Provenance.of(judged).runs
        True
        """
        judged = _digest(runs.judgements)
        qrels, rows = merged or (None, pd.DataFrame({"source": []}))
        labels = rows.loc[rows["source"] != OFFICIAL, "source"].value_counts()
        return cls(
            version("pyterrier-asl"),
            command,
            judged,
            [digest_of([of.qid, of.docno, of.value]) for of in (run.table for run in runs.runs)],
            _metadata(sources, runs.names),
            judged if qrels is None else _digest(Judgements.of(qrels)),
            {str(name): int(count) for name, count in sorted(labels.items())},
        )

    @classmethod
    def of_scores(cls, scores: ScoreTable, names: list[str], command: str = "") -> Provenance:
        """Records the provenance of a report on scores that others computed."""
        rows = scores.rows

        def digest(part: Any) -> str:
            texts = [pa.array(list(map(str, part[name])), pa.large_string()) for name in part]
            return digest_of(texts)

        digests = [digest(rows[rows["name"] == name]) for name in names]
        return cls(
            version("pyterrier-asl"), command, digest(rows), digests, [""] * len(names), "", {}
        )


def _digest(judgements: Judgements) -> str:
    return digest_of(
        [judgements.qid_text, judgements.offsets, judgements.docnos, judgements.grades]
    )


def _metadata(sources: Any, names: list[str]) -> list[str]:
    """The ir_metadata of runs as text."""
    listed = {} if sources is None or isinstance(sources, Evaluation) else list_runs(sources)
    texts = []
    for name in names:
        source = listed.get(name)
        metadata = getattr(source, "attrs", {}).get("metadata", {})
        if isinstance(source, (str, os.PathLike)):
            with contextlib.suppress(ValueError, OSError):  # no number depends on it
                metadata = read_metadata(source)
        lines = [line.removeprefix("# ") for line in metadata_lines(metadata)[1:-1]]
        texts.append("\n".join(lines))
    return texts
