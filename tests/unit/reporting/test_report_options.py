"""Every option of a report reaches all of the page: its sentences, tables, preferences and data.

A page with the option is the page of inputs to which the option was applied before.
"""

import html
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from _reports import QRELS, RUNS, data_of

from pyterrier_asl import TBG, AP_Rareness, DocLengths, Qrels, RarenessPool, report

pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = [*RUNS][:3]
MEASURES = ["AP", "ASL@20", "LexiP", "P@5", "R@20"]
SIZES = {f"d{at}": 5 + 7 * at for at in range(60)}


def labels_of(draw: np.random.Generator, wrong: float = 0.2) -> dict:
    """Another judge's labels on the same scale."""
    return {
        q: {d: int(draw.integers(0, 3)) if draw.random() < wrong else g for d, g in docs.items()}
        for q, docs in QRELS.items()
    }


JUDGES = {"m": labels_of(np.random.default_rng(1)), "n": labels_of(np.random.default_rng(2), 0.6)}


def from_grade(qrels: dict, least: int) -> dict:
    return {q: {d: int(g >= least) for d, g in docs.items()} for q, docs in qrels.items()}


def cut(run: dict, k: int) -> dict:
    return {
        q: {d: of[d] for d in sorted(of, key=lambda d: (-of[d], d))[:k]} for q, of in run.items()
    }


def some(systems: int) -> dict:
    return {name: RUNS[name] for name in NAMES[:systems]}


def changed(change) -> dict:
    return {name: {q: change(q, of) for q, of in run.items()} for name, run in some(3).items()}


ADDED = {q: {"d30": 2, "d31": 0, "d40": 1} for q in QRELS}
LABELS = pd.DataFrame([(q, d, g) for q, docs in ADDED.items() for d, g in docs.items()])
LABELS.columns = ["qid", "docno", "label"]
PASSAGES = changed(lambda q, of: {f"{d}#{n}": s - n for d, s in of.items() for n in (0, 1)})
WITH_OWN = changed(lambda q, of: of | {q: 99.0})
POOL = RarenessPool.from_runs(RUNS, groups={NAMES[0]: "one", NAMES[1]: "one"}, depth=9, name="p")

#: Option -> arguments of a report with it, and of a report on changed inputs.
CASES = {
    "rel, two runs": (
        (some(2), QRELS, MEASURES, {"rel": 2}),
        (some(2), from_grade(QRELS, 2), MEASURES, {}),
    ),
    "rel, three runs": (
        (some(3), QRELS, MEASURES, {"rel": 2}),
        (some(3), from_grade(QRELS, 2), MEASURES, {}),
    ),
    "rel, judges": (
        (some(3), QRELS, MEASURES, {"rel": 2, "judges": JUDGES}),
        (
            some(3),
            from_grade(QRELS, 2),
            MEASURES,
            {"judges": {name: from_grade(own, 2) for name, own in JUDGES.items()}},
        ),
    ),
    "judge_rel, people": (
        (some(3), QRELS, MEASURES, {"judges": JUDGES, "judge_rel": {"n": 2}, "people": ["m"]}),
        (
            some(3),
            QRELS,
            MEASURES,
            {"judges": JUDGES | {"n": from_grade(JUDGES["n"], 2)}, "people": ["m"]},
        ),
    ),
    "labels": (
        (some(3), Qrels(QRELS, labels=LABELS), MEASURES, {}),
        (some(3), {q: docs | ADDED[q] for q, docs in QRELS.items()}, MEASURES, {}),
    ),
    "drop_self": (
        (WITH_OWN, Qrels(QRELS, drop_self=True), MEASURES, {}),
        (some(3), QRELS, MEASURES, {}),
    ),
    "collapse": (
        (PASSAGES, Qrels(QRELS, collapse="#"), MEASURES, {}),
        (some(3), QRELS, MEASURES, {}),
    ),
    "cutoff": (
        (some(3), QRELS, ["AP@6", "ASL@6", "P@5"], {"cutoff": 6}),
        (
            {name: cut(run, 6) for name, run in some(3).items()},
            QRELS,
            ["AP@6", "ASL@6", "P@5"],
            {"cutoff": 6},
        ),
    ),
    "lengths": (
        (some(3), QRELS, ["TBG", "AP"], {"lengths": DocLengths([*SIZES], [*SIZES.values()])}),
        (
            some(3),
            QRELS,
            {"TBG": TBG(lengths=DocLengths([*SIZES], [*SIZES.values()])), "AP": "AP"},
            {},
        ),
    ),
    "groups": (
        (RUNS, QRELS, ["AP_Rareness@9", "AP"], {"groups": {NAMES[0]: "one", NAMES[1]: "one"}}),
        (RUNS, QRELS, {"AP_Rareness@9": AP_Rareness(pool=POOL) @ 9, "AP": "AP"}, {}),
    ),
}

#: Options that are about texts or the place of the page, not about the numbers.
OF_TEXT = {"topics", "docs", "dataset", "title", "note", "command"}


def test_every_option_is_asked():
    asked = {word for name in CASES for word in re.findall(r"\w+", name)}
    options = {*inspect.signature(report).parameters} - {"runs", "qrels", "measures"} - OF_TEXT
    assert options - {"judges", "alpha"} <= asked


def content(page: str) -> tuple[str, dict]:
    """The text of a page and its data, without grades, digests and sources."""
    data = data_of(page)
    shown = re.sub(r"(?s)<(script|style|head|details id=.provenance)\b.*?</\1>", " ", page)
    text = html.unescape(re.sub("<[^>]*>", " ", shown))
    text = re.sub(
        r"\b[0-9a-f]{32}\b|relevant: grade ≥ \d|, n: rel=2|with \d+ labels of \w+", "", text
    )
    text = re.sub(r"The judgements come from several sources[^.]*\.[^.]*\.|labels: 30", "", text)
    data.pop("rel", None)
    if data["documents"]:
        data["documents"].pop("grades")
    return re.sub(r"\s+", " ", text), data


@pytest.mark.parametrize("name", CASES)
def test_an_option_reaches_the_whole_page(name):
    pages = []
    for runs, qrels, measures, options in CASES[name]:
        pages.append(content(report(runs, qrels, measures, **options).html))
    (text, data), (expected, wanted) = pages
    assert text == expected
    assert data == wanted
    runs, qrels, measures, options = CASES[name][0]
    plain = qrels.source if isinstance(qrels, Qrels) else qrels
    left = {key: value for key, value in options.items() if key in ("judges", "lengths")}
    if name not in ("collapse", "lengths", "drop_self"):  # whose runs are no usual ones
        assert content(report(runs, plain, measures, **left).html) != pages[0]


@pytest.mark.parametrize("systems", [2, 3])
def test_a_level_reaches_every_sentence(systems):
    made = report(some(systems), QRELS, MEASURES, judges=JUDGES, alpha=0.2)
    text = content(made.html)[0].replace("\u202f", " ")
    assert "80 %" in text and "95 %" not in text
    assert not re.search(r"(?<![\d.])0?\.05\b", text)
