"""Labels of unjudged documents, merged with the qrels."""

from __future__ import annotations

from typing import Any

from ..io.label_files import COLUMNS, KEY, read_labels
from ..io.lazy import pd
from .judgements import Judgements

#: The source of official judgements.
OFFICIAL = "official"


def merge_labels(
    qrels: Any, labels: Any, *, conflicts: str = "error", highest: float | None = None
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

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (``'official'``, or the source of the label). A
        document with a negative official grade is unjudged, so that a label replaces the grade.

    Raises:
        ValueError: for a label that contradicts an official grade or another label, a label for a
            query without official judgements, and a label above the best grade.

    >>> merge_labels({"q": {"a": 1}}, pd.DataFrame({"qid": ["q"], "docno": ["b"], "label": [0]}))
      qid docno  label    source
    0   q     a    1.0  official
    1   q     b    0.0     label
    """
    if conflicts not in ("error", "official"):
        raise ValueError(f"conflicts must be 'error' or 'official', not {conflicts!r}")
    judgements, new = Judgements.of(qrels), _read_all(labels)
    official = judgements.table.frame("qid", "docno", "label").assign(source=OFFICIAL)
    judged = official.loc[official["label"] >= 0, [*KEY, "label"]]
    both = new.merge(judged, how="left", on=KEY, suffixes=("", "_official"))
    differs = both[both["label_official"].notna() & (both["label_official"] != both["label"])]
    if len(differs) and conflicts == "error":
        first = differs.iloc[0]
        raise ValueError(
            f"{_labelled(first)}, and its official grade is {first['label_official']:g}: remove "
            "the label, or pass conflicts='official' where labels are merged (merge_labels, the "
            "command labels)"
        )
    kept = both.loc[both["label_official"].isna(), COLUMNS]
    unknown = kept[~kept["qid"].isin(judgements.qid_text.to_pylist())]
    if len(unknown):
        raise ValueError(
            f"{_labelled(unknown.iloc[0])}, and the query has no official judgements: remove the "
            "label, or give the judgements that it belongs to"
        )
    highest = max(1.0, official["label"].max()) if highest is None else highest
    above = kept[kept["label"] > highest]
    if len(above):
        raise ValueError(
            f"{_labelled(above.iloc[0])}, and grades go up to {highest:g}: correct it, or pass "
            f"highest={kept['label'].max():g}"
        )
    return pd.concat([official, kept]).drop_duplicates(KEY, keep="last", ignore_index=True)


def qrels_with(
    qrels: Any,
    labels: Any,
    duplicates: str | None = None,
    *,
    conflicts: str = "error",
    highest: float | None = None,
) -> Any:
    """Judgements of the same queries with labels added; without labels the qrels themselves.

    Args:
        qrels: see :func:`merge_labels`.
        labels: see :func:`merge_labels`; None: no labels.
        duplicates: see :func:`~pyterrier_asl.evaluate`.
        conflicts: see :func:`merge_labels`.
        highest: see :func:`merge_labels`.

    Raises:
        ValueError: for labels without qrels, and as :func:`merge_labels`.

    >>> labels = pd.DataFrame({"qid": ["1"], "docno": ["b"], "label": [0]})
    >>> merged = qrels_with({"1": {"a": 1}, "2": {}}, labels)
    >>> merged.qids, len(merged.grades)
    (['1', '2'], 2)
    """
    if labels is None:
        return qrels
    if qrels is None:
        raise ValueError("labels belong to the qrels of one collection: give runs and qrels")
    judgements = Judgements.of(qrels, duplicates)
    merged = merge_labels(judgements, labels, conflicts=conflicts, highest=highest)
    by_text: dict[str, dict[str, float]] = {qid: {} for qid in judgements.qid_text.to_pylist()}
    for qid, docno, label in zip(merged["qid"], merged["docno"], merged["label"]):
        by_text[qid][docno] = label
    labelled = Judgements(by_text, duplicates=judgements.duplicates)
    labelled.qids = judgements.qids  # they may be numbers
    labelled.contradiction = judgements.contradiction
    return labelled


def _labelled(row: Any) -> str:
    return (
        f"document {row['docno']!r} of query {row['qid']!r} is labelled {row['label']:g} by "
        f"{row['source']!r}"
    )


def _read_all(labels: Any) -> pd.DataFrame:
    """The labels of one source or of several that agree."""
    sources = labels if isinstance(labels, (list, tuple)) else [labels]
    frames = [read_labels(source) for source in sources]
    frame = pd.concat(frames) if frames else pd.DataFrame(columns=COLUMNS)
    frame = frame.astype({"label": float})
    differs = frame[frame.groupby(KEY)["label"].transform("nunique") > 1]
    if len(differs):
        first = differs.iloc[0]
        same = differs[(differs[KEY] == first[KEY]).all(axis=1)]
        other = same[same["label"] != first["label"]].iloc[0]
        raise ValueError(
            f"{_labelled(first)} and {other['label']:g} by {other['source']!r}: remove one of the "
            "two labels"
        )
    return frame.drop_duplicates(KEY, ignore_index=True)
