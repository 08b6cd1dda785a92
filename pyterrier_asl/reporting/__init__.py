"""The report: one page that says where relevant documents are lost, who differs, and why.

The package is not called ``report`` because that is the function's name: a module of one name would
take the function's place in :mod:`pyterrier_asl` as soon as it is imported.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._atomic import replacing

if TYPE_CHECKING:
    from .gather import Findings

__all__ = ["Report", "report"]


@dataclass(frozen=True)
class Report:
    """A report, made.

    Attributes:
        html: the page, whole: it opens without a network.
        findings: its numbers.
    """

    html: str
    findings: Findings

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; a file that is there is replaced only by a whole one."""
        with replacing(path) as beside:
            beside.write_text(self.html, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        systems, topics = len(self.findings.names), len(self.findings.runs.qids)
        return f"Report({systems} systems, {topics} topics, {len(self.html) / 1e6:.1f} MB)"


def report(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    topics: Any = None,
    dataset: str | None = None,
    title: str | None = None,
    note: str = "",
    rel: float | None = None,
    cutoff: int = 1000,
    alpha: float = 0.05,
    test: str = "tukey-two-way",
    lengths: Any = None,
    groups: Mapping[str, str] | None = None,
    stability: bool = False,
) -> Report:
    """Makes a page about systems: where relevant documents are lost, who differs, and why.

    It has a leaderboard with intervals and groups that cannot be told apart, search lengths, orders
    by several measures, any system against any other, every topic with the documents that nobody
    finds, and how much of it rests on documents that nobody judged. The same input makes the same
    page, byte for byte.

    Args:
        runs: dict of name -> run (frame, file, or a transformer, which then needs ``topics``), a
            folder of run files (such as an experiment's ``save_dir``), or a list of them.
        qrels: frame, file, or ir_datasets id.
        measures: names or measures, the first decides who is best; None: ours, and AP,
            ``nDCG@10``, RR, R and ``Judged@10`` to read them beside.
        topics: frame with ``qid`` and ``query``, dict of query id -> text, or a file with lines
            ``qid<TAB>query``: what the queries say.
        dataset: an ir_datasets id: what queries and documents say.
        title: the heading.
        note: a line at the end, such as a date.
        rel: minimum grade of a relevant document; None: what the official measures of an
            ir_datasets id say, else 1.
        cutoff: k, how deep every ranking is looked at.
        alpha: level of significance.
        test: of which systems differ; see :func:`~pyterrier_asl.statistics.compare_all`.
        lengths: for TBG: a DocLengths, its name or file, or ``'irds:ID'``.
        groups: run -> group, for rareness; see :class:`~pyterrier_asl.RarenessPool`.
        stability: whether to show how many pairs each measure tells apart, and how often the better
            system of a pair is so on half of the topics.

    Raises:
        ImportError: without Altair, vl-convert and Jinja: ``pip install 'pyterrier-asl[report]'``.
        ValueError: for what cannot be used, by name.

    Example:
        >>> report(runs, qrels, dataset="irds:vaswani").save("report.html")  # doctest: +SKIP
    """
    from .gather import gather

    try:
        from .render import render
    except ImportError as error:
        raise ImportError(
            f"a report needs {error.name}: pip install 'pyterrier-asl[report]'", name=error.name
        ) from error
    from .texts import Texts

    findings = gather(
        _retrieved(runs, topics), qrels, measures, rel=rel, cutoff=cutoff, alpha=alpha, test=test,
        lengths=lengths, groups=groups, stable=stability,
    )  # fmt: skip
    docnos = findings.runs.judgements.docnos.take(findings.ranks.pairs).to_pylist()
    texts = Texts.of(topics, dataset, docnos)
    if title is None:
        title = _title(findings, qrels)
    return Report(render(findings, title=title, texts=texts, note=note), findings)


def _retrieved(runs: Any, topics: Any) -> Any:
    """Runs, those of transformers made by asking them the topics."""
    if not isinstance(runs, Mapping):
        return runs
    systems = [name for name, run in runs.items() if hasattr(run, "transform") and callable(run)]
    if systems and not hasattr(topics, "columns"):
        raise ValueError(
            f"{systems[0]!r} is a transformer: pass topics=, a frame with qid and query, to ask it"
        )
    return {
        name: run.transform(topics) if name in systems else run for name, run in runs.items()
    }


def _title(findings: Findings, qrels: Any) -> str:
    named = isinstance(qrels, (str, os.PathLike))
    about = f" on {Path(qrels).name if Path(qrels).is_file() else qrels}" if named else ""
    systems = len(findings.names)
    return f"{systems} {'system' if systems == 1 else 'systems'}{about}"
