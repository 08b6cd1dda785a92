"""Draws the pictures of the guides, and writes the part on ranks of the page of decisions.

    python docs/guides.py [FOLDER]

They are about the runs of DL 2020. The folder holds ``dl20-passage`` and ``assessors``; by default
it is that of the tests (``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import pyterrier_asl as asl
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.reporting.ranking import groups
from pyterrier_asl.statistics.tests import compare_all

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "pyterrier_asl" / "pt_docs"
PAGE = FOLDER / "decisions.rst"
DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", ROOT.parent / "shared" / "data"))
MEASURE, DRAWS = "nDCG@10", 10_000
#: Of the matrix of pairs: every sixth run has room with its name.
EVERY = 6
_BEGIN, _END = ".. (computed: begin)\n", ".. (computed: end)\n"


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
    drawn = np.random.default_rng(1).choice(people["qid"].unique(), 20, replace=False)
    two = {"bm25": "p_bm25", "duo": "p_bm25rm3_duo"}
    audit = asl.audit(
        {name: data / "dl20-passage" / "runs" / f"input.{file}.gz" for name, file in two.items()},
        people[people["qid"].isin(drawn)],
        [MEASURE],
        umbrela,
    )
    some = files[::EVERY]
    return {
        "ranks": asl.ranks(runs, measure=MEASURE).chart(),
        "judges": judged.chart(),
        "audit": audit.chart(),
        "holes": asl.holes(some, None, data / "dl20-passage" / "qrels.txt", "P@20").chart(),
        "guard": guard(),
    }


def guard() -> Any:
    """Three intervals of a difference, and the verdicts of two conditions on them."""
    import altair as alt

    from pyterrier_asl.charts.forms import COLORS

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


def computed(data: Path) -> str:
    """What the page says of intervals of ranks, letters and the bootstrap."""
    runs = runs_of(data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the mean nDCG@10 of DoRA_Large")
        board = asl.ranks(runs, measure=MEASURE)
        common = asl.ranks(runs, measure=MEASURE, variance="common")
    values = runs.values(MEASURE)
    paragraphs = [
        f"On the {len(board.names)} runs of DL 2020 by ``{MEASURE}`` the median interval of "
        f":func:`~pyterrier_asl.ranks` is {_median_width(board)} ranks wide, and "
        f"{_median_width(common)} with ``variance='common'``.",
        _on_letters(values, runs.names),
        _on_bootstrap(values, board),
    ]
    return "\n".join(f"{paragraph}\n" for paragraph in paragraphs)


def _median_width(board: asl.leaderboard.result.Leaderboard) -> str:
    return f"{np.median(board.table['high'] - board.table['low'] + 1):.0f}"


def _on_letters(values: np.ndarray, names: list[str]) -> str:
    """What letters say of pairs that do not differ."""
    compared = compare_all(values, names, test="t", alpha=0.05)
    order = np.argsort(-values.mean(axis=1), kind="stable")
    differs = np.zeros((len(names),) * 2, bool)
    differs[np.triu_indices(len(names), k=1)] = compared["significant"]
    differs = (differs | differs.T)[np.ix_(order, order)]
    letters = groups(differs)
    shared = np.zeros_like(differs)
    for first, last in letters:
        shared[first : last + 1, first : last + 1] = True
    alike = np.triu(~differs, k=1)
    without = int((alike & ~shared).sum())
    return (
        f"There are {len(letters)} letters for groups of runs that do not differ (t-tests for "
        f"pairs, Holm), and {without / alike.sum():.0%} of the {alike.sum():,} pairs that do not "
        "differ share none of them."
    )


def _on_bootstrap(values: np.ndarray, board) -> str:
    """How wide percentiles of ranks over resampled topics are."""
    generator, topics = np.random.default_rng(0), values.shape[1]
    weights = generator.multinomial(topics, np.full(topics, 1 / topics), DRAWS) / topics
    drawn = np.array([rankdata(-means, method="min") for means in weights @ values.T])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    width = np.median(np.floor(high) - np.floor(low) + 1)
    return (
        f"Percentiles of the ranks over {DRAWS:,} bootstrap samples of topics are "
        f"{width:.0f} ranks wide (median), and those of {(low <= 1).sum()} runs hold rank 1, "
        f"instead of {int(board.table['possibly_first'].sum())}: each is about one run alone, and "
        "together they do not hold with 95 % confidence."
    )


def page(data: Path) -> str:
    """The whole page, with what is computed between its two marks."""
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{computed(data)}\n{_END}{after}"


def write(data: Path) -> None:
    """Draws the pictures and writes the page."""
    from gallery import save

    for name, chart in pictures(data).items():
        save(chart, FOLDER / f"{name}.png")
    PAGE.write_text(page(data))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
