"""What the command ``holes`` calls: files in, results out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from ..evaluation.evaluate import judgements_of
from ..io.run_listing import list_runs
from ..io.texts import Texts
from ..judging.judgements import Judgements
from .comparison import Holes
from .export import export
from .holes import holes
from .labels import merge_labels
from .pairs import Difference, all_pairs

__all__ = [
    "all_pairs", "export_list", "judgements_with", "likelihood", "named_runs", "pair", "row"
]  # fmt: skip


def judgements_with(qrels: Any, labels: str | None, conflicts: str = "error") -> Judgements:
    """The judgements, and labels for what they do not judge."""
    judgements = judgements_of(qrels)
    if labels is None:
        return judgements
    merged = merge_labels(judgements, labels, conflicts=conflicts)
    return Judgements(merged[["qid", "docno", "label"]])


def named_runs(runs: Sequence[str]) -> Mapping[str, Any]:
    """Run files by name."""
    return list_runs(list(runs))


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


def row(difference: Difference) -> pd.DataFrame:
    """A difference as a row of a table."""
    test = None if difference.test is None else difference.test.verdict
    return pd.DataFrame([{
        "a": difference.a, "b": difference.b, "measure": difference.measure,
        "difference": difference.difference, "low": difference.low, "high": difference.high,
        "exact": difference.exact, "verdict": difference.verdict, "significance": test,
        "unjudged": int(difference.by_query["unjudged"].sum()),
    }])  # fmt: skip


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
    found: Holes, path: str, form: str | None, most: int | None, collection: str | None
) -> int:
    """Saves the documents to judge; texts are those of a collection of ir_datasets."""
    texts = None
    if collection is not None:
        texts = partial(_texts, collection)
    return export(found, path, form=form, most=most, texts=texts)


def _texts(collection: str, docnos: list[str]) -> Texts:
    return Texts.of(dataset=collection, docnos=docnos, whole=True)
