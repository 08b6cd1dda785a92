"""What the command ``holes`` calls: files in, results out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from ..evaluation.evaluate import judgements_of
from ..io.texts import Texts
from ..judging.judgements import Judgements
from .comparison import Holes
from .export import export
from .holes import holes
from .labels import merge_labels


def judgements_with(qrels: Any, labels: str | None, conflicts: str = "error") -> Judgements:
    """The judgements, and labels for what they do not judge."""
    judgements = judgements_of(qrels)
    if labels is None:
        return judgements
    merged = merge_labels(judgements, labels, conflicts=conflicts)
    return Judgements(merged[["qid", "docno", "label"]])


def pair(
    runs: Mapping[str, Any], qrels: Judgements, measure: str, others: str | None,
    depth: int | None, highest: float | None, alpha: float,
) -> Holes:  # fmt: skip
    """The comparison of two runs."""
    (a, one), (b, two) = runs.items()
    return holes(
        one, two, qrels, measure, runs=others, depth=depth, highest=highest, alpha=alpha,
        names=(a, b),
    )  # fmt: skip


def row(found: Holes) -> pd.DataFrame:
    """A comparison as a row of a table."""
    unjudged = int(found.difference.by_query["unjudged"].sum())
    return pd.DataFrame([{**found.verdicts(), "unjudged": unjudged}])


def likelihood(found: Holes) -> str:
    """How likely A is better, in a sentence, with what the model is."""
    likely = found.likely()
    mean, spread = likely.shift
    known = f"from {likely.shift_groups} runs" if likely.shift_groups else "assumed"
    return (
        f"P({found.difference.a} is better) = {likely.probability:.3f}, 95 % of A - B from "
        f"{likely.low:+.4f} to {likely.high:+.4f}, by a logistic regression on the judged "
        f"documents of these runs and a shift for each run of {mean:+.2f} +- {spread:.2f} "
        f"({known}); {likely.samples} samples"
    )


def export_list(
    found: Holes, path: str, form: str | None, most: int | None, collection: str | None,
    force: bool = False,
) -> int:  # fmt: skip
    """Saves the documents to judge; texts are those of a collection of ir_datasets."""
    texts = None
    if collection is not None:
        texts = partial(_texts, collection)
    return export(found, path, form=form, most=most, texts=texts, force=force)


def _texts(collection: str, docnos: list[str]) -> Texts:
    return Texts.of(dataset=collection, docnos=docnos, whole=True)
