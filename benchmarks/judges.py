"""Which runs judges favour: TREC 2020 Deep Learning, with runs that judges reranked.

    python benchmarks/judges.py

The first 100 documents of ten runs are reranked by the labels of a judge; ties keep the order of
the run. Each reranked run is added alone to the real runs. The first table counts how many of the
ten are favoured by each judge. The second table counts the real runs that are favoured. The third
has the share of samples in which any run is favoured although none is: topics are drawn anew, and
each run's favour is subtracted from its values by the judge.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from pyterrier_asl.assessment.judges import Judges
from pyterrier_asl.io.qrels import read_qrels
from pyterrier_asl.io.runs import read_run
from pyterrier_asl.statistics.favour import favours

DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", "../shared/data"))
MEASURES = ("nDCG@10", "AP(rel=2)")
PEOPLE = "nist"
#: The file of each judge, and the lowest relevant grade of the judges with another scale.
JUDGES = {
    PEOPLE: "nist",
    "umbrela": "umbrela-gpt4",
    "exam max": "exam-graded-max-gpt4",
    "exam mean": "exam-graded-mean-gpt4.FRACTIONAL",
    "gpt4": "binary-gpt4",
    "gpt4o": "binary-gpt4o",
    "llama3.2": "binary-llama3.2",
}
REL = {"exam max": 4, "exam mean": 1, "gpt4": 1, "gpt4o": 1, "llama3.2": 1}
RERANKED, DEPTH, ALPHA = 10, 100, 0.05


def reranked(run: pd.DataFrame, qrels: pd.DataFrame) -> pd.DataFrame:
    """The first documents of a run in the order of a judge's labels."""
    ordered = run.sort_values(["qid", "score", "docno"], ascending=[True, False, False])
    top = ordered.groupby("qid").head(DEPTH).merge(qrels, "left", ["qid", "docno"])
    place = top.groupby("qid").cumcount()
    return top.assign(score=top["label"].fillna(0) * 10 * DEPTH - place)[["qid", "docno", "score"]]


def detected(values: dict[str, np.ndarray], real: int) -> pd.DataFrame:
    """How many reranked runs each judge favours: the judge that reranked in rows."""
    rows = {}
    by_reranker = dict(zip(list(values)[1:], range(real, 10**6, RERANKED)))
    for reranker, first in by_reranker.items():
        rows[reranker] = {}
        for judge in by_reranker:
            named = 0
            for added in range(first, first + RERANKED):
                kept = [*range(real), added]
                _, _, p = favours(values[judge][kept], values[PEOPLE][kept])
                named += p[-1] <= ALPHA
            rows[reranker][f"by {judge}"] = named
    return pd.DataFrame(rows).T


def level(judge: np.ndarray, people: np.ndarray, queries: int, samples: int) -> float:
    """The share of samples in which any run is favoured, where none is in the whole data."""
    _, favour, _ = favours(judge, people)
    draw, named = np.random.default_rng(queries), 0
    for _ in range(samples):
        at = draw.integers(0, judge.shape[1], queries)
        _, _, p = favours((judge - favour[:, np.newaxis])[:, at], people[:, at])
        named += p.min() <= ALPHA
    return named / samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200, help="how often topics are drawn anew")
    samples = parser.parse_args().samples
    warnings.simplefilter("ignore")  # of ties in runs
    folder = DATA / "assessors" / "dl20"
    qrels = {name: read_qrels(folder / f"dl20.{file}.txt.gz") for name, file in JUDGES.items()}
    files = sorted((DATA / "dl20-passage" / "runs").iterdir())
    runs: dict[str, object] = {file.name.removesuffix(".gz"): str(file) for file in files}
    chosen = [list(runs)[place] for place in np.linspace(0, len(runs) - 1, RERANKED).astype(int)]
    for judge in list(JUDGES)[1:]:
        for name in chosen:
            runs[f"{name} by {judge}"] = reranked(read_run(str(runs[name])), qrels[judge])
    judges = Judges.of(qrels, runs, judge_rel=REL)
    real, rows, levels = len(files), [], []
    for measure in MEASURES:
        values = judges.values(measure)
        print(f"\n{measure}: of {RERANKED} reranked runs are favoured, by reranker (rows)\n")
        table = detected(values, real)
        found, whole = np.diag(table).sum(), RERANKED * len(table)
        print(f"{table.to_string()}\n\n{found} of {whole} are favoured by the judge that reranked")
        people = values[PEOPLE][:real]
        for judge in list(JUDGES)[1:]:
            by_judge = values[judge][:real]
            slope, favour, p = favours(by_judge, people)
            at = np.flatnonzero(p <= ALPHA)
            about = {"measure": measure, "judge": judge}
            rank = np.argsort(np.argsort(-people.mean(axis=1)))[at] + 1
            rows.append(
                about
                | {"slope": slope, "named": len(at), "most": favour[at].max(initial=0)}
                | {"best rank by people": rank.min(initial=real)}
            )
            of_sizes = {f"n = {n}": level(by_judge, people, n, samples) for n in (25, 50)}
            levels.append(about | of_sizes)
    table = pd.DataFrame(rows).round(3)
    print("\nReal runs that are favoured\n\n", table.to_string(index=False))
    for measure, named in table.groupby("measure", sort=False)["named"]:
        print(f"{measure}: {named.sum()} of {real * len(named)} real runs")
    print("\nLevel\n\n", pd.DataFrame(levels).to_string(index=False))


if __name__ == "__main__":
    main()
