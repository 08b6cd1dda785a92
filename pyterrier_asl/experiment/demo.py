"""Demonstration of the measures with three systems on a small collection, without Java.

The remarks on the numbers are computed from them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import ir_measures
import pandas as pd
import pyterrier as pt

from ..evaluation.relevant_documents import search_lengths
from ..leaderboard.ranks import ranks
from ..measures import ASL, TBG, AP_Rareness, LexiP
from ..measures.directions import higher_is_better
from ..measures.pool import RarenessPool
from ..retrieval.feedback import RobertsonPRF
from ..retrieval.index import TermIndex
from ..scoring.rareness import FEW
from .demo_collection import DemoCollection

BM25 = "BM25"
FEEDBACK = "BM25 + feedback"
SHORT = "BM25 + feedback, first 200"

#: Descriptions of the systems.
SYSTEMS = {
    BM25: "BM25, 1000 documents per query",
    FEEDBACK: "the query expanded by Robertson's feedback from the first 10 documents",
    SHORT: "feedback from the first 5 documents, and only 200 documents per query, as for a slow "
    "reranker",
}


@dataclass(frozen=True)
class Demonstration:
    """Results of the demonstration.

    Attributes:
        scores: a row per system: its name, ``run``, and the mean of each measure.
        higher_is_better: by measure.
        remarks: sentences on the numbers.
    """

    scores: pd.DataFrame
    higher_is_better: dict[str, bool]
    remarks: list[str]


# The experiment


def demonstrate(collection: DemoCollection) -> Demonstration:
    """Retrieves with three systems and evaluates them in ``pt.Experiment``."""
    runs = retrieve(collection)
    with warnings.catch_warnings():  # a remark says that three systems are few
        warnings.filterwarnings("ignore", message=".*say little about rareness")
        pool = RarenessPool.from_runs(runs, name="demo")
    measures = {
        "AP": ir_measures.AP,
        "nDCG@10": ir_measures.nDCG @ 10,
        "RR": ir_measures.RR,
        "R@1000": ir_measures.R @ 1000,
        "ASL@1000": ASL @ 1000,
        "ASL(g=10)@1000": ASL(g=10) @ 1000,
        "LexiP": LexiP,
        "TBG": TBG(lengths=collection.lengths()),
        "AP_Rareness@100": AP_Rareness(pool=pool) @ 100,
    }
    named = {str(measure): name for name, measure in measures.items()}
    values = pt.Experiment(
        list(runs.values()),
        collection.topics,
        collection.qrels,
        list(measures.values()),
        names=list(runs),
    ).rename(columns={"name": "run", **named})[["run", *measures]]
    means: Any = values.set_index("run").to_dict()
    remarks = [
        about_order(means),
        about_missing({name: missed_by(run, collection.qrels) for name, run in runs.items()}),
        about_the_top(means),
        f"With {len(SYSTEMS)} systems AP_Rareness@100 says little about rareness ({FEW} or more "
        "are needed). Give it a pool of runs.",
        ranks(runs, collection.qrels, "nDCG@10").sentences()[0],
    ]
    higher = {name: higher_is_better(m) is not False for name, m in measures.items()}
    return Demonstration(values, higher, remarks)


def retrieve(collection: DemoCollection) -> dict[str, pd.DataFrame]:
    """The results of the three systems, by name."""
    index = TermIndex.from_documents(collection.documents, verbose=False)
    bm25 = index.bm25()
    systems: dict[str, Any] = {
        BM25: bm25,
        FEEDBACK: bm25 >> RobertsonPRF(index) >> bm25,
        SHORT: bm25 >> RobertsonPRF(index, fb_docs=5) >> index.bm25(num_results=200),
    }
    return {name: system.transform(collection.topics) for name, system in systems.items()}


def missed_by(run: pd.DataFrame, qrels: pd.DataFrame, *, cutoff: int = 1000) -> tuple[float, float]:
    """The shares of a run's missed relevant documents: of all relevant documents, and of its ASL.

    >>> qrels = pd.DataFrame({"qid": "q", "docno": ["a", "b"], "label": 1})
    >>> run = pd.DataFrame({"qid": "q", "docno": ["x", "a"], "score": [2, 1]})
    >>> missed_by(run, qrels, cutoff=9)  # search lengths 2 and 9
    (0.5, 0.8181818181818182)
    """
    lengths = search_lengths(run, qrels, cutoff=cutoff)
    missing = lengths["rank"].isna()
    parts = lengths.assign(from_missing=lengths["search_length"].where(missing, 0))
    asl = parts.groupby("qid")[["from_missing", "search_length"]].mean().mean()
    return float(missing.mean()), float(asl["from_missing"] / asl["search_length"])


# Remarks


#: Mean values, by measure and then by system.
Means: TypeAlias = Mapping[str, Mapping[str, float]]


def about_order(means: Means) -> str:
    """The remark on the two systems that AP and ASL@1000 order most differently.

    Args:
        means: with ``AP``, ``ASL@1000`` and ``R@1000``.
    """
    ap, asl, recall = means["AP"], means["ASL@1000"], means["R@1000"]
    opposed = [
        (asl[first] / asl[second], first, second)
        for first, second in permutations(ap, 2)
        if ap[first] > ap[second] and asl[first] > asl[second]
    ]
    if not opposed:
        return "AP and ASL@1000 put no two systems into opposite orders."
    _, first, second = max(opposed)
    return (
        f"AP puts '{first}' above '{second}' ({ap[first]:.4f} and {ap[second]:.4f}), ASL@1000 puts "
        f"it below: a relevant document has on average {asl[first] - 1:.0f} irrelevant "
        f"documents above it in the first run and {asl[second] - 1:.0f} in the second, with R@1000 "
        f"{recall[first]:.2f} and {recall[second]:.2f}."
    )


def about_missing(missed: Mapping[str, tuple[float, float]]) -> str:
    """The remark on the share of ASL that comes from missed documents."""
    parts = [f"{asl:.0%} ({share:.0%}) for '{name}'" for name, (share, asl) in missed.items()]
    return (
        "The share of ASL@1000 that comes from relevant documents which were not retrieved (and "
        "their share of all relevant documents): " + ", ".join(parts) + "."
    )


def about_the_top(means: Means) -> str:
    """The remark on the best systems by measures of the first relevant documents.

    Args:
        means: with ``AP``, ``ASL(g=10)@1000`` and ``LexiP``.
    """
    best = {
        "ASL(g=10)@1000, the first ten relevant documents": _leaders(means["ASL(g=10)@1000"], min),
        "LexiP, the first before all others": _leaders(means["LexiP"], max),
        "AP": _leaders(means["AP"], max),
    }
    return "Best by " + "; by ".join(f"{what}: {name}" for what, name in best.items()) + "."


def _leaders(values: Mapping[str, float], extreme: Callable[[Iterable[float]], float]) -> str:
    """The names of the systems with the best value."""
    names = [f"'{name}'" for name, value in values.items() if value == extreme(values.values())]
    return names[0] if len(names) == 1 else " and ".join(names) + " alike"
