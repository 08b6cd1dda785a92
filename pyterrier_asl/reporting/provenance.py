"""How a report came about: the version, the command, and digests of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from ..evaluation.judged_runs import JudgedRuns
from ..io.digests import digest_of


@dataclass(frozen=True)
class Provenance:
    """The origin of a report.

    Attributes:
        version: that of this package.
        command: the command line, '' for a call from Python.
        qrels: digest of the judgements (BLAKE2b, 128 bits), of ids and grades as they were read.
        runs: likewise of each run, of query ids, document ids and scores in their order.
    """

    version: str
    command: str
    qrels: str
    runs: list[str]

    @classmethod
    def of(cls, runs: JudgedRuns, command: str = "") -> Provenance:
        """That of a report on runs.

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
        )
