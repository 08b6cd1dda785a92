"""Writes the part of the page on leaderboards that is computed: the runs of DL 2020 by nDCG@10.

    python docs/leaderboards.py [FOLDER]

The folder holds ``qrels.txt`` and ``runs``; by default it is that of the tests
(``PYTERRIER_ASL_DATA``).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

import pyterrier_asl as asl
from pyterrier_asl.evaluation.judged_runs import JudgedRuns
from pyterrier_asl.reporting.ranking import groups
from pyterrier_asl.statistics.tests import compare_all

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "pyterrier_asl" / "pt_docs" / "leaderboards.rst"
DATA = Path(os.environ.get("PYTERRIER_ASL_DATA", ROOT.parent / "shared" / "data"))
MEASURE, SHOWN, DRAWS = "nDCG@10", 5, 10_000
_BEGIN, _END = ".. (computed: begin)\n", ".. (computed: end)\n"


def computed(folder: Path) -> str:
    """The sentences and the table of the page."""
    runs = JudgedRuns.of(folder / "runs", folder / "qrels.txt")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the mean nDCG@10 of DoRA_Large")
        board = asl.ranks(runs, measure=MEASURE)
        common = asl.ranks(runs, measure=MEASURE, variance="common")
    values = runs.values(MEASURE)
    quoted = "".join(f"    {sentence}\n" for sentence in board.sentences()[:3])
    paragraphs = [
        f"The {len(board.names)} runs of DL 2020 by ``{MEASURE}``, over {board.topics} topics::\n\n"
        f"{quoted}",
        _table(board.shown().head(SHOWN)),
        f"The median interval is {_median_width(board)} ranks wide, and {_median_width(common)} "
        "with ``variance='common'``.",
        _on_letters(values, runs.names),
        _on_bootstrap(values, board),
    ]
    return "\n".join(f"{paragraph}\n" for paragraph in paragraphs)


def _median_width(board: asl.leaderboard.result.Leaderboard) -> str:
    return f"{np.median(board.table['high'] - board.table['low'] + 1):.0f}"


def _table(rows) -> str:
    lines = [".. list-table::", "    :header-rows: 1", ""]
    for row in [list(rows), *rows.itertuples(index=False)]:
        cells = [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row]
        texts = [{"True": "yes", "False": "no"}.get(cell, cell) for cell in cells]
        lines += [f"    {'*' if not n else ' '} - {text}" for n, text in enumerate(texts)]
    return "\n".join(lines) + "\n"


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


def page(folder: Path) -> str:
    """The whole page, with what is computed between its two marks."""
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{computed(folder)}\n{_END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "dl20-passage"))
