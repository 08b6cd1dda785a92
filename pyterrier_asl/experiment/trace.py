"""Relevant documents through a pipeline: which stage finds, loses and moves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from ..charts import alt, category, figure, tooltips
from ..common.notices import counted, names_of
from ..common.types import Bools, Floats
from ..evaluation.evaluation import Evaluation
from ..evaluation.relevant_documents import RelevantRanks
from ..evaluation.sources import common_rel, warn_of_grades
from ..evaluation.ties import ends_over_ties
from ..io.values import check_queries, text
from ..judging.judged_run import JudgedRun
from ..judging.judgements import judgements_of
from ..judging.matching import judge_part, judge_whole
from ..measures.directions import OF_SETS
from ..measures.parsing import Measures, named_measures
from ..printing.printed import Part, Printed

#: The measures that are computed where none are named.
DEFAULT = ["ASL@1000", "R@1000", "nDCG@10"]
#: The longest name of a stage; a longer one is shown as its class.
_LONGEST = 40


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Printed):
    """The relevant documents in the result of each stage of a pipeline.

    Attributes:
        runs: the result of each stage with documents, matched with the qrels.
        documents: the ranks of the relevant documents in them, S stages, R documents.
        sets: the stages whose result has neither scores nor ranks, matched with one score for all
            documents.
    """

    runs: Evaluation
    documents: RelevantRanks
    sets: dict[str, JudgedRun]

    @property
    def total(self) -> int:
        """The number of relevant documents in the qrels."""
        return len(self.documents.pairs)

    @cached_property
    def _changes(self) -> tuple[Bools, Bools]:
        """Which documents each stage gained and lost, shape (S, R) each."""
        there = self.documents.ranks > 0
        before = np.vstack((np.zeros((1, self.total), dtype=bool), there[:-1]))
        return there & ~before, before & ~there

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each stage with documents.

        ``name``; ``documents``, mean number per query; ``relevant``, relevant documents retrieved;
        ``gained`` and ``lost``, against the stage before; the means of the measures. Of a set, such
        as the result of ``|``, only measures that are the same for every order have a mean.
        """
        gained, lost = (documents.sum(axis=1) for documents in self._changes)
        return pd.DataFrame(
            {
                "name": self.runs.names,
                "documents": [float(run.retrieved.mean()) for run in self.runs.runs],
                "relevant": (self.documents.ranks > 0).sum(axis=1),
                "gained": gained,
                "lost": lost,
                **self._means,
            }
        )

    @property
    def _means(self) -> dict[str, Floats]:
        """The means of the measures, NaN where they depend on the order of a set."""
        means = {name: values.copy() for name, values in self.runs.means.items()}
        for named in self.runs.measures:
            for name, run in self.sets.items():
                row = self.runs.row(name)
                values = self.runs.columns[named.name][row]
                low, high = ends_over_ties(named.measure, run, values).mean(axis=1)
                if low != high and not isinstance(named.measure, OF_SETS):
                    means[named.name][row] = np.nan
        return means

    @cached_property
    def by_document(self) -> pd.DataFrame:
        """A row for each relevant document.

        ``qid``, ``docno``, ``grade``, its rank after each stage (NaN: not retrieved; 0: in a set,
        without a rank), and ``lost_at``, the stage that lost it last, if the last one does not have
        it.
        """
        judgements, of = self.runs.judgements, self.documents
        lost = self._changes[1] & (of.ranks[-1] == 0)
        last = len(lost) - 1 - lost[::-1].argmax(axis=0)
        names = np.array([*self.runs.names, None], dtype=object)
        frame = pd.DataFrame(
            {
                "qid": pd.Series(judgements.qids).iloc[of.queries].to_numpy(),
                "docno": judgements.docnos.take(of.pairs).to_pandas(),
                "grade": judgements.grades[of.pairs],
            }
        )
        frame[self.runs.names] = np.where(of.ranks > 0, of.ranks, np.nan).T
        frame[[*self.sets]] *= 0
        return frame.assign(lost_at=names[np.where(lost.any(axis=0), last, -1)])

    def sentences(self) -> list[str]:
        """How many relevant documents are retrieved, and which stages gain and lose how many."""
        first, *others = self.table.to_dict("records")
        of_all = counted(self.total, "relevant document")
        sentences = [f"{first['name']} retrieves {first['relevant']:,} of {of_all}."]
        for row, stage in enumerate(others, 1):
            loses = f"{stage['lost']:,}" if stage["lost"] else "none"
            what = f"loses {loses} of them" if stage["lost"] else "gains and loses none"
            if stage["gained"]:
                what = f"gains {stage['gained']:,} and loses {loses}"
            sentences.append(f"{stage['name']} {what}{self._most(row)}.")
        if len(others) > 1 and self._changes[1].any():
            sentences.append(f"The pipeline ends with {others[-1]['relevant']:,} of {of_all}.")
        return sentences

    def _most(self, row: int) -> str:
        """The queries of which a stage loses most documents, unless they are more than 3."""
        counts = np.bincount(self.documents.queries[self._changes[1][row]], minlength=1)
        most = np.flatnonzero(counts == counts.max())
        if not counts.any() or len(most) > 3:
            return ""
        which = "all" if counts[most].sum() == counts.sum() else "most"
        noun = "query" if len(most) == 1 else "queries"
        return f", {which} on {noun} {names_of([str(self.runs.qids[query]) for query in most])}"

    @property
    def notes(self) -> list[str]:
        """What must be known of the results before the numbers are believed.

        A set has no first documents, so nothing is said of it unless all stages return sets.
        """
        ranked = [name for name in self.runs.names if name not in self.sets]
        measures = {named.name: named.measure for named in self.runs.measures}
        return self.runs.select(ranked or self.runs.names).facts(measures).notes

    def parts(self) -> Iterator[Part]:
        """The sentences, the table and the notes."""
        yield from map(Part, self.sentences())
        yield Part(table=self.table)
        yield from map(Part, self.notes)

    def chart(self) -> alt.TopLevelMixin:
        """The relevant documents that each stage keeps, gains and loses."""
        kinds = ["kept", "gained", "lost"]
        return figure(
            alt.Chart(
                self.table.assign(kept=self.table["relevant"] - self.table["gained"])
                .melt(["name"], kinds, "documents", "number")
                .assign(order=lambda rows: rows["documents"].map(kinds.index))
            ).mark_bar(),
            "Relevant documents by stage",
            f"Retrieved are those that a stage keeps and gains, of {self.total:,} in the qrels.",
            rows=1,
            x=alt.X("number:Q", title="relevant documents"),
            y=alt.Y("name:N", sort=self.runs.names, title=None),
            color=category("documents", domain=kinds),
            order=alt.Order("order:Q"),
            tooltip=tooltips("name:N", "documents:N", "number:Q"),
        )


def trace(
    pipeline: Any,
    topics: pd.DataFrame,
    qrels: Any,
    measures: Measures | None = None,
    *,
    rel: float | None = None,
) -> Trace:
    """Which stages of a pipeline find, lose and move relevant documents.

    The stages of ``a >> b >> c`` are applied one after the other, each once, to the result of the
    stage before. ``% k`` is a stage; any other operator (``+``, ``**``, ``|``, ``&``) is one stage
    with its operands. The name of a stage that returns queries is joined to the next stage's. As in
    an experiment, the judgements of the topics count.

    Args:
        pipeline: a PyTerrier transformer.
        topics: data frame with ``qid`` and what the first stage needs.
        qrels: see :func:`~pyterrier_asl.evaluate`.
        measures: see :func:`~pyterrier_asl.evaluate`; None: ``ASL@1000``, ``R@1000`` and
            ``nDCG@10``.
        rel: minimum grade of a relevant document; None: the one that all measures have, or 1.

    Returns:
        A :class:`Trace`, with ``table``, ``by_document``, ``total``, ``sentences()``, ``notes``
        and ``chart()``.

    Raises:
        ValueError: for a pipeline that ends without documents, empty qrels, topics without
            judgements, and two queries with one id.

    >>> from pyterrier_asl import TermIndex
    >>> texts = {"a": "radio", "b": "radio waves", "c": "maser", "d": "light", "e": "sound"}
    >>> documents = [{"docno": docno, "text": text} for docno, text in texts.items()]
    >>> bm25 = TermIndex.from_documents(documents, verbose=False).bm25()
    >>> topics = pd.DataFrame({"qid": ["q"], "query": ["radio"]})
    >>> print(*trace(bm25 % 1, topics, {"q": {"a": 1, "b": 1}}, "AP").sentences(), sep="\\n")
    BM25 retrieves 2 of 2 relevant documents.
    %1 loses 1 of them, all on query q.
    """
    if "docno" not in topics:
        check_queries(topics["qid"])
    judgements = judgements_of(qrels)
    if not len(judgements):
        raise ValueError("the qrels are empty: give qrels with judged documents")
    judgements = judgements.of_queries(text(topics["qid"], "qid of the topics").to_pylist())
    named = [measure.with_params(rel=rel) for measure in named_measures(measures or DEFAULT)]
    warn_of_grades(judgements, {measure.name: measure.measure for measure in named}, rel)
    least = rel if rel is not None else common_rel(m.measure for m in named) or 1
    runs: dict[str, JudgedRun] = {}
    sets: dict[str, JudgedRun] = {}
    for name, result in _results(pipeline, topics):
        name += f" ({len(runs) + 1})" if name in runs else ""
        try:
            if not {"score", "rank"} & {*result}:
                sets[name] = judge_part(judgements, result.assign(score=0.0))
                result = result.assign(score=-np.arange(len(result), dtype=float))
            runs[name] = (judge_part if result.empty else judge_whole)(judgements, result)
        except ValueError as error:
            raise ValueError(f"stage {name!r}: {error}") from error
    evaluation = Evaluation(list(runs), list(runs.values()), judgements).measure(named)
    return Trace(evaluation, RelevantRanks.of(evaluation, least), sets)


def _results(pipeline: Any, topics: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The name and the result of each stage that returns documents."""
    result, names = topics, []
    for stage in pipeline if isinstance(pipeline, pt.Compose) else [pipeline]:  # it is flat
        names.append(_name(stage))
        try:
            result = stage(result)
        except Exception as error:  # PyTerrier's own error, of any type
            error.args = (f"stage {names[-1]}: {(*error.args, error)[0]}", *error.args[1:])
            raise
        if "docno" in result:
            yield " >> ".join(names), result
            names = []
    if names:
        raise ValueError(f"{' >> '.join(names)} retrieves no documents: add a stage that does")


def _name(stage: Any) -> str:
    """A short name of a stage."""
    name = f"%{stage.k}" if isinstance(stage, pt.RankCutoff) else str(stage)
    return type(stage).__name__ if len(name) > _LONGEST or " at 0x" in name else name
