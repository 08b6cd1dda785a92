"""Provenance of a report: version, command, digests of the input and metadata of the runs."""

from __future__ import annotations

import contextlib
import os
import shlex
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
        words: the arguments of a command line for the judgements, with labels, and for each run;
            empty for scores.
        metadata: the ir_metadata of each run, one 'key: value' per line; '' without metadata.
    """

    version: str
    command: str
    qrels: str
    runs: list[str]
    metadata: list[str]
    labels: dict[str, int]
    words: list[str]

    @classmethod
    def of(
        cls,
        runs: Evaluation,
        command: str = "",
        sources: Any = None,
        qrels: Any = None,
        merged: pd.DataFrame | None = None,
    ) -> Provenance:
        """Records the provenance of a report on runs.

        Args:
            runs: the runs.
            command: the command line.
            sources: the files or frames of the runs, which can have metadata.
            qrels: the file or frame of the judgements.
            merged: the judgements with the labels that were added to them.

        >>> judged = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
        >>> Provenance.of(judged).runs == Provenance.of(judged).runs
        True
        """
        rows = pd.DataFrame({"source": []}) if merged is None else merged
        listed = {} if sources is None or isinstance(sources, Evaluation) else list_runs(sources)
        files = [listed.get(name) for name in runs.names]
        labels = rows.loc[rows["source"] != OFFICIAL, "source"].value_counts()
        words = [_word(file, name) for file, name in zip([qrels, *files], ["QRELS", *runs.names])]
        words[0] += "".join(f" --labels {_word(None, str(name))}" for name in sorted(labels.index))
        return cls(
            version("pyterrier-asl"),
            command,
            _digest(runs.judgements),
            [digest_of([of.qid, of.docno, of.value]) for of in (run.table for run in runs.runs)],
            [_metadata(file) for file in files],
            {str(name): int(count) for name, count in sorted(labels.items())},
            words,
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
        return cls(
            version("pyterrier-asl"), command, digest(rows), digests, [""] * len(names), {}, []
        )


def _digest(judgements: Judgements) -> str:
    return digest_of(
        [judgements.qid_text, judgements.offsets, judgements.docnos, judgements.grades]
    )


def _word(source: Any, name: str) -> str:
    """The word of a command line for a file, or for other input by its name."""
    return shlex.quote(str(source if isinstance(source, (str, os.PathLike)) else name))


def _metadata(source: Any) -> str:
    """The ir_metadata of a run as text."""
    metadata = getattr(source, "attrs", {}).get("metadata", {})
    if isinstance(source, (str, os.PathLike)):
        with contextlib.suppress(ValueError, OSError):  # no number depends on it
            metadata = read_metadata(source)
    return "\n".join(line.removeprefix("# ") for line in metadata_lines(metadata)[1:-1])
