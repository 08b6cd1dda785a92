"""The picture of the README: two systems that AP cannot tell apart, document by document.

    python examples/why.py pyterrier_asl/pt_docs/why.svg

BM25, and BM25 with feedback, on ir_datasets' vaswani. For each relevant document: by how many
irrelevant documents did feedback move it up or down? Needs pyterrier-asl[charts], no Java.
"""

from __future__ import annotations

import sys

import pandas as pd
import pyterrier as pt

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.analysis.distribution import search_length_changes
from pyterrier_asl.analysis.judged_runs import JudgedRuns
from pyterrier_asl.charts import search_lengths
from pyterrier_asl.charts.saving import save_chart

BM25, FEEDBACK = "BM25", "BM25 + feedback"


def runs() -> JudgedRuns:
    """The two systems' runs, judged."""
    dataset = pt.get_dataset("irds:vaswani")
    topics = dataset.get_topics()
    index = TermIndex.from_irds("vaswani", verbose=False)
    bm25 = index.bm25()
    feedback = bm25 >> RobertsonPRF(index, fb_docs=10, fb_terms=25, gamma=0.2) >> bm25
    answers = {FEEDBACK: feedback(topics), BM25: bm25(topics)}
    return JudgedRuns.of(answers, dataset.get_qrels())


def changes(judged: JudgedRuns) -> pd.DataFrame:
    """By how much the search length of each relevant document differs."""
    return search_length_changes(judged, a=FEEDBACK, b=BM25, edges=[1, 4, 16, 64, 256, 1000])


if __name__ == "__main__":
    (target,) = sys.argv[1:]
    chart = search_lengths.search_length_changes(changes(runs()))
    save_chart(chart.properties(width=520, height=200), target)
