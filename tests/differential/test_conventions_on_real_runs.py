"""Values of other evaluators of real runs, and the conventions that explain them.

trec_eval's options through pytrec_eval, ir_measures, ranx and scikit-learn; formulas of
sentence-transformers, LlamaIndex and MS MARCO as loops.
"""

import math
from random import Random

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from _files import read_lines

from pyterrier_asl import explain

pytestmark = pytest.mark.filterwarnings("ignore")

COLLECTIONS = {
    "dl20-passage": ("qrels.txt", "input.p_d2q_rm3_duo.gz"),
    "trec8-adhoc": ("qrels.txt.gz", "input.acsys8alo.gz"),
}


class Collection:
    """Qrels, and a run as it stands in its file: (score, rank, docno) by query."""

    def __init__(self, folder, qrels, run):
        self.path = folder / "runs" / run, folder / qrels
        self.qrels, self.run = {}, {}
        for qid, _, docno, grade in read_lines(self.path[1]):
            self.qrels.setdefault(qid, {})[docno] = int(grade)
        for qid, _, docno, rank, score, *_ in read_lines(self.path[0]):
            if qid in self.qrels:
                self.run.setdefault(qid, []).append((float(score), float(rank), docno))
        self.scores = {qid: {doc: s for s, _, doc in docs} for qid, docs in self.run.items()}

    def by_score(self, qid):
        """The grades, by score; equal scores in the order of the file; unjudged 0."""
        docs = sorted(self.run[qid], key=lambda doc: -doc[0])
        return [self.qrels[qid].get(docno, 0) for *_, docno in docs]

    def of_queries(self, value):
        return {qid: value(qid) for qid in self.run}


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def trec_eval(measure, **options):
    def values(of):
        evaluator = pytrec_eval.RelevanceEvaluator(of.qrels, {measure}, **options)
        by_query = evaluator.evaluate(of.scores)
        return {qid: next(iter(own.values())) for qid, own in by_query.items()}

    return values


def by_ir_measures(measure):
    def values(of):
        metrics = ir_measures.iter_calc([ir_measures.parse_measure(measure)], of.qrels, of.scores)
        return {metric.query_id: metric.value for metric in metrics}

    return values


def by_ranx(measure):
    def values(of):
        ranx = pytest.importorskip("ranx")
        scores = ranx.evaluate(
            ranx.Qrels(of.qrels), ranx.Run(of.scores), measure, return_mean=False
        )
        return dict(zip(sorted(of.qrels), scores, strict=True))

    return values


def by_scikit_learn(of):
    metrics = pytest.importorskip("sklearn.metrics")

    def value(qid):
        docs = {docno: score for score, _, docno in of.run[qid]}
        grades = [max(of.qrels[qid].get(docno, 0), 0) for docno in docs]
        return metrics.ndcg_score([grades], [[*docs.values()]], k=10)

    return of.of_queries(value)


def sentence_transformers_map(of):
    def value(qid):
        relevant, found, total = sum(g > 0 for g in of.qrels[qid].values()), 0, 0.0
        for rank, grade in enumerate(of.by_score(qid)[:100], 1):
            if grade > 0:
                found += 1
                total += found / rank
        return total / min(100, relevant)

    return of.of_queries(value)


def llama_index_ndcg(of):
    """A binary gain; the ideal has all relevant documents."""

    def value(qid):
        relevant = sum(grade > 0 for grade in of.qrels[qid].values())
        return dcg([grade > 0 for grade in of.by_score(qid)[:10]]) / dcg([1] * relevant)

    return of.of_queries(value)


def ms_marco_mrr(of):
    def value(qid):
        docs = sorted(of.run[qid], key=lambda doc: doc[1])[:10]
        relevant = [of.qrels[qid].get(docno, 0) >= 2 for *_, docno in docs]
        return 1 / (relevant.index(True) + 1) if True in relevant else 0.0

    return of.of_queries(value)


def jarvelin_kekalainen(of):
    """Outside: gains summed up to rank k by 1 / rank."""

    def value(qid):
        ideal = sorted(of.qrels[qid].values(), reverse=True)
        got, best = (
            sum(max(gain, 0) / rank for rank, gain in enumerate(gains[:10], 1))
            for gains in (of.by_score(qid), ideal)
        )
        return got / best if best else 0.0

    return of.of_queries(value)


EXPONENTIAL = {"gain": "2^grade - 1"}
IDEAL_OF_RUN = {"ideal": "retrieved", "equal scores": "mean gain"}
SHORTER = {"divided by": "min(relevant, k)", "equal scores": "file"}
BINARY = {"gain": "1 from 1", "ideal": "judged, not cut", "equal scores": "file"}
#: Evaluator -> measure, values, and the convention; None: outside of the table.
EVALUATORS = {
    "trec_eval": ("nDCG@10", trec_eval("ndcg_cut_10"), {}),
    "trec_eval -l 2": ("AP", trec_eval("map", relevance_level=2), {"relevant from": 2}),
    "trec_eval -J": ("AP", trec_eval("map", judged_docs_only_flag=True), {"unjudged": "left out"}),
    "trec_eval success": ("R@10", trec_eval("success_10"), {"divided by": "1"}),
    "ir_measures nDCG": ("nDCG@10", by_ir_measures("nDCG(dcg='exp-log2')@10"), EXPONENTIAL),
    "ir_measures RR": ("RR@10", by_ir_measures("RR(rel=2)@10"), {"relevant from": 2}),
    "ranx ndcg": ("nDCG@10", by_ranx("ndcg@10"), {}),
    "ranx ndcg_burges": ("nDCG@10", by_ranx("ndcg_burges@10"), EXPONENTIAL),
    "ranx map": ("AP@100", by_ranx("map@100"), {}),
    "scikit-learn": ("nDCG@10", by_scikit_learn, IDEAL_OF_RUN),
    "sentence-transformers": ("AP@100", sentence_transformers_map, SHORTER),
    "LlamaIndex": ("nDCG@10", llama_index_ndcg, BINARY),
    "MS MARCO": ("RR@10", ms_marco_mrr, {"relevant from": 2, "order": "rank"}),
    "1 / rank": ("nDCG@10", jarvelin_kekalainen, None),
}


@pytest.fixture(scope="module", params=COLLECTIONS)
def collection(request, data):
    return Collection(data / request.param, *COLLECTIONS[request.param])


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_the_convention_of_an_evaluator_is_named(collection, evaluator):
    """An option that changes no value of this run, such as the order of ties, is not named.

    A minimum grade that no document has is no option.
    """
    measure, values, convention = EVALUATORS[evaluator]
    theirs = {qid: f"{value:.5f}" for qid, value in values(collection).items()}
    found = explain(*collection.path, measure, theirs)
    highest = max(max(grades.values()) for grades in collection.qrels.values())
    if convention is None or convention.get("relevant from", 1) > highest:
        assert not found.explained
        return
    needed = [of.items() <= convention.items() for of in found.conventions]
    assert found.explained and any(needed), (found.sentences(), found.conventions)


def test_means_that_were_made_up_are_seldom_claimed(collection):
    """At most .013 of AP in the measurements of the definition."""
    random, ours = Random(3), explain(*collection.path, "AP", "0.5").table["mean"][0]
    made_up = [f"{ours + random.uniform(-0.1, 0.1):.4f}" for _ in range(10)]
    claimed = [explain(*collection.path, "AP", value).explained for value in made_up]
    assert np.mean(claimed) <= 0.1
