"""The report: one page that shows who could be the best, and which documents are missed.

The package is not named ``report``: a module of that name would replace the function
:func:`pyterrier_asl.report` when it is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common.notices import counted, names_of
from ..common.parameters import taking_other_names
from ..io.atomic import replacing

if TYPE_CHECKING:
    from ..evaluation.sources import JudgeRel
    from .findings import Findings

#: What a page begins with.
PAGE = b"<!DOCTYPE html"


@dataclass(frozen=True)
class Report:
    """A finished report.

    Attributes:
        html: the whole page, which works offline.
        findings: the numbers on the page.
    """

    html: str
    findings: Findings

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the page; an existing page is replaced only by a complete one.

        Args:
            path: the file.
            force: whether another kind of file is overwritten.
        """
        with replacing(path, begins=PAGE, force=force) as beside:
            beside.write_text(self.html, encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        """The verdict by the measure that decides, for notebooks."""
        from .answers import Answers

        sentences = Answers(self.findings, self.findings.first).verdict()
        parts = [*sentences, f"{self!r}; save() writes the page."]
        return "".join(f"<p>{escape(part)}</p>" for part in parts)

    def __repr__(self) -> str:
        systems = counted(len(self.findings.names), "system")
        queries = counted(len(self.findings.qids), "query", "queries")
        return f"Report({systems}, {queries}, {len(self.html) / 1e6:.1f} MB)"


@taking_other_names
def report(
    runs: Any,
    qrels: Any = None,
    measures: Any = None,
    *,
    topics: Any = None,
    docs: Any = None,
    dataset: str | None = None,
    judges: Mapping[str, Any] | None = None,
    judge_rel: JudgeRel | None = None,
    people: Iterable[str] = (),
    unjudged: bool = False,
    title: str | None = None,
    note: str = "",
    rel: float | None = None,
    cutoff: int | None = None,
    alpha: float = 0.05,
    lengths: Any = None,
    groups: Mapping[str, str] | None = None,
    command: str = "",
) -> Report:
    """Makes a page that compares systems: who could be the best, and which documents are missed.

    The page has a leaderboard with the intervals of :func:`~pyterrier_asl.ranks`, search lengths,
    rankings by several measures, comparisons of any two systems, the queries with the documents
    that all systems miss, and the shares of unjudged documents. The same input gives the same page,
    byte for byte.

    Args:
        runs: dict of name -> run (frame or file), a folder of run files (such as an experiment's
            ``save_dir``), or a list of files. Without qrels a dict of collection -> (runs, qrels),
            for a page that says who could be the best over all collections, with the pairs, queries
            and documents of the first one.
        qrels: frame, file, ir_datasets id, or :class:`~pyterrier_asl.Qrels`.
        measures: names or measures, the first decides who is best; None: the measures of this
            package, AP, ``nDCG@10``, RR, R and ``Judged@10``.
        topics: the texts of the queries: frame with ``qid`` and ``query``, dict of query id ->
            text, or a file with lines ``qid<TAB>query``.
        docs: the texts of documents: frame with ``docno`` and ``text``, dict of document id ->
            text, or a file of JSON lines or with lines ``docno<TAB>text``.
        dataset: an ir_datasets id, for the texts of queries and documents.
        judges: name -> qrels of other judges; the page says who could be the best whichever of
            them, or ``qrels``, is right. See :func:`~pyterrier_asl.ranks`.
        judge_rel: minimum grade that counts as relevant for these judges.
        people: the judges that are people.
        unjudged: whether the page also says who could be the best for all labels of unjudged
            documents; see :func:`~pyterrier_asl.ranks`.
        title: the heading.
        note: a line at the end, such as a date.
        rel: minimum grade of a relevant document, for measures without such a parameter; None: 1,
            or without ``measures`` the grade of the official measures of an ir_datasets id.
        cutoff: k, the depth to which every run is read; None: 1000.
        alpha: the level of significance.
        lengths: for TBG: a DocLengths, its name or file, or ``'irds:ID'``.
        groups: run -> group, for rareness; see :class:`~pyterrier_asl.RarenessPool`.
        command: the command line of the report, shown in its last section.

    Raises:
        ImportError: without Altair, vl-convert and Jinja: ``pip install '.[report]'``.
        ValueError: for input that cannot be used, such as scores.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> runs = {"bm25": {q: {"a": 2, "b": 1} for q in qrels},
        ...         "dense": {q: {"a": 1, "b": 2} for q in qrels}}
        >>> report(runs, qrels, ["RR", "ASL@10"]).save(Path(tempfile.mkdtemp()) / "report.html")
    """
    from ..evaluation.evaluate import collections_of
    from ..evaluation.scores import ScoreTable
    from ..evaluation.sources import refuse
    from ..io.texts import Texts
    from ..scoring.search_length import DEFAULT_DEPTH
    from .collect import collect

    render = _renderer()
    if isinstance(runs, ScoreTable):
        raise ValueError("a report needs runs and qrels: 'compare' and 'ranks' take scores")
    people = tuple(people)
    if judges is None or not len(judges):
        refuse("is for judges", judge_rel=judge_rel, people=people)
    pairs = collections_of(runs, qrels)
    findings = collect(
        pairs,
        None,
        measures,
        dataset=dataset,
        rel=rel,
        cutoff=DEFAULT_DEPTH if cutoff is None else cutoff,
        alpha=alpha,
        lengths=lengths,
        groups=groups,
        judges=judges,
        judge_rel=judge_rel,
        people=people,
        unjudged=unjudged,
        command=command,
    )
    texts = Texts.of(topics, dataset, findings.docnos, docs=docs, qids=findings.qids)
    if title is None:
        collection = _collection(qrels, dataset) if "" in pairs else names_of(list(pairs))
        systems = counted(len(findings.names), "system")
        title = f"{collection}: {systems}" if collection else f"Comparison of {systems}"
    return Report(render(findings, title=title, texts=texts, note=note), findings)


def _renderer() -> Callable[..., str]:
    """The function that writes the page, whose libraries need not be installed."""
    try:
        from .render import render
    except ImportError as error:
        from ..common.extras import install_command

        raise ImportError(
            f"a report needs {error.name}: {install_command('report')}", name=error.name
        ) from error
    return render


def _collection(qrels: Any, dataset: str | None) -> str:
    """The name of the collection: of ir_datasets, else of the file of qrels, without its folder."""
    from ..judging.qrels import source_of

    qrels = source_of(qrels)
    is_file = isinstance(qrels, (str, os.PathLike)) and Path(qrels).exists()
    irds = dataset or (qrels if isinstance(qrels, str) and not is_file else "")
    if irds:
        return irds.removeprefix("irds:")
    if not is_file:
        return ""
    stem = re.sub(r"\.(gz|bz2|xz|zst|txt|tsv|csv|qrels?|parquet|jsonl?)\b", "", Path(qrels).name)
    return "-".join(
        part for part in re.split(r"[-_.]", stem) if part.lower() not in ("qrels", "qrel", "")
    )
