"""Qrels as callers give them: with labels of unjudged documents, and how runs are matched."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..common.lazy import pd
from ..common.notices import counted
from ..io.declared import DeclaredFile, GradesOfLabels, NamesOfColumns
from .judgements import MATCHING, Judgements, judgements_of
from .remembered import cached_property

#: The source of official judgements.
OFFICIAL = "official"

#: The columns of a frame of labels, and those that identify a document of a query.
_COLUMNS = ["qid", "docno", "label", "source"]
_KEY = _COLUMNS[:2]


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """Qrels, labels to add, and how runs are matched with them; accepted wherever qrels are.

    Attributes:
        source: data frame, file, ir_datasets id, or dict of dicts.
        labels: labels of documents that the source does not judge: what
            :func:`~pyterrier_asl.merge_labels` takes; None: none. Measures with subtopics do not
            use them.
        duplicates: how to treat a document that occurs twice in a ranking: ``'error'`` as in
            trec_eval, or ``'best'``: it is counted once, at its best rank; None: ``'error'``.
        drop_self: whether documents with the id of their query are left out of rankings, for
            collections whose queries are documents (ArguAna, Quora).
        collapse: for runs of passages and qrels of documents: ids of the runs are cut at the last
            of these separators, such as ``'#'``, and a document has the score of its best passage;
            None: ids are not cut.
        columns: names of columns of the source and of labels, as :func:`~pyterrier_asl.read_qrels`
            takes them; of runs see :func:`~pyterrier_asl.read_runs`.
        grades: grades of labels that are words, in the source and in labels, as
            :func:`~pyterrier_asl.read_qrels` takes them.

    Runs that have been matched before, an Evaluation, keep their settings: others are an error.

    Raises:
        ValueError: for another value of ``duplicates``, or an empty separator.

    >>> from pyterrier_asl import evaluate
    >>> passages = {"q": {"a#1": 3, "b#1": 2, "a#2": 1}}
    >>> evaluate(passages, Qrels({"q": {"b": 1}}, collapse="#"), "RR")
      name qid   RR
    0  run   q  0.5
    """

    source: Any
    _: KW_ONLY
    labels: Any = None
    duplicates: str | None = None
    drop_self: bool = False
    collapse: str | None = None
    columns: NamesOfColumns = None
    grades: GradesOfLabels = None

    def __post_init__(self) -> None:
        """Checks the values."""
        if self.source is None or isinstance(self.source, Qrels):
            raise ValueError(
                "Qrels needs a frame, a file, an ir_datasets id or a dict of dicts, not "
                f"{type(self.source).__name__}"
            )
        if self.duplicates not in (None, "error", "best"):
            raise ValueError(f"duplicates must be 'error' or 'best', not {self.duplicates!r}")
        if self.collapse is not None and not (isinstance(self.collapse, str) and self.collapse):
            raise ValueError(f"collapse must be a separator such as '#', not {self.collapse!r}")

    def __repr__(self) -> str:
        is_named = isinstance(self.source, str)
        shown = [repr(self.source) if is_named else f"<{type(self.source).__name__}>"]
        shown += ["labels=..."] * (self.labels is not None)
        shown += [f"{name}={value!r}" for name, value in self.matching.items()]
        return f"Qrels({', '.join(shown)})"

    @property
    def matching(self) -> dict[str, Any]:
        """The settings by which runs are matched, without those that were not given."""
        given = {name: getattr(self, name) for name in MATCHING}
        return {name: value for name, value in given.items() if value not in (None, False)}

    @cached_property
    def merged(self) -> pd.DataFrame | None:
        """The judgements and the labels with their sources; None without labels."""
        return None if self.labels is None else self._merge()

    def _merge(self, **options: Any) -> pd.DataFrame:
        sources = self.labels if isinstance(self.labels, (list, tuple)) else [self.labels]
        labels: Any = [*map(self._declared, sources)]
        if self.collapse is not None:
            labels = _labels_of_documents(read_all_labels(labels), self.collapse, self._unlabelled)
        return merge_labels(self._unlabelled, labels, **options)

    def merged_by(self, **options: Any) -> Qrels:
        """The qrels with their labels, merged with options of :func:`merge_labels`."""
        return Qrels(judgements_from(self._unlabelled, self._merge(**options)), **self.matching)

    @property
    def declared(self) -> Any:
        """The source; a file with the names of columns and the grades of labels."""
        return self._declared(self.source)

    @cached_property
    def _unlabelled(self) -> Judgements:
        return judgements_of(self.declared)

    def _declared(self, source: Any) -> Any:
        """A file with the names of columns and the grades of labels; others do not change."""
        if isinstance(source, (str, os.PathLike)) and (self.columns, self.grades) != (None, None):
            return DeclaredFile(source, self.columns, self.grades)
        return source

    @cached_property
    def judgements(self) -> Judgements:
        """The judgements with the labels; they are read once."""
        own, merged = self._unlabelled, self.merged
        labelled = own if merged is None else judgements_from(own, merged)
        return labelled.with_matching(self.matching)


def source_of(qrels: Any) -> Any:
    """The frame, file or id of qrels as a caller gave them."""
    return qrels.source if isinstance(qrels, Qrels) else qrels


def matching_of(*sources: Any) -> dict[str, Any]:
    """The settings that any of several qrels give for the same runs.

    Raises:
        ValueError: where two differ.
    """
    matching: dict[str, Any] = {}
    for qrels in sources:
        for name, value in (qrels.matching if isinstance(qrels, Qrels) else {}).items():
            if matching.setdefault(name, value) != value:
                raise ValueError(
                    f"two qrels of the same runs have {name}={matching[name]!r} and {value!r}: "
                    "choose one"
                )
    return matching


def merge_labels(
    qrels: Any,
    labels: Any,
    *,
    conflicts: str = "error",
    highest: float | None = None,
    add_queries: bool = False,
) -> pd.DataFrame:
    """Adds labels to official judgements, for the documents that these do not judge.

    Official grades are never overwritten. Report that judgements have several sources. A lenient
    judge that labels only the unjudged documents of new runs favours these runs.

    Args:
        qrels: data frame, file, ir_datasets id, dict of dicts: the official judgements.
        labels: a source of :func:`read_labels`, or a list of sources.
        conflicts: ``'error'``, or ``'official'``: a label that contradicts an official grade is
            left out. Files of labels that contradict each other are always an error.
        highest: the best grade of a label; None: the best official grade, at least 1.
        add_queries: whether labels of queries without official judgements are added.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (``'official'``, or the source of the label). A
        document with a negative official grade is unjudged, so that a label replaces the grade.

    Raises:
        ValueError: for a label that contradicts an official grade or another label, a label for a
            query without official judgements, and a label above the best grade.

    The attribute ``attrs["notes"]`` has sentences on queries that are added, and on labels that are
    all below the best official grade, which may have another scale.

    >>> merge_labels({"q": {"a": 1}}, pd.DataFrame({"qid": ["q"], "docno": ["b"], "label": [0]}))
      qid docno  label    source
    0   q     a    1.0  official
    1   q     b    0.0     label
    """
    if conflicts not in ("error", "official"):
        raise ValueError(f"conflicts must be 'error' or 'official', not {conflicts!r}")
    judgements, new = judgements_of(qrels), read_all_labels(labels)
    official = judgements.table.frame("qid", "docno", "label").assign(source=OFFICIAL)
    judged = official.loc[official["label"] >= 0, [*_KEY, "label"]]
    both = new.merge(judged, how="left", on=_KEY, suffixes=("", "_official"))
    differs = both[both["label_official"].notna() & (both["label_official"] != both["label"])]
    if len(differs) and conflicts == "error":
        first = differs.iloc[0]
        raise ValueError(
            f"{_labelled(first)}, and its official grade is {first['label_official']:g}: remove "
            "the label, or pass conflicts='official' where labels are merged (merge_labels, the "
            "command labels)"
        )
    kept = both.loc[both["label_official"].isna(), _COLUMNS]
    unknown = kept[~kept["qid"].isin(judgements.qid_text.to_pylist())]
    if len(unknown) and not add_queries:
        raise ValueError(
            f"{_labelled(unknown.iloc[0])}, and the query has no official judgements: remove the "
            "label, or give the judgements that it belongs to"
        )
    notes = []
    if queries := unknown["qid"].unique().tolist():
        notes.append(
            f"the labels judge {counted(len(queries), 'query', 'queries')} that the qrels do not "
            f"judge, such as {queries[0]!r}: added"
        )
    if highest is None:
        highest = max(1.0, official["label"].max())
        if len(kept) and kept["label"].max() < highest:
            low, high = kept["label"].min(), kept["label"].max()
            notes.append(
                f"the labels go from {low:g} to {high:g}, the official grades to {highest:g}"
            )
    if len(above := kept[kept["label"] > highest]):
        raise ValueError(
            f"{_labelled(above.iloc[0])}, and grades go up to {highest:g}: correct it, or pass "
            f"highest={kept['label'].max():g}"
        )
    merged = pd.concat([official, kept]).drop_duplicates(_KEY, keep="last", ignore_index=True)
    merged.attrs["notes"] = notes
    return merged


def judgements_from(judgements: Judgements, merged: pd.DataFrame) -> Judgements:
    """Judgements of the same queries with the grades of a frame of :func:`merge_labels`.

    >>> judgements = Judgements({"1": {"a": 1}, "2": {}})
    >>> labels = pd.DataFrame({"qid": ["1"], "docno": ["b"], "label": [0]})
    >>> merged = judgements_from(judgements, merge_labels(judgements, labels))
    >>> merged.qids, len(merged.grades)
    (['1', '2'], 2)
    """
    by_text: dict[str, dict[str, float]] = {qid: {} for qid in judgements.qid_text.to_pylist()}
    for qid, docno, label in zip(merged["qid"], merged["docno"], merged["label"]):
        by_text[qid][docno] = label
    labelled = Judgements(by_text).with_matching(judgements.matching)
    labelled.qids = judgements.qids  # they may be numbers
    labelled.contradiction, labelled.by_subtopic = judgements.contradiction, judgements.by_subtopic
    labelled.labels = {
        str(qid): {*of["docno"]} for qid, of in merged[merged["source"] != OFFICIAL].groupby("qid")
    }
    labelled.notes = merged.attrs["notes"]
    return labelled


def _labels_of_documents(
    labels: pd.DataFrame, separator: str, judgements: Judgements
) -> pd.DataFrame:
    """Labels of passages as labels of their documents.

    A source is of passages if most of its ids have the separator. A label below the official grade
    of the document says nothing of its other passages.
    """
    has_separator = labels["docno"].str.contains(separator, regex=False)
    of_passages = has_separator.groupby(labels["source"]).transform("mean") > 1 / 2
    best = pd.concat([_highest_of_documents(labels[of_passages], separator), labels[~of_passages]])
    official = best.merge(judgements.table.frame("qid", "docno", "official"), how="left", on=_KEY)
    return best[~(official["official"] > official["label"]).to_numpy()]


def _highest_of_documents(labels: pd.DataFrame, separator: str) -> pd.DataFrame:
    """The highest label of the passages of each document, in the order of the labels."""
    docnos = labels["docno"].str.rsplit(separator, n=1).str[0]
    best = labels.assign(docno=docnos).sort_values("label", kind="stable")
    return best.drop_duplicates(_KEY, keep="last").sort_index()


def judgements_of_documents(
    judgements: Judgements, reference: Judgements, separator: str
) -> Judgements:
    """A judge's judgements, those of passages as judgements of their documents: the highest.

    They are of passages if the reference has more of the ids that are cut at the separator.

    >>> passages = Judgements({"q": {"a#1": 2, "a#2": 0, "b": 1}})
    >>> documents = judgements_of_documents(passages, Judgements({"q": {"a": 1, "c": 1}}), "#")
    >>> documents.docnos.to_pylist(), documents.grades.tolist()
    (['a', 'b'], [2.0, 1.0])
    """
    labels = judgements.table.frame("qid", "docno", "label")
    best, known = _highest_of_documents(labels, separator), reference.docnos.to_pylist()
    if best["docno"].isin(known).sum() <= labels["docno"].isin(known).sum():
        return judgements
    return Judgements(best).with_matching(judgements.matching)


def _labelled(row: Any) -> str:
    return (
        f"document {row['docno']!r} of query {row['qid']!r} is labelled {row['label']:g} by "
        f"{row['source']!r}"
    )


def read_all_labels(labels: Any) -> pd.DataFrame:
    """The labels of one source or of several that agree; see :func:`read_labels`."""
    from ..io.label_files import contradiction, read_labels  # imports everything that reads files

    sources = labels if isinstance(labels, (list, tuple)) else [labels]
    frames = [*map(read_labels, sources)] or [pd.DataFrame(columns=_COLUMNS)]
    frame = pd.concat(frames).astype({"label": float})
    if rows := contradiction(frame, _KEY):
        first, other, _ = rows
        raise ValueError(
            f"{_labelled(first)} and {other['label']:g} by {other['source']!r}: remove one of the "
            "two labels"
        )
    return frame.drop_duplicates(_KEY, ignore_index=True)
