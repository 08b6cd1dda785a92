"""Draws the figure of the guide to the measures: two systems with nearly equal AP.

    python examples/why.py pyterrier_asl/pt_docs/why.svg

The systems are BM25 and BM25 with feedback on vaswani. The figure counts relevant documents by the
number of irrelevant documents that feedback moved them up or down. It needs
``pip install '.[charts]'`` and PyMuPDF, which converts text to outlines, so that the figure needs
no font.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pandas as pd
import pyterrier as pt

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.analysis.search_lengths import search_length_changes
from pyterrier_asl.charts.saving import save_chart
from pyterrier_asl.evaluation.evaluation import Evaluation

BM25, FEEDBACK = "BM25", "BM25 + feedback"


def runs() -> Evaluation:
    """The runs of the two systems, matched with the qrels."""
    dataset = pt.get_dataset("irds:vaswani")
    topics = dataset.get_topics()
    index = TermIndex.from_irds("vaswani", verbose=False)
    bm25 = index.bm25()
    feedback = bm25 >> RobertsonPRF(index, fb_docs=10, fb_terms=25, gamma=0.2) >> bm25
    answers = {FEEDBACK: feedback(topics), BM25: bm25(topics)}
    return Evaluation.of(answers, dataset.get_qrels())


def changes(judged: Evaluation) -> pd.DataFrame:
    """Differences of the search lengths of relevant documents."""
    return search_length_changes(judged, a=FEEDBACK, b=BM25, edges=[1, 4, 16, 64, 256, 1000])


def draw(target: Path) -> None:
    """Saves the chart as SVG without text elements."""
    import pymupdf

    chart = search_length_changes.draw(changes(runs()))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "why.pdf"
        save_chart(chart.properties(width=520, height=200), page)
        with pymupdf.open(page) as document:
            target.write_text(document[0].get_svg_image(text_as_path=True))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: why.py FILE.svg")
    draw(Path(sys.argv[1]))
