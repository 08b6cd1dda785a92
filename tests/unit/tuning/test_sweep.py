"""The sweep against the pipeline, which computes the same settings with frames and ir_measures."""

import sys

import numpy as np
import pandas as pd
import pytest
from _sweeps import Collection, compare
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, Judged, NumRet, nDCG

from pyterrier_asl import (
    ASL,
    TBG,
    DocLengths,
    LexiP,
    RandomSearch,
    RobertsonPRF,
    TermIndex,
    retrieval,
)
from pyterrier_asl.retrieval import _kernels
from pyterrier_asl.tuning import NotSwept, Stage, bm25_stages
from pyterrier_asl.tuning.objective import make_task
from pyterrier_asl.tuning.space import Space
from pyterrier_asl.tuning.sweep import Sweep


@pytest.fixture(scope="module")
def small():
    return Collection()


@pytest.mark.slow
def test_all_parameters_at_once(small):
    first = small.index.bm25(num_results=20, k3=8.0)
    prf, final = RobertsonPRF(small.index), small.index.bm25(num_results=25, idf="terrier")
    retrieval = {"b": [0.0, 0.3, 1.0], "k1": [0.0, 0.5, 1.2, 400.0], "num_results": [3, 40]}
    feedback = {"fb_docs": [1, 2, 9, 50], "fb_terms": [1, 3, 200]}
    feedback |= {"gamma": [0.0, 0.4, 1.0], "weights": ["idf", "rsj"]}
    params = [
        (first, {**retrieval, "k3": [None, 0.5, 8.0], "idf": ["robertson", "terrier"]}),
        (prf, feedback),
        (final, {**retrieval, "idf": ["robertson", "terrier"]}),
    ]
    assert compare(Stage("all", first >> prf >> final, params), small, small.measures, 60) < 1e-9
    assert compare(Stage("one", first, params[:1]), small, small.measures, 40) < 1e-9


@pytest.mark.parametrize(("weights", "fb_docs"), [("idf", 4), ("rsj", 20)])
def test_one_retriever_in_both_places(small, weights, fb_docs):
    """It retrieves more or fewer documents than feedback takes."""
    bm25 = small.index.bm25(num_results=15)
    prf = RobertsonPRF(small.index, fb_docs=fb_docs, weights=weights)
    params = [(bm25, {"b": [0.1, 0.5, 0.9], "k1": [0.2, 2.0, 20.0]})]
    assert compare(Stage("both", bm25 >> prf >> bm25, params), small, small.measures, 6) < 1e-9


def test_query_weights_are_saturated_before_feedback(small):
    collection, toks = Collection(), [{f"w{i}": 1.0, f"w{i + 7}": 0.2} for i in range(12)]
    collection.topics = small.topics[["qid"]].assign(query_toks=toks)
    first, final = (small.index.bm25(num_results=15, k3=k3) for k3 in (0.5, None))
    pipeline = first >> RobertsonPRF(small.index, fb_docs=4) >> final
    stage = Stage("k3", pipeline, [(first, {"b": [0.1, 0.5, 0.9], "k1": [0.2, 2.0]})])
    assert compare(stage, collection, [AP, nDCG], 6) < 1e-9


@pytest.mark.slow
def test_queries_as_weights(small):
    """Weights of any sign, unknown terms, and empty queries."""
    toks = [{"w1": 1.0, "w5": -0.5}, {"w2": 2.5, "nowhere": 9.0}, {}, {"w3": 0.0, "w9": 0.1}]
    toks += [{f"w{i}": 1.0, f"w{i + 7}": 0.5} for i in range(8)]
    collection = Collection()
    collection.topics = small.topics[["qid"]].assign(query_toks=toks)
    stages = bm25_stages(collection.index, num_results=30)
    for stage in (*stages[:2], bm25_stages(collection.index, num_results=30, weights="rsj")[1]):
        assert compare(stage, collection, [AP, nDCG, ASL @ 100], 15) < 1e-9


def test_the_transformers_of_the_stages_have_their_options(small):
    stages = bm25_stages(small.index, num_results=7, weights="rsj")
    first, prf, final = (stage.params[0][0] for stage in stages)
    assert (first.num_results, final.num_results, prf.weights) == (7, 7, "rsj")
    assert stages[0].handed_to == [final]


def test_ids_that_are_numbers(small):
    collection = Collection()
    collection.topics = small.topics.assign(qid=range(12))
    collection.qrels = small.qrels.assign(qid=small.qrels["qid"].str[1:].astype(int))
    stage = bm25_stages(collection.index, num_results=30)[0]
    assert compare(stage, collection, [AP, ASL @ 100, RR @ 3, Judged @ 10], 5) < 1e-9


def test_settings_that_share_feedback_have_their_own_values(small):
    """Feedback is computed to the largest depth so far, and again only for other first stages."""
    first, prf, final = small.index.bm25(), RobertsonPRF(small.index), small.index.bm25()
    params = [(first, {"b": [0.1, 0.9]}), (prf, {"fb_docs": [2, 9]}), (final, {"b": [0.1, 0.9]})]
    task = make_task(small.topics, small.qrels, AP)
    settings = [(0.1, 2, 0.1), (0.1, 2, 0.9), (0.1, 9, 0.1), (0.1, 2, 0.1), (0.9, 2, 0.1)]

    def sweep():
        return Sweep(first >> prf >> final, Space(params), task)

    by_itself = [sweep()(setting) for setting in settings]
    assert list(map(sweep(), settings)) == by_itself


def test_through_random_search(small):
    """The search uses the sweep by default; results with, without and in threads are equal."""
    bm25 = small.index.bm25(num_results=30)
    params = bm25_stages(small.index)[0].params[0][1]
    options = {"n_trials": 4, "seed": 1, "return_type": "trials", "measures": [LexiP]}
    arguments = (bm25, {bm25: params}, small.topics, small.qrels, "ASL@100")
    swept = RandomSearch(*arguments, sweep=True, **options)
    pd.testing.assert_frame_equal(RandomSearch(*arguments, **options), swept)
    pd.testing.assert_frame_equal(RandomSearch(*arguments, jobs=2, **options), swept)
    run = RandomSearch(*arguments, sweep=False, **options)
    pd.testing.assert_frame_equal(run, swept, rtol=0, atol=1e-9)


def test_without_numba_it_does_not_apply(small, monkeypatch):
    monkeypatch.setitem(sys.modules, _kernels.__name__, None)
    monkeypatch.delattr(retrieval, "_kernels")
    bm25, task = small.index.bm25(), make_task(small.topics, small.qrels, AP)
    with pytest.raises(NotSwept, match=r"needs Numba: pip install.*\[fast\]"):
        Sweep(bm25, Space({bm25: {"b": [0.5]}}), task)


def test_where_it_does_not_apply(small):
    index, other = small.index, Collection(1).index
    bm25, prf = index.bm25(), RobertsonPRF(index)
    with_toks = small.topics.assign(query_toks=[{"w1": float("inf")}] * 12)
    k3, lengths = bm25 >> prf >> index.bm25(k3=8), DocLengths(["d1", "d2"], [10, 20])
    both = [TBG(lengths=small.lengths), TBG(missing_length=5)]
    for pipeline, measures, reason in [
        (bm25 % 10, [AP], "neither a TermIndex's BM25"),
        (bm25 >> prf >> other.bm25(), [AP], "one TermIndex"),
        (bm25, [AP, NumRet], "NumRet is not"),
        (bm25, [TBG], "TBG does not know the length"),
        (bm25, [TBG(lengths=lengths)], "every document"),
        (bm25, both, "different lengths"),
        (k3, [AP], "k3"),
    ]:
        task = make_task(small.topics, small.qrels, measures[0], measures[1:])
        with pytest.raises(NotSwept, match=reason):
            Sweep(pipeline, Space({bm25: {"b": [0.5]}}), task)
    with pytest.raises(NotSwept, match="'index' is not a parameter of the sweep"):
        Sweep(
            bm25, Space({bm25: {"index": [index, other]}}), make_task(small.topics, small.qrels, AP)
        )
    infinite = make_task(with_toks, small.qrels, AP)  # the pipeline could not retrieve it either
    sweep = Sweep(bm25, Space({bm25: {"b": [0.5]}}), infinite)
    with pytest.raises(ValueError, match="weight inf: give finite weights"):
        sweep((0.5,))


def test_lengths(small):
    bm25 = small.index.bm25()
    measures = [TBG(lengths=DocLengths(["d1", "d2"], [10, 20]), missing_length=300)]
    stage = Stage("one", bm25, {bm25: {"b": [0.1, 0.5, 0.9]}})
    assert compare(stage, small, measures, 5) < 1e-9


def test_parameters_out_of_range_and_batches_are_refused(small):
    bm25, how = small.index.bm25(), {"n_trials": 1, "sweep": True}
    with pytest.raises(ValueError, match="b is 1.5"):
        RandomSearch(bm25, {bm25: {"b": [1.5]}}, small.topics, small.qrels, **how)
    assert bm25.b == 0.75
    with pytest.raises(ValueError, match="batch_size=2 is for pipelines, not for sweep=True"):
        RandomSearch(bm25, {bm25: {"b": [0.5]}}, small.topics, small.qrels, batch_size=2, **how)


@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_the_nth_largest_value(size):
    generator = np.random.default_rng(size)
    some = [-3.0, -1.0, 0.0, 1e-9, 1.0, 1.0 + 1e-12, 7.0]
    values = np.where(np.arange(size) % 2, generator.choice(some, size), generator.uniform(-9, 9))
    for n, value in enumerate(sorted(values, reverse=True), 1):
        assert _kernels._nth_largest(values, n) == value


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=2, max_size=30))
def test_keys_order_as_ranking_does(scores):
    ids = np.random.default_rng(0).permutation(len(scores)).astype(np.uint32)
    keys = [_kernels._key(score, number) for score, number in zip(scores, ids)]
    expected = sorted(range(len(ids)), key=lambda d: (-np.float32(scores[d]), -int(ids[d])))
    assert np.argsort(np.array(keys, np.uint64))[::-1].tolist() == expected


def test_feedback_documents_with_all_terms_of_the_index():
    """The last documents repeat terms after all terms have been seen."""
    texts = {"d0": "wave", "d1": "wave tube", "d2": "wave tube", "d3": "wave tube"}
    documents = [{"docno": docno, "text": text} for docno, text in texts.items()]
    index = TermIndex.from_documents(documents, verbose=False)
    topics = pd.DataFrame({"qid": ["1"], "query": ["wave tube"]})
    qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["d0", "d2"], "label": [1, 1]})
    bm25 = index.bm25(idf="terrier")
    pipeline = bm25 >> RobertsonPRF(index, fb_docs=4, fb_terms=2) >> bm25
    params = [(bm25, {"b": [0.0, 0.9]})]
    options = {"n_trials": 2, "return_type": "trials"}
    swept, run = (
        RandomSearch(pipeline, params, topics, qrels, AP, sweep=sweep, **options)
        for sweep in (True, False)
    )
    pd.testing.assert_frame_equal(swept, run)
