"""Draws the pictures of the analyses in ``pt_docs/gallery``.

    python docs/gallery.py             all pictures, in a few minutes
    python docs/gallery.py ties alpha  the pictures of these analyses

The runs are of nine systems that search the generated collection ``asl:demo``. The second judge is
synthetic: the official judgement with noise. Needs ``pip install '.[dev]'``.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pandas as pd
import pyterrier as pt
from click.testing import CliRunner

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.analysis.registry import Analysis, analyses
from pyterrier_asl.cli import main

PICTURES = pages.FOLDER / "gallery"

#: Pixels of a picture per pixel of its chart.
PIXELS = 1.5

#: Colours of a picture: enough for the shades of a matrix and its lines, and half of the bytes.
COLORS = 96

#: Options that make an analysis fast.
OPTIONS = {"stability": "-m 'AP ASL@1000 nDCG@10' --draws 200"}

#: Analyses by the synthetic judge: the official one has a relevant document at rank 1 of nearly all
#: rankings.
BY_SECOND = ("tie-probability-by-rank",)


def systems(index: TermIndex) -> dict[str, Any]:
    """Nine systems over a collection, by name."""
    bm25 = index.bm25()

    def feedback(fb_docs: int = 10, gamma: float = 0.2) -> Any:
        return bm25 >> RobertsonPRF(index, fb_docs=fb_docs, gamma=gamma) >> bm25

    return {
        "bm25": bm25,
        "bm25-b0": index.bm25(b=0),
        "bm25-b1": index.bm25(b=1),
        "bm25-k0": index.bm25(k1=0.1),
        "bm25-100": index.bm25(num_results=100),
        "feedback": feedback(),
        "feedback-1": feedback(fb_docs=1),
        "feedback-gamma1": feedback(gamma=1),
        "feedback-100": feedback() % 100,
    }


def write_files(folder: Path) -> None:
    """Writes runs, qrels, a second judge, groups, types and lengths, as the commands name them."""
    collection = pt.get_dataset("asl:demo")
    index = TermIndex.from_documents(collection.documents, verbose=False)
    runs = {name: s(collection.get_topics()) for name, s in systems(index).items()}
    (folder / "runs").mkdir()
    for name, run in runs.items():
        pt.io.write_results(run, str(folder / "runs" / f"{name}.run"), run_name=name)
    keys = ["qid", "docno"]
    pooled = pd.concat([run[run["rank"] < 20][keys] for run in runs.values()]).drop_duplicates()
    qrels = pooled.merge(collection.get_qrels(), on=keys, how="outer").fillna({"label": 0})
    qrels = qrels.sort_values(keys, ignore_index=True)
    noise = np.random.default_rng(0).normal(0, 0.45, len(qrels))
    for name, labels in {
        "qrels.txt": qrels["label"],
        "second.qrels": qrels["label"] + noise,
    }.items():
        grades = labels.round().clip(0, 1).astype(int)
        table = qrels.assign(label=grades, zero=0)[["qid", "zero", "docno", "label"]]
        table.to_csv(folder / name, sep=" ", header=False, index=False)
    kinds = {name: name.partition("-")[0] for name in runs}
    for name in ("groups.tsv", "types.tsv"):
        pd.Series(kinds).to_csv(folder / name, sep="\t", header=False)
    words = (
        (d["docno"], len(d["text"].split())) for d in collection.get_corpus_iter(verbose=False)
    )
    pd.DataFrame(words).to_csv(folder / "words.tsv", sep=" ", header=False, index=False)


def command(analysis: Analysis) -> str:
    """The command of an analysis, for the files of the gallery."""
    line = pages.command(analysis).replace("irds:vaswani", "words.tsv").replace("-qid 1", "-qid q1")
    if analysis.name in BY_SECOND:
        line = line.replace("qrels.txt", "second.qrels")
    return f"{line} {OPTIONS.get(analysis.name, '')}".strip()


def draw(analysis: Analysis) -> None:
    """Draws the picture of an analysis by its command."""
    arguments = [*shlex.split(command(analysis))[1:], "--chart", "chart.png"]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    reduce(Path("chart.png"), PICTURES / f"{analysis.name}.png")


def reduce(drawn: Path, target: Path) -> None:
    """Saves a picture with fewer pixels and colours."""
    from PIL import Image

    from pyterrier_asl.charts.saving import PIXELS as DRAWN

    picture = Image.open(drawn).convert("RGB")
    size = [round(side * PIXELS / DRAWN) for side in picture.size]
    small = picture.resize(size, Image.Resampling.LANCZOS)
    target.parent.mkdir(exist_ok=True)
    quantized = small.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    quantized.save(target, optimize=True)


def save(chart: Any, path: Path) -> None:
    """Saves a chart as a small picture."""
    from pyterrier_asl.charts.saving import save_chart

    with tempfile.TemporaryDirectory() as folder:
        save_chart(chart, Path(folder) / "chart.png")
        reduce(Path(folder) / "chart.png", path)


def write(names: list[str]) -> None:
    """Draws these pictures, or all."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        before = os.getcwd()
        os.chdir(folder)
        try:
            for analysis in analyses():
                if not names or analysis.name in names:
                    draw(analysis)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    pt.tqdm.disable = True
    warnings.simplefilter("ignore")
    write(sys.argv[1:])
