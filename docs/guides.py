"""Draws the pictures of the guides.

    python docs/guides.py [FOLDER]

They show the runs of DL 2020. The folder contains ``dl20-passage`` and ``assessors``; the default
is the folder of the tests (``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import pyterrier_asl as asl
from pyterrier_asl.evaluation.evaluation import Evaluation

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "pyterrier_asl" / "pt_docs"
DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", ROOT.parent / "shared" / "data"))
MEASURE = "nDCG@10"
#: The matrix of pairs shows every sixth run, so that the names have room.
EVERY = 6


def judgements(data: Path, name: str) -> Path:
    """The judgements of DL 2020 by a judge."""
    return data / "assessors" / "dl20" / f"dl20.{name}.txt.gz"


def runs_of(data: Path) -> Evaluation:
    """The runs of DL 2020 with the judgements."""
    return Evaluation.of(data / "dl20-passage" / "runs", data / "dl20-passage" / "qrels.txt")


def pictures(data: Path) -> dict[str, Any]:
    """The charts by the names of their files."""
    runs = runs_of(data)
    files = sorted((data / "dl20-passage" / "runs").iterdir())
    people, umbrela = (asl.read_qrels(judgements(data, name)) for name in ("nist", "umbrela-gpt4"))
    machines = {"umbrela": umbrela, "llama": judgements(data, "binary-llama3.2")}
    judged = asl.judges(
        people,
        machines,
        data / "dl20-passage" / "runs",
        [MEASURE],
        rel=2,
        judge_rel={"llama": 1},
    )
    two = {"bm25": "p_bm25", "duo": "p_bm25rm3_duo"}
    compared = {
        name: data / "dl20-passage" / "runs" / f"input.{file}.gz" for name, file in two.items()
    }
    plan = asl.plan_audit(compared, None, [MEASURE], umbrela, queries=20, seed=1)
    asked = set(plan.pairs)
    drawn = people[[pair in asked for pair in zip(people["qid"], people["docno"])]]
    audit = asl.audit(compared, drawn, [MEASURE], umbrela)
    some = files[::EVERY]
    return {
        "ranks": asl.ranks(runs, measures=MEASURE).chart(),
        "judges": judged.chart(),
        "audit": audit.chart(),
        "holes": asl.holes(some, data / "dl20-passage" / "qrels.txt", "P@20").chart(),
        "guard": guard(),
    }


def guard() -> Any:
    """Three intervals of a difference, and the verdicts of two conditions on them."""
    import altair as alt

    from pyterrier_asl.charts.drawing import COLORS

    rows = pd.DataFrame(
        {
            "case": ["a loss is shown", "a loss is possible", "no loss of the amount"],
            "low": [-0.05, -0.035, -0.012],
            "mean": [-0.03, -0.012, 0.002],
            "high": [-0.01, 0.011, 0.016],
            "verdicts": [
                "worse: FAIL, possibly worse: FAIL",
                "worse: PASS, possibly worse: FAIL",
                "worse: PASS, possibly worse: PASS",
            ],
        }
    )
    y = alt.Y("case:N", sort=None, title=None)
    base = alt.Chart(rows).encode(y=y)
    scale = alt.Scale(domain=[-0.06, 0.03])
    x = alt.X("low:Q", scale=scale, title="difference from the run that is live")
    lines = alt.Chart(pd.DataFrame({"x": [0, -0.02], "is": ["0", "- amount"]}))
    rule = lines.mark_rule(strokeDash=[4, 3]).encode(x="x:Q")
    names = lines.mark_text(dy=-6, baseline="bottom", y=0).encode(x="x:Q", text="is:N")
    return (
        rule
        + names
        + base.mark_rule(size=2, color=COLORS[0]).encode(x=x, x2="high:Q")
        + base.mark_point(filled=True, size=60, opacity=1, color=COLORS[0]).encode(x="mean:Q")
        + base.mark_text(align="left", x=305).encode(text="verdicts:N")
    ).properties(width=290, height=90)


def write(data: Path) -> None:
    """Draws the pictures."""
    from gallery import save

    for name, chart in pictures(data).items():
        save(chart, FOLDER / f"{name}.png")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
