"""The worked examples, each measure through ir_measures as a user would call it."""

import warnings
from itertools import product

import ir_measures
import pytest

from pyterrier_asl import TBG, AP_Rareness, DocLengths, LexiP, P_Rareness, RarenessPool

EXACT = 1e-9


def run(docs):
    return {"q": {doc: -place for place, doc in enumerate(docs)}}


def qrels(docs):
    return {"q": dict.fromkeys(docs, 1)}


def test_asl_and_nasl(vectors):
    for example in vectors["asl"]:
        names = [name for name in example if "ASL" in name]
        assert names
        for name in names:
            measure = ir_measures.parse_measure(name)
            value = measure.calc_aggregate(qrels(example["relevant"]), run(example["ranking"]))
            assert value == pytest.approx(example[name], abs=EXACT), (example["run"], name)
    for name, value in vectors["asl_missing_query"].items():
        if "ASL" in name:
            measure = ir_measures.parse_measure(name)
            assert measure.calc_aggregate(qrels("ab"), {}) == value, name


def test_lexip(vectors):
    for example in vectors["lexip"]:
        ranks, missing = example["ranks"], example["relevant"] - len(example["ranks"])
        documents = [f"d{rank}" for rank in range(1, max(ranks, default=1) + 1)]
        relevant = [f"d{rank}" for rank in ranks] + [f"missing{i}" for i in range(missing)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no relevant document retrieved
            value = LexiP.calc_aggregate(qrels(relevant), run(documents))
        assert value == pytest.approx(example["LexiP"], abs=EXACT), example


@pytest.mark.filterwarnings("ignore:.*fewer than 8")
@pytest.mark.parametrize("kind", ["rareness", "rareness_outside"])
def test_rareness(vectors, kind):
    for example in vectors[kind]:
        pool = RarenessPool.from_runs({name: run(docs) for name, docs in example["pool"].items()})
        docs = example["pool"][example["run"]] if "run" in example else example["ranking"]
        for measure, normalized in product((P_Rareness, AP_Rareness), (False, True)):
            made = measure(pool=pool, alpha=example["alpha"], normalized=normalized) @ example["k"]
            value = made.calc_aggregate(qrels(example["relevant"]), run(docs))
            expected = example[measure.NAME + ("_normalized" if normalized else "")]
            assert value == pytest.approx(expected, abs=EXACT), (made, example)


@pytest.mark.parametrize("kind", ["tbg", "tbg_halflife"])
def test_tbg(vectors, kind):
    for example in vectors[kind]:
        documents = [f"d{place}" for place in range(len(example["lengths"]))]
        lengths = DocLengths(documents, example["lengths"])
        grades = {"q": dict(zip(documents, example["relevance"]))}
        measure = TBG(lengths=lengths, halflife=example.get("h", 224))
        value = measure.calc_aggregate(grades, run(documents))
        assert value == pytest.approx(example["TBG"], abs=EXACT), example
