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
MEASURES = ["AP", "ASL@20"]
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

THREE, GRADE_2, K = some(3), from_grade(QRELS, 2), ["AP@6", "ASL@6"]
GROUPS = {NAMES[0]: "one", NAMES[1]: "one"}
POOL = RarenessPool.from_runs(RUNS, groups=GROUPS, depth=9, name="p")
LENGTHS = DocLengths([*SIZES], [*SIZES.values()])
PLAIN = (THREE, QRELS, MEASURES, {})
PEOPLE = {"judges": JUDGES, "people": ["m"]}

#: Option -> runs, qrels, measures and options of a report with it, and of one on changed inputs.
CASES = {
    "rel, two runs": ((some(2), QRELS, MEASURES, {"rel": 2}), (some(2), GRADE_2, MEASURES, {})),
    "rel, three runs": ((THREE, QRELS, MEASURES, {"rel": 2}), (THREE, GRADE_2, MEASURES, {})),
    "rel, judges": (
        (THREE, QRELS, MEASURES, {"rel": 2, "judges": JUDGES}),
        (THREE, GRADE_2, MEASURES, {"judges": {n: from_grade(JUDGES[n], 2) for n in JUDGES}}),
    ),
    "judge_rel, people": (
        (THREE, QRELS, MEASURES, PEOPLE | {"judge_rel": {"n": 2}}),
        (THREE, QRELS, MEASURES, PEOPLE | {"judges": JUDGES | {"n": from_grade(JUDGES["n"], 2)}}),
    ),
    "labels": (
        (THREE, Qrels(QRELS, labels=LABELS), MEASURES, {}),
        (THREE, {q: docs | ADDED[q] for q, docs in QRELS.items()}, MEASURES, {}),
    ),
    "drop_self": ((WITH_OWN, Qrels(QRELS, drop_self=True), MEASURES, {}), PLAIN),
    "collapse": ((PASSAGES, Qrels(QRELS, collapse="#"), MEASURES, {}), PLAIN),
    "cutoff": (
        (THREE, QRELS, K, {"cutoff": 6}),
        ({name: cut(run, 6) for name, run in THREE.items()}, QRELS, K, {"cutoff": 6}),
    ),
    "lengths": (
        (THREE, QRELS, ["TBG", "AP"], {"lengths": LENGTHS}),
        (THREE, QRELS, {"TBG": TBG(lengths=LENGTHS), "AP": "AP"}, {}),
    ),
    "groups": (
        (RUNS, QRELS, ["AP_Rareness@9", "AP"], {"groups": GROUPS}),
        (RUNS, QRELS, {"AP_Rareness@9": AP_Rareness(pool=POOL) @ 9, "AP": "AP"}, {}),
    ),
}

#: Options that are about texts or the place of the page, not about the numbers.
OF_TEXT = {"topics", "docs", "dataset", "title", "note", "command"}


def test_every_option_is_asked():
    asked = {word for name in CASES for word in re.findall(r"\w+", name)}
    options = {*inspect.signature(report).parameters} - {"runs", "qrels", "measures"} - OF_TEXT
    assert options - {"judges", "alpha", "unjudged"} <= asked


def content(page: str) -> tuple[str, dict]:
    """The text of a page and its data, without grades, digests and sources."""
    data = data_of(page)
    shown = re.sub(r"(?s)<(script|style|head|details id=.provenance)\b.*?</\1>", " ", page)
    text = html.unescape(re.sub("<[^>]*>", " ", shown))
    text = re.sub(
        r"\b[0-9a-f]{32}\b|relevant: grade ≥ \d|, n: rel=2|with \d+ labels of \w+"
        r"|n's labels go from [^?]*\?\.?",
        "",
        text,
    )
    text = re.sub(r"The judgements come from several sources[^.]*\.[^.]*\.|labels: 30", "", text)
    data.pop("rel", None)
    if data["documents"]:
        data["documents"].pop("grades")
    return re.sub(r"\s+", " ", text), data


PAGES: dict[tuple, tuple[str, dict]] = {}


def content_of(runs, qrels, measures, options) -> tuple[str, dict]:
    """The content of a page, which is made once for the same objects."""
    key = tuple(map(id, (runs, qrels, measures, *options.values()))) + tuple(options)
    if key not in PAGES:
        PAGES[key] = content(report(runs, qrels, measures, **options).html)
    return PAGES[key]


@pytest.mark.parametrize("name", CASES)
def test_an_option_reaches_the_whole_page(name):
    case, other = CASES[name]
    page = content_of(*case)
    assert page == content_of(*other)
    runs, qrels, measures, options = case
    plain = qrels.source if isinstance(qrels, Qrels) else qrels
    left = {key: value for key, value in options.items() if key in ("judges", "lengths")}
    if name not in ("collapse", "lengths", "drop_self"):  # whose runs are no usual ones
        assert content_of(runs, plain, measures, left) != page


@pytest.mark.parametrize("systems", [2, 3])
def test_a_level_reaches_every_sentence(systems):
    made = report(some(systems), QRELS, MEASURES, judges=JUDGES, alpha=0.2)
    text = content(made.html)[0].replace("\u202f", " ")
    assert "80 %" in text and "95 %" not in text
    assert not re.search(r"(?<![\d.])0?\.05\b", text)
