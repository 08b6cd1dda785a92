"""Relevant documents through the stages of a pipeline, against sets of documents."""

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pyterrier_asl import RobertsonPRF, TermIndex, Trace, evaluate, trace
from pyterrier_asl.experiment import demo_collection

TOPICS = pd.DataFrame({"qid": ["q2", "q1"], "query": ["x", "y"]})
QRELS = {"q1": {"a": 1, "b": 2, "c": 1, "n": 0}, "q2": {"a": 1, "d": 2}}


def returning(**ranked: str):
    """A stage that retrieves these documents, best first, and counts its calls."""

    def stage(frame):
        stage.calls += 1
        rows = [(q, d, -i, i, "x") for q, docs in ranked.items() for i, d in enumerate(docs)]
        return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank", "query"])

    stage.calls = 0
    return pt.apply.generic(stage), stage


def test_feedback_gains_and_cuts_lose():
    dataset = demo_collection.generated(documents=600, topics=8)
    index = TermIndex.from_documents(dataset.documents, verbose=False)
    topics, qrels = dataset.topics, dataset.qrels
    relevant = set(zip(qrels["qid"], qrels["docno"]))
    bm25, asked = index.bm25(), ["ASL@1000", "nDCG@10"]
    whole = bm25 >> RobertsonPRF(index) >> bm25
    found, more = (relevant & {*zip(r["qid"], r["docno"])} for r in (bm25(topics), whole(topics)))
    feedback = trace(whole, topics, qrels)
    assert feedback.total == len(relevant) and len(more - found) > 9
    changes = [[len(found), 0], [len(more - found), len(found - more)]]
    assert feedback.table[["gained", "lost"]].to_numpy().tolist() == changes
    assert list(feedback.table)[5:] == ["ASL@1000", "R@1000", "nDCG@10"]
    cuts = trace((bm25 % 50) >> index.bm25(b=0) % 30 >> index.bm25(b=1) % 9, topics, qrels)
    lost = cuts.table["lost"].tolist()
    assert lost[::2] == [0, 0, 0] and min(lost[1::2]) > 0
    by_stage = cuts.by_document["lost_at"].value_counts().to_dict()
    assert by_stage == dict(zip(["%50", "%30", "%9"], lost[1::2]))
    values = evaluate({"%50": (bm25 % 50)(topics)}, qrels, asked)[asked].mean()
    assert cuts.table.loc[1, asked].tolist() == pytest.approx(values.tolist())


def test_every_stage_is_applied_once_and_its_documents_are_counted():
    found = [
        {"q1": "axb", "q2": "nd"},
        {"q1": "bc", "q2": "dan"},  # a is lost in q1, and found in q2
        {"q1": "xab", "q2": "n"},  # c is lost in q1, a and d in q2
        {"q1": "abc"},  # c is found and lost again
    ]
    stages = [returning(**of) for of in found]
    (one, _), (two, _), (three, _), (four, _) = stages
    rewritten = pt.apply.generic(lambda frame: frame[["qid", "query"]].drop_duplicates())
    traced = trace((one >> (two >> rewritten)) >> three >> four % 1, TOPICS, QRELS, ["AP", "R@2"])
    assert [stage.calls for _, stage in stages] == [1, 1, 1, 1]
    kept = [{(q, d) for q, docs in of.items() for d in docs} for of in found]
    kept.append({("q1", "a")})
    relevant = {(q, d) for q, docs in QRELS.items() for d, grade in docs.items() if grade > 0}
    kept = [documents & relevant for documents in kept]
    before = [set(), *kept]
    table = traced.table
    assert table["documents"].tolist() == [2.5, 2.5, 2, 1.5, 0.5]
    for row, (old, new) in enumerate(zip(before, kept)):
        numbers = [len(new), len(new - old), len(old - new)]
        assert table.loc[row, ["relevant", "gained", "lost"]].tolist() == numbers
    by_document = traced.by_document.set_index(["qid", "docno"])
    assert set(by_document.index) == relevant
    assert by_document.loc[("q1", "a"), table["name"]].tolist()[2:] == [2, 1, 1]
    assert np.isnan(by_document.loc[("q1", "a"), table["name"].iloc[1]])
    assert by_document.loc[("q1", ["b", "c"]), "lost_at"].tolist() == ["%1", "%1"]
    assert ("q1", "c") in kept[1] - kept[2]  # the stage that lost c first is another one
    assert by_document.loc[("q2", "a"), "lost_at"] == table["name"].iloc[2]
    assert pd.isna(by_document.loc[("q1", "a"), "lost_at"])
    assert by_document.loc[("q1", "b"), "grade"] == 2
    graded = trace(one >> two, TOPICS, QRELS, ["AP(rel=2)"])
    assert graded.total == 2 and trace(one, TOPICS, QRELS, "AP", rel=2).total == 2
    assert list(trace(one, TOPICS, QRELS, "AP", rel=2).table)[-1] == "AP(rel=2)"
    assert trace(one, TOPICS, QRELS, "nDCG@10", rel=2).total == 2  # which has no rel itself


def test_names_and_operators():
    one, two = (returning(q1="ab")[0] for _ in range(2))
    documents = [{"docno": docno, "text": "x"} for docno in "ab"]
    bm25 = TermIndex.from_documents(documents, verbose=False).bm25()
    names = trace(bm25 >> (one + two) >> bm25 % 3, TOPICS, QRELS, "AP").table["name"]
    assert names[0] == "BM25" and names[2:].tolist() == ["BM25 (3)", "%3"] and len(names) == 4
    rewrite = pt.apply.query(lambda row: "z")
    kept = trace(one >> rewrite >> two, TOPICS, QRELS, "AP")
    assert len(kept.table) == 3  # the rewritten query has its documents
    dropped = pt.apply.generic(lambda frame: frame[["qid"]].drop_duplicates())
    first, second = trace(one >> dropped >> two, TOPICS, QRELS, "AP").table["name"]
    assert " >> " not in first and second.count(" >> ") == 1


def test_the_topics_decide_which_judgements_count():
    ranked = {"q1": "axb", "q2": "nd"}
    stage, _ = returning(**ranked)
    first = TOPICS[1:]
    run = {"q1": {"a": 3, "x": 2, "b": 1}}
    values, near = (
        evaluate({"r": run}, qrels, ["AP", "R@5"]).iloc[:, 2:].mean().tolist()
        for qrels in ({"q1": QRELS["q1"]}, QRELS)
    )
    traced = trace(stage, first, QRELS, ["AP", "R@5"])
    assert traced.table.iloc[0, 5:].tolist() == values != near
    assert (traced.total, traced.notes) == (3, [])
    with pytest.raises(ValueError, match=r"none of the 1 topics is judged: .*\['7'\].*\['q1'\]"):
        trace(stage, first.assign(qid=["7"]), QRELS)


def test_a_set_has_counts_and_the_measures_that_need_no_order():
    one, two = (returning(**ranked)[0] for ranked in ({"q1": "axb", "q2": "d"}, {"q1": "bc"}))
    asked = ["SetR", "SetP", "NumRet", "AP", "P@2", "R@9", "ASL@9"]
    for operator, documents, total in (("or", "axbc", 5), ("and", "b", 1)):
        candidates = one | two if operator == "or" else one & two
        traced = trace(candidates >> one, TOPICS, QRELS, asked)
        row = traced.table.iloc[0]
        found = [sum(d in QRELS["q1"] for d in documents), int(operator == "or")]
        assert row["documents"] == total / 2 and row["relevant"] == sum(found)
        assert row["SetR"] == row["R@9"] == pytest.approx((found[0] / 3 + found[1] / 2) / 2)
        assert row["NumRet"] == total
        assert row["SetP"] == pytest.approx((found[0] / len(documents) + found[1]) / 2)
        assert row[["AP", "P@2", "ASL@9"]].isna().tolist() == [operator == "or"] * 3
        assert traced.table.iloc[1][asked].notna().all() and not traced.notes[1:]
        ranks = traced.by_document.set_index(["qid", "docno"])[row["name"]]
        assert ranks["q1", "b"] == 0 and np.isnan(ranks["q2", "a"])


def test_sentences_count_what_is_found_and_lost():
    def sentences(*found):
        pipeline = returning(**found[0])[0]
        for of in found[1:]:
            pipeline = pipeline >> returning(**of)[0]
        pipeline = pipeline if len(found) > 1 else pipeline % 9
        traced = trace(pipeline, TOPICS, QRELS, "AP")
        text = " ".join(traced.sentences())
        for name in sorted(traced.table["name"], key=len, reverse=True):
            text = text.replace(name, "S")
        return text

    both = {"q1": "abc", "q2": "ad"}
    assert sentences(both) == "S retrieves 5 of 5 relevant documents. S gains and loses none."
    lost = sentences(both, {"q1": "a", "q2": "d"}, {"q1": "ab"})
    assert lost == (
        "S retrieves 5 of 5 relevant documents. S loses 3 of them, most on query q1. S gains 1 and "
        "loses 1, all on query q2. The pipeline ends with 2 of 5 relevant documents."
    )
    two = sentences({"q1": "ab", "q2": "ad"}, {"q1": "n"})
    assert "loses 4 of them, all on queries q1 and q2." in two
    assert sentences({"q1": "n"}, {"q1": "a"}).endswith(" S gains 1 and loses none.")


def test_what_cannot_be_traced_is_an_error_with_the_name_of_the_stage():
    one, _ = returning(q1="ab", q2="a")
    index = TermIndex.from_documents([{"docno": "a", "text": "x"}], verbose=False)
    without_query = pt.apply.generic(lambda frame: frame[["qid", "docno", "score"]])
    with pytest.raises(pt.validate.InputValidationError, match="stage BM25: "):
        trace(one >> without_query >> index.bm25(), TOPICS, QRELS)
    rewrite = pt.apply.generic(lambda frame: frame[["qid", "query"]].drop_duplicates())
    for pipeline in (rewrite, one >> rewrite):
        with pytest.raises(ValueError, match="retrieves no documents"):
            trace(pipeline, TOPICS, QRELS)
    with pytest.raises(ValueError, match="2 queries have the id 'q1'"):
        trace(one, pd.concat([TOPICS, TOPICS[1:]]), QRELS)
    twice, _ = returning(q1="aa")
    with pytest.raises(ValueError, match=r"stage .*: document 'a' occurs 2 times"):
        trace(twice, TOPICS, QRELS)
    with pytest.raises(ValueError, match="qrels are empty"):
        trace(one, TOPICS, {})


def test_a_stage_that_keeps_nothing_has_a_row():
    one, _ = returning(q1="ab", q2="a")
    nothing = pt.apply.generic(lambda frame: frame[:0])
    traced = trace(one >> nothing, TOPICS, QRELS, ["AP", "ASL@10"])
    assert traced.table.iloc[1, 1:].tolist() == [0, 0, 0, 3, 0, 11]
    assert "does not answer 2 of 2 queries" in " ".join(traced.notes)
    assert isinstance(traced, Trace) and "does not answer" in str(traced)
    (rows,) = traced.chart().to_dict()["datasets"].values()
    last = [(r["documents"], r["number"]) for r in rows if r["name"] == traced.table["name"][1]]
    assert set(last) == {("kept", 0), ("gained", 0), ("lost", 3)}
