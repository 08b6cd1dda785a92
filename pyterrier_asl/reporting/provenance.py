"""Where a report comes from: version, command, digests of the input and metadata of the runs."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from ..evaluation.judged_runs import JudgedRuns
from ..evaluation.scores import ScoreTable
from ..io.digests import digest_of
from ..io.metadata import metadata_lines, read_metadata
from ..io.runs import list_runs


@dataclass(frozen=True)
class Provenance:
    """The origin of a report.

    Attributes:
        version: that of this package.
        command: the command line, '' for a call from Python.
        qrels: digest of the judgements (BLAKE2b, 128 bits), of ids and grades as they were read; of
            scores that others computed, that of all of them.
        runs: likewise of each run, of query ids, document ids and scores in their order, or of its
            scores.
        metadata: the ir_metadata of each run, 'key: value' by line; '' for a run without.
    """

    version: str
    command: str
    qrels: str
    runs: list[str]
    metadata: list[str]

    @classmethod
    def of(cls, runs: JudgedRuns, command: str = "", sources: Any = None) -> Provenance:
        """That of a report on runs.

        Args:
            runs: the runs.
            command: the command line.
            sources: what the runs were made from, whose metadata is shown.

        >>> judged = JudgedRuns.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> Provenance.of(judged).runs == Provenance.of(judged).runs
        True
        """
        judgements = runs.judgements
        return cls(
            version("pyterrier-asl"),
            command,
            digest_of(
                [judgements.qid_text, judgements.offsets, judgements.docnos, judgements.grades]
            ),
            [digest_of([of.qid, of.docno, of.value]) for of in (run.table for run in runs.runs)],
            _metadata(sources, runs.names),
        )

    @classmethod
    def of_scores(cls, scores: ScoreTable, names: list[str], command: str = "") -> Provenance:
        """That of a report on scores that others computed."""
        rows = scores.rows

        def digest(part: Any) -> str:
            texts = [pa.array(list(map(str, part[name])), pa.large_string()) for name in part]
            return digest_of(texts)

        digests = [digest(rows[rows["name"] == name]) for name in names]
        return cls(version("pyterrier-asl"), command, digest(rows), digests, [""] * len(names))


def _metadata(sources: Any, names: list[str]) -> list[str]:
    """The ir_metadata of runs as text."""
    listed = {} if sources is None or isinstance(sources, JudgedRuns) else list_runs(sources)
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
