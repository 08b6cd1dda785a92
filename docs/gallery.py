"""Draws a gallery: a picture per analysis, Clarke's experiment, and a report, in build/gallery.

    python docs/gallery.py             all pictures, in some minutes
    python docs/gallery.py ties alpha  these

The runs are of fourteen systems that search ir_datasets' vaswani over a ``TermIndex``, and
cranfield for analyses of several tracks. Analyses of judges get two synthetic judges. Needs
pyterrier-asl[dev].
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pandas as pd
import pyterrier as pt

from pyterrier_asl import DocLengths, RobertsonPRF, TermIndex
from pyterrier_asl.analysis.registry import Analysis, Evaluation, analyses
from pyterrier_asl.tuning.clarke import scores_by_parameters, tune_for_each
from pyterrier_asl.tuning.collection import load_collection

FOLDER = Path(__file__).parents[1] / "build" / "gallery"

#: Pixels per point of a picture, in each direction.
PIXELS = 2

#: Colours of a picture: enough for the shades of a matrix, and a third of the bytes.
COLORS = 64

#: Analyses with many rows per run are drawn for these runs only.
SOME = ["bm25", "bm25-b0", "feedback", "feedback-100", "unstemmed"]
FEW_RUNS = ("compare-with-assessors", "lengths-by-rank")

#: Options for analyses whose pictures need other values than the defaults.
OPTIONS: dict[str, dict[str, Any]] = {
    "reordering": {"each": True},
    "stability": {"measures": ["AP", "nDCG@10", "RR", "ASL@1000", "AP_Rareness@100"]},
    "agreement-by-number-of-systems": {"sizes": (2, 4, 8)},
}


def systems(dataset: str) -> dict[str, Any]:
    """Fourteen systems over a collection, by name."""
    index = TermIndex.from_irds(dataset, verbose=False)
    words = TermIndex.from_irds(dataset, stemmer=None, verbose=False)
    bm25 = index.bm25()

    def feedback(fb_docs: int = 10, fb_terms: int = 25, gamma: float = 0.2) -> Any:
        expanded = RobertsonPRF(index, fb_docs=fb_docs, fb_terms=fb_terms, gamma=gamma)
        return bm25 >> expanded >> bm25

    return {
        "bm25": bm25,
        "bm25-b0": index.bm25(b=0),
        "bm25-b1": index.bm25(b=1),
        "bm25-k0": index.bm25(k1=0.1),
        "bm25-k5": index.bm25(k1=5),
        "bm25-100": index.bm25(num_results=100),
        "unstemmed": words.bm25(),
        "unstemmed-b0": words.bm25(b=0),
        "feedback": feedback(),
        "feedback-1": feedback(fb_docs=1),
        "feedback-50": feedback(fb_docs=50),
        "feedback-terms5": feedback(fb_terms=5),
        "feedback-gamma1": feedback(gamma=1),
        "feedback-100": feedback() % 100,
    }


@cache
def judged(dataset: str) -> Evaluation:
    """The systems' runs with the judgements."""
    source = pt.get_dataset(f"irds:{dataset}")
    runs = {name: system(source.get_topics()) for name, system in systems(dataset).items()}
    return Evaluation.of(runs, source.get_qrels())


@cache
def runs_and_judges() -> tuple[dict[str, pd.DataFrame], pd.DataFrame, dict[str, pd.DataFrame]]:
    """Runs on vaswani, its qrels with irrelevant documents, and two synthetic judges.

    Irrelevant documents are the other documents of a pool of depth 20. A synthetic judge adds noise
    to the official judgement and gives grades from 0 to 3. The third judge also prefers the first
    ten documents of the system without stemming.
    """
    source = pt.get_dataset("irds:vaswani")
    topics, qrels = source.get_topics(), source.get_qrels()[["qid", "docno", "label"]]
    runs = {name: system(topics) for name, system in systems("vaswani").items()}
    pooled = pd.concat([run[run["rank"] < 20][["qid", "docno"]] for run in runs.values()])
    keys = ["qid", "docno"]
    pool = pooled.drop_duplicates().merge(qrels, on=keys, how="outer").fillna({"label": 0})
    pool = pool.sort_values(keys, ignore_index=True).astype({"label": int})
    judges = {}
    first = runs["unstemmed"].query("rank < 10")[keys].assign(first=1)
    preferred = pool.merge(first, on=keys, how="left")["first"].fillna(0)
    for seed, (name, bias) in enumerate({"second": 0.0, "third": 1.5}.items()):
        noise = np.random.default_rng(seed).normal(0, 0.7, len(pool)) + bias * preferred
        grades = np.clip(np.round(1.8 * pool["label"] + noise), 0, 3).astype(int)
        judges[name] = pool.assign(label=grades)
    return runs, pool, judges


def arguments(analysis: Analysis) -> dict[str, Any]:
    """The arguments for an analysis, by the names of its parameters."""
    runs = judged("vaswani")
    possible: dict[str, Any] = {
        "runs": runs,
        "old": "bm25",
        "new": "feedback",
        "groups": {name: name.partition("-")[0] for name in runs.names},
        "pools": {
            kind: [name for name in runs.names if name.startswith(kind)]
            for kind in ("bm25", "feedback")
        },
        "lengths": DocLengths.from_irds("vaswani"),
        "qid": "1",
        "n": 10_000,
        "relevant": [1, 2, 5, 10, 20],
        "ranks": list(range(1, 51)),
    }
    if analysis.tracks:
        tracks = {name: judged(name) for name in ("vaswani", "cranfield")}
        possible["runs"] = {name: (judged_runs, None) for name, judged_runs in tracks.items()}
    if "judges" in analysis.required:
        possible |= dict(zip(("runs", "qrels", "judges"), runs_and_judges()))
        possible["judge_rel"] = {"second": 2, "third": 2}
    elif analysis.required & {"qrels"}:
        possible["runs"], possible["qrels"], _ = runs_and_judges()
    if analysis.name in FEW_RUNS:
        possible["runs"] = {name: runs_and_judges()[0][name] for name in SOME}
        possible.setdefault("qrels", runs_and_judges()[1])
    wanted = analysis.required | ({"judge_rel", "lengths", "qrels"} & set(analysis.parameters))
    return {n: possible[n] for n in wanted if n in possible} | OPTIONS.get(analysis.name, {})


def tuning() -> Any:
    """The chart of Clarke's experiment on vaswani."""
    collection = load_collection("vaswani")
    return scores_by_parameters(tune_for_each(collection, n_trials=200, seed=0))


def report() -> Any:
    """An example report on the systems over vaswani."""
    source = pt.get_dataset("irds:vaswani")
    runs = {name: system(source.get_topics()) for name, system in systems("vaswani").items()}
    measures = ["AP", "ASL@1000", "nDCG@10", "RR", "LexiP", "R@1000"]
    command = "python docs/gallery.py report"
    return pt.asl.report(
        runs,
        source.get_qrels(),
        measures,
        title="Vaswani: 14 systems",
        command=command,
    )


def save(chart: Any, path: Path) -> None:
    """Saves a chart as a small picture."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "chart.png"
        chart.save(str(drawn), scale_factor=PIXELS)
        few = Image.open(drawn).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
        path.parent.mkdir(exist_ok=True)
        few.save(path, optimize=True)


def draw(names: list[str]) -> None:
    """Draws these pictures, or all and the page that shows them."""
    shown = [analysis for analysis in analyses() if not names or analysis.name in names]
    for analysis in shown:
        chart = analysis.draw(analysis.function(**arguments(analysis)))
        save(chart, FOLDER / f"{analysis.name}.png")
    if not names or "tuning" in names:
        save(tuning(), FOLDER / "tuning.png")
    if not names or "report" in names:
        report().save(FOLDER / "report.html", force=True)
    if not names:
        (FOLDER / "index.html").write_text(page(shown))


def page(shown: list[Analysis]) -> str:
    """An HTML page with the picture and the question of each analysis."""
    figures = "\n".join(
        f'<figure><img src="{a.name}.png" width="600" alt="{escape(a.what)}"><figcaption>'
        f"{escape(a.what)} <code>{escape(pages.command(a))}</code></figcaption></figure>"
        for a in shown
    )
    links = '<p><a href="report.html">A report</a>, <a href="tuning.png">tuning</a></p>'
    return f"<!doctype html><meta charset=utf-8><title>Gallery</title>\n{links}\n{figures}\n"


if __name__ == "__main__":
    pt.tqdm.disable = True
    warnings.simplefilter("ignore")
    draw(sys.argv[1:])
