"""Every caption is true of its data, including data without systems, queries or differences.

Each analysis is drawn for runs without relevant documents, one
system, one query, equal runs, disagreeing rankings, and qrels with relevant documents only.
"""

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _charts import assert_ends_fit, assert_is_readable, parts
from _files import write_qrels, write_run
from click.testing import CliRunner

from pyterrier_asl import DocLengths
from pyterrier_asl import analysis as an
from pyterrier_asl.analysis.registry import Analysis, analyses
from pyterrier_asl.cli import main

pytest.importorskip("altair")

QIDS = ["q1", "q2", "q3", "q4"]
DOCNOS = [f"d{number}" for number in range(12)]
QRELS = {qid: {docno: int(n % 3 == 0) for n, docno in enumerate(DOCNOS)} for qid in QIDS}
OTHER = {qid: {docno: int(n % 4 == 0) for n, docno in enumerate(DOCNOS)} for qid in QIDS}


def ranking(*docnos: str) -> dict[str, dict[str, float]]:
    """A run with the same ranking for every query."""
    return {qid: {d: float(-rank) for rank, d in enumerate(docnos)} for qid in QIDS}


def random_run(seed: int) -> dict[str, dict[str, float]]:
    draw = np.random.default_rng(seed)
    return {q: {d: float(draw.normal()) for d in draw.permutation(DOCNOS)[:8]} for q in QIDS}


RUNS: dict[str, Any] = {f"run{seed}": random_run(seed) for seed in range(4)}
#: AP prefers the first run, which has one relevant document at the top; ASL prefers the second.
DISAGREEING: dict[str, Any] = {
    "top": ranking("d0"),
    "deep": ranking(
        *(d for n in (0, 3, 6, 9) for d in (*(f"x{n + i}" for i in range(4)), f"d{n}"))
    ),
}

ONE_QUERY = {name: {"q1": run["q1"]} for name, run in RUNS.items()}, {"q1": QRELS["q1"]}
#: The relevant documents of both judges, without the others.
FOUND = [{q: {d: 1 for d in of[q] if of[q][d]} for q in of} for of in (QRELS, OTHER)]
CASES: dict[str, Any] = {
    "usual": (RUNS, QRELS, OTHER),
    "nothing": ({name: ranking("d1", "d2") for name in RUNS}, QRELS, OTHER),
    "nothing relevant": (RUNS, {qid: dict.fromkeys(DOCNOS, 0) for qid in QIDS}, OTHER),
    "one system": ({"run0": RUNS["run0"]}, QRELS, OTHER),
    "one query": (*ONE_QUERY, {"q1": OTHER["q1"]}),
    "equal runs": (dict.fromkeys(RUNS, RUNS["run0"]), QRELS, OTHER),
    "negative tau": (DISAGREEING, QRELS, OTHER),
    "only relevant judged": (RUNS, *FOUND),
}

#: The errors of analyses without anything to compare.
REFUSED = re.compile(
    "nothing relevant|at least 2 items|there is only|can(not)? be drawn|one run and one measure|"
    "two different runs"
)

#: Text that captions must not contain, such as nan or a wrong plural.
WRONG = re.compile(
    r"\bnan\b|\bNone\b|inf\b|\b1 (runs|systems|queries|requests|pairs|comparisons|draws|others)\b"
    r"|(?<![\d.,])0 (comparisons|systems are|with the most)"
)


def arguments(analysis: Analysis, case: str) -> dict[str, Any]:
    """The arguments of an analysis."""
    runs, qrels, other = CASES[case]
    names = list(runs)
    lengths = DocLengths.from_dict({d: 10 for d in [*DOCNOS, *(f"x{n}" for n in range(30))]})
    judges = {"other": other}
    possible: dict[str, Any] = {"runs": runs, "qrels": qrels, "judges": judges, "lengths": lengths}
    possible |= {"old": names[0], "new": names[-1], "pools": {"first": names[:1]}}
    possible |= {"groups": dict.fromkeys(names[:2], "group"), "qid": "q1", "n": 100}
    possible |= {"relevant": [1, 2], "ranks": [1, 2, 3]}
    has = set(analysis.parameters)
    wanted = analysis.required | ({"qrels", "lengths"} & has)
    wanted |= {"judges"} if analysis.name == "human-range" else set()
    few = {"draws": 5} if "draws" in has and "test" not in has else {}  # tests draw by themselves
    shares = {"fractions": [0.3, 0.7, 1.0]} if "fractions" in has else {}
    return {name: possible[name] for name in wanted} | few | shares


@cache
def usual(name: str) -> pd.DataFrame:
    """The table of an analysis of the usual case."""
    analysis = next(analysis for analysis in analyses() if analysis.name == name)
    return analysis.function(**arguments(analysis, "usual"))


def caption_of(chart: Any) -> str:
    return " ".join([chart.title.text, *chart.title.subtitle])


#: Analyses whose lines have points, as they have few values, and those with hollow points.
POINTED = {
    *"agreement-by-alpha agreement-by-number-of-systems level-regressions satisfaction".split(),
    *"preference-levels tie-probability-by-rank ties-by-recall-level".split(),
}
HOLLOW = {"system-order"}

#: The quick suite draws the usual case only.
UNUSUAL = [pytest.param(case, marks=pytest.mark.slow) for case in CASES if case != "usual"]


@pytest.mark.filterwarnings("ignore", "error::RuntimeWarning")  # NumPy's
@pytest.mark.parametrize("case", ["usual", *UNUSUAL])
@pytest.mark.parametrize("analysis", analyses(), ids=lambda analysis: analysis.name)
def test_every_chart_is_drawn_and_says_nothing_wrong(analysis, case):
    try:
        given = arguments(analysis, case)
        frame = usual(analysis.name) if case == "usual" else analysis.function(**given)
    except ValueError as error:
        assert REFUSED.search(str(error)), error
        assert case != "usual"
        return
    chart = analysis.draw(frame)
    spec, caption = chart.to_dict(), caption_of(chart)
    assert not WRONG.search(caption), caption
    assert caption.endswith(".")
    assert_is_readable(spec)
    marks = [part for part in parts(spec) if "type" in part]
    assert any(mark.get("point") is True for mark in marks) == (analysis.name in POINTED)
    assert any(mark.get("filled") is False for mark in marks) == (analysis.name in HOLLOW)
    drawn = [row for rows in spec.get("datasets", {}).values() for row in rows]
    assert drawn or frame.empty or case != "usual"


def test_ap_correlation_of_rareness_with_itself_is_1_whatever_ties():
    # Precision at 3 ties two of the three systems.
    runs = {name: ranking(*docs) for name, docs in zip("abc", (("d0",), ("d3",), ("d1",)))}
    frame = an.agreement_by_alpha(runs, QRELS, ["P_Rareness@3"], alphas=[0, 0.5])
    assert frame[["tau", "tau_AP"]].to_numpy().tolist() == [[1, 1], [1, 1]]
    equal = an.agreement_by_alpha({"a": runs["a"], "b": runs["a"]}, QRELS, ["P_Rareness@3"])
    assert equal[["tau", "tau_AP"]].isna().all(axis=None)
    with pytest.raises(ValueError, match="there is only \\['a'\\]"):
        an.agreement_by_alpha({"a": runs["a"]}, QRELS)


def test_negative_coefficients_have_another_colour_than_0():
    frame = an.level_correlations(DISAGREEING, QRELS)
    assert frame["correlation"].min() == -1
    assert_ends_fit(an.level_correlations.draw(frame).to_dict())


def test_the_table_of_reordering_fits_100_columns(tmp_path):
    files = [write_run(run, tmp_path / f"{name}.run") for name, run in RUNS.items()]
    qrels = write_qrels(QRELS, tmp_path / "qrels")
    result = CliRunner().invoke(main, ["analyze", "reordering", str(qrels), *map(str, files)])
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 100
