"""Facts of runs and qrels, and their sentences (facts.py)."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from _files import write_run
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pyterrier_asl as asl
from pyterrier_asl.judging.matching import judge

QRELS = {f"q{n}": {"a": 1, "c": 0, "d": 1} for n in range(5)}
MEASURES = ["AP", "RR", "ASL@10", "nDCG@3", "P@1"]


def run_of(scores: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return dict(zip(QRELS, scores))


def notes(run, measures=("RR",), qrels=QRELS, **options) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return asl.evaluate(run, qrels, [*measures], **options).attrs["notes"]


NUMBER = r"([\d.]+)"
TIED = rf"(\S+) of x is {NUMBER} in trec_eval's order of equal scores and between {NUMBER} and "
TIED += rf"{NUMBER} in any other(?: \({NUMBER} on average\))?(?:; (.*) (changes?), too)?"
scores = st.dictionaries(st.sampled_from("abcdxyz"), st.sampled_from([1.0, 2.0]), min_size=1)


@settings(max_examples=8)
@given(st.lists(scores, min_size=5, max_size=5))
def test_the_mean_that_other_orders_of_ties_change_most_is_noted(drawn):
    assume(any(docs.keys() & QRELS["q0"].keys() for docs in drawn))  # otherwise the run is refused
    run = {"x": run_of(drawn)}
    table = asl.ties(run, QRELS, MEASURES).set_index("measure")
    ends = np.maximum(table["high"] - table["value"], table["value"] - table["low"])
    changes = ends / table["value"].clip(lower=1)
    found = [re.fullmatch(TIED, note) for note in notes(run, MEASURES)]
    found = [match.groups() for match in found if match]
    assert bool(found) == (changes.max() >= 0.01)
    for name, *means, expected, others, verb in found:
        row = table.loc[name]
        assert changes[name] == pytest.approx(changes.max())
        shown = list(row[["value", "low", "high"]])
        assert list(map(float, means)) == pytest.approx(shown, abs=1e-3)
        assert float(expected) == pytest.approx(row["expected"], abs=1e-3)
        further = re.split(", | and ", others) if others else []
        assert 1 + len(further) == (changes >= 0.01).sum()
        assert verb == (None if not further else "changes" if len(further) == 1 else "change")


def test_a_file_is_noted_like_a_frame(tmp_path):
    run = run_of([{"a": 1, "b": 1, "c": 1}, {"d": 2, "x": 2}] + 3 * [{"a": 3, "b": 2}])
    for name in ("x.run", "y.run"):
        write_run(run, tmp_path / name)
    [expected] = notes({"x": run, "y": run}, ["AP"])
    assert expected.startswith("AP of x is 0.383 in trec_eval's order")
    assert "(likewise y)" in expected
    for workers in ({"jobs": 1}, {"jobs": 2, "backend": "threading"}):
        assert notes(tmp_path, ["AP"], progress=False, **workers) == [expected]


def test_notes_of_a_kind_on_several_runs_are_one_line():
    constant = {qid: {f"d{i}": 0.0 for i in range(12)} | {"a": 0.0} for qid in QRELS}
    own = {qid: {qid: 9.0, "a": 2.0} for qid in QRELS}
    runs = {"c": constant, "o": own, "c2": constant, "f": own, "c3": constant}
    first, second, depth, unjudged = notes(runs)
    said = "in 5 of 5 queries none of the first 10 documents of c is judged (likewise c2 and c3)"
    assert unjudged == said
    assert first.startswith("c has the same score for all documents of 5 of 5 queries (e.g. 'q0')")
    assert first.endswith(" (likewise c2 and c3)")
    assert second.startswith("o retrieves a document with the query's own id in 5 of 5 queries")
    assert second.endswith("--drop-self (likewise f)")
    assert depth.startswith("o has 2 documents per query, c 13: measures to a greater depth count")
    assert depth.endswith(" (likewise f)")


def test_no_tie_of_judged_documents_is_no_note():
    falling = run_of(5 * [{"a": 3, "x": 2, "y": 2, "d": 1}])
    lengths = asl.DocLengths.from_dict({name: 9 for name in "ab"})
    tied = run_of(5 * [{"a": 1, "b": 1}])
    for run, measure in ((falling, "AP"), (tied, asl.TBG(lengths=lengths))):
        assert notes({"x": run}, [measure]) == []


@pytest.mark.parametrize(("queries", "is_noted"), [(49, True), (51, False)])
def test_a_change_of_a_mean_by_a_hundredth_is_noted(queries, is_noted):
    """In one query another order of ties doubles RR of .5: the mean changes by 1 / (2 Q)."""
    qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(queries)}
    run = {qid: {"b": 2.0, "a": 1.0} for qid in qrels} | {"q0": {"a": 1.0, "b": 1.0}}
    assert bool(notes({"x": run}, ["RR"], qrels)) is is_noted


@pytest.mark.parametrize(("depth", "is_noted"), [(4, True), (3, False)])
def test_a_change_of_a_large_mean_is_noted_as_a_share_of_it(depth, is_noted):
    """ASL of one relevant document at rank 300, or ``depth`` ranks lower."""
    above = {f"x{n}": 1000.0 - n for n in range(299)}
    run = {"q": {**above, "a": 1.0, **{f"b{n}": 1.0 for n in range(depth)}}}
    found = notes({"x": run}, ["ASL"], {"q": {"a": 1, "z": 0}})
    assert bool(found) is is_noted


@pytest.mark.parametrize(
    ("unanswered", "more"),
    [(4, []), (5, []), (6, ["nor does 1 other run"]), (7, ["nor do 2 other runs"])],
)
def test_five_runs_without_answers_are_named(unanswered, more):
    qrels = {f"q{n}": {"d": 1, "x": 0} for n in range(9)}
    runs = {"whole": {q: {"d": 1.0} for q in qrels}}
    runs |= {f"r{n}": dict(list(runs["whole"].items())[n + 1 :]) for n in range(unanswered)}
    found = notes(runs, ["RR"], qrels)
    assert found[:5] == [
        f"r{n} does not answer {n + 1} of 9 queries (e.g. 'q0'); each counts with the worst value"
        for n in range(min(unanswered, 5))
    ]
    assert found[5:] == [f"{text} answer all queries" for text in more]


def test_unknown_queries_are_noted_only_together_with_unanswered_ones():
    run = {qid: {"a": 2.0, "c": 1.0} for qid in QRELS} | {"other": {"a": 1.0}, "more": {"a": 1.0}}
    assert notes({"x": run}) == []
    del run["q3"]
    assert notes({"x": run}) == [
        "x does not answer 1 of 5 queries (e.g. 'q3'); each counts with the worst value, and x has "
        "2 queries that the qrels lack (e.g. 'other')"
    ]


IDS = [f"d{n % 3}-{n:03}" for n in np.random.default_rng(3).permutation(400)]
FORM_QRELS = {
    f"t-{n:02}": {d: i % 2 for i, d in enumerate(IDS[20 * n : 20 * n + 18])} for n in range(20)
}
SOUND = {
    q: {d: 99.0 - i for i, d in enumerate([*list(docs)[::2], f"x{q}", f"y{q}"])}
    for q, docs in FORM_QRELS.items()
}


@pytest.mark.parametrize("share", [1, 4])
@pytest.mark.parametrize("side", ["run", "qrels"])
def test_ids_in_another_form_are_noted(share, side):
    """Of all or of a quarter of the queries and documents, in the run or in the qrels."""
    for form, what in itertools.product(("v2-{}", "{}.html"), ("query", "document")):
        written = {name: form.format(name) for name in [*FORM_QRELS, *IDS][::share]}
        run, qrels = (
            {
                written.get(q, q) if rows is of and what == "query" else q: {
                    written.get(d, d) if rows is of and what == "document" else d: value
                    for d, value in docs.items()
                }
                for q, docs in rows.items()
            }
            for rows in (SOUND, FORM_QRELS)
            for of in [SOUND if side == "run" else FORM_QRELS]
        )
        try:
            found = notes({"x": run}, ["AP"], qrels)
        except ValueError as error:  # no id is known
            found = [str(error)]
        assert any(re.search(rf"writes \d+ {what} ids in another form", note) for note in found)


def test_ids_in_the_form_of_the_qrels_are_not_noted():
    assert not any("another form" in note for note in notes({"x": SOUND}, ["AP"], FORM_QRELS))


def test_passages_have_the_remedy_that_makes_them_documents():
    run = {q: {f"{d}#{n % 3}": s for n, (d, s) in enumerate(of.items())} for q, of in SOUND.items()}
    run["t-00"] = SOUND["t-00"]
    [note] = [text for text in notes({"x": run}, ["AP"], FORM_QRELS) if "form" in text]
    assert note.endswith(": Qrels(..., collapse='#') or --collapse evaluates passages as documents")


def test_ids_that_equal_others_by_chance_are_not_in_another_form():
    """Numbers of documents that nobody judged: 7123 ends with 123, which is judged."""
    random = np.random.default_rng(2)
    qrels = {q: {f"{n}": 1 for n in random.integers(100, 1000, 30)} for q in FORM_QRELS}
    run = {
        q: {d: 99.0 for d in list(docs)[:5]}
        | {f"{n}": 1.0 for n in random.integers(1000, 9999, 40)}
        for q, docs in qrels.items()
    }
    assert not any("form" in note for note in notes({"x": run}, ["AP"], qrels))
    few = {"1": {"a": 1}, "2": {"a": 1}, "x": {"a": 1}}  # one id is no form
    assert "form" not in str(notes({"x": {"01": {"a": 1}, "x": {"a": 1}}}, qrels=few))


def test_documents_are_compared_with_those_of_the_baseline_too():
    """With a single judged document per query only another run shows the form."""
    qrels = {q: {f"{q}-0": 1} for q in FORM_QRELS}
    live = {q: {f"{q}-{n}": -float(n) for n in range(9)} for q in qrels}
    new = {
        q: {d if n % 2 else f"v2-{d}": s + n % 3 for n, (d, s) in enumerate(docs.items())}
        for q, docs in live.items()
    }
    qrels["t-00"]["t-00-1"] = 1
    found = asl.compare({"live": live, "new": new}, qrels, ["AP"], conditions="AP worse")
    [note] = [text for text in found.notes if "form" in text]
    assert re.match(r"new writes \d+ document ids in another form \('v2-t", note)
    assert found.verdicts[0].outcome.name == "ERROR" and note in found.verdicts[0].message


def test_the_depth_of_runs_is_noted_where_a_measure_sees_it():
    docs = {q: {f"d{n}": -n for n in range(50 if q > "q0" else 140)} | {"a": 9} for q in QRELS}
    short = {q: dict(list(of.items())[:20]) | {"a": 9.0} for q, of in docs.items()}
    for qid in ("q1", "q2", "q4"):  # which do not count, or the median would be 0
        del short[qid]
    runs = {"A": docs, "B": short}
    [_, depth] = notes(runs, ["AP"])
    assert depth == (
        "B has 21 documents per query, A 51: measures to a greater depth count the rest as not "
        "retrieved"
    )
    assert [len(notes(runs, [measure])) for measure in ("P@21", "P@22")] == [1, 2]
    shorter = {q: {"a": 9.0, "d1": 8.0} for q in QRELS}
    [*_, depth] = notes({"B": short, "A": docs, "C": shorter}, ["AP"])
    assert depth.startswith("C has 2 documents per query, A 51: measures to a greater depth count")
    assert depth.endswith("(likewise B)")


def test_unjudged_documents_are_noted_where_two_runs_differ_by_a_tenth():
    qrels = {"q": {f"d{n}": int(n < 2) for n in range(20)}}
    known = {"q": {f"d{n}": -float(n) for n in range(20)}}
    other = {"q": {f"{'dx'[n in (3, 4, 12, 13)]}{n}": -float(n) for n in range(20)}}
    asked = ["P@20", "P@5", "P@2", "AP"]
    assert notes({"A": known, "B": other}, asked, qrels) == [
        "of the first 5 documents 0 % of A and 40 % of B are unjudged and count as not relevant: "
        "see `holes`"
    ]
    shorter = {"q": dict(list(known["q"].items())[:4])}  # 1 of 4 is unjudged, not 2 of 5
    shorter["q"]["x"] = shorter["q"].pop("d3")
    said = notes({"A": known, "B": shorter}, ["P@5"], qrels)[-1]
    assert said.startswith("of the first 5 documents 0 % of A and 25 % of B are unjudged")
    [turned] = notes({"B": other, "A": known}, asked, qrels)
    assert turned.startswith("of the first 5 documents 40 % of B and 0 % of A are unjudged")
    assert notes({"A": known, "B": other}, ["P@2", "AP"], qrels) == []
    only = {"q": {"d0": 1, "d1": 2, "d7": -1}}
    assert notes({"A": known, "B": other}, asked, only) == [
        "the qrels list relevant documents only: unjudged documents cannot be told from documents "
        "judged not relevant"
    ]
    assert "the qrels list" not in str(notes({"A": known}, ["AP(rel=2)"], only))


def test_a_repeated_document_and_an_infinite_score_are_noted():
    frame = pd.DataFrame({"qid": "q0", "docno": ["a", "a", "b"], "score": [3.0, 2.0, 1.0]})
    found = notes({"x": frame}, qrels=asl.Qrels(QRELS, duplicates="best"))
    assert found[1] == "x has a document twice in a ranking: it counts once, at its best rank"
    infinite = run_of(5 * [{"a": np.inf, "c": 1.0}])
    assert notes({"x": infinite}) == ["x has 5 infinite scores: write scores that are numbers"]


def test_one_score_for_all_documents_is_noted_from_20_documents_on():
    """A measure by itself says it, too, once."""
    for documents, falls in ((9, False), (9, True), (8, False)):
        docs = {f"d{i}": -i * float(falls) for i in range(documents)} | {"a": 0.0}
        run = {qid: docs for qid in ("q0", "q1")}
        qrels = {qid: QRELS[qid] for qid in run}
        constant = not falls and documents > 8
        says = "has the same score for all documents of 2 of 2 queries"
        noted = any(says in note for note in notes({"x": run}, ["AP"], qrels))
        assert noted is constant
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            asl.ASL.calc_aggregate(qrels, run)
        assert [says in str(each.message) for each in caught] == [True] * constant


@pytest.mark.parametrize(
    ("near", "answered", "has_text", "is_noted"),
    [(0, 10, True, False), (1, 5, False, False), (2, 20, False, True), (2, 21, False, False)]
    + [(3, 30, False, True), (1, 100, True, True)],
)
def test_own_ids_are_a_coincidence_up_to_one_or_below_a_tenth_of_the_queries(
    near, answered, has_text, is_noted
):
    """Ids that are words are no coincidence."""
    qids = [f"q{n}" if has_text else str(n) for n in range(answered)]
    qrels = {q: {"a": 1, "b": 0} for q in [*qids, *"unanswered"]}
    run = {q: {"a": 9.0} | ({q: 8.0} if n < near else {"c": 8.0}) for n, q in enumerate(qids)}
    start = f"x retrieves a document with the query's own id in {near} of {answered} queries"
    assert any(note.startswith(start) for note in notes({"x": run}, qrels=qrels)) is is_noted


@pytest.mark.parametrize("grade", [1, 0, -1])
def test_a_document_that_is_relevant_or_dropped_is_no_note(grade):
    known_item = {qid: {qid: grade, "z": 0} for qid in QRELS}
    found = notes({"x": {qid: {qid: 2.0, "z": 1.0} for qid in QRELS}}, qrels=known_item)
    assert any("the query's own id" in note for note in found) is (grade < 1)
    run = {qid: {qid: 9.0, "a": 2.0} for qid in QRELS}
    assert len(notes({"x": run})) == 1
    assert notes({"x": run}, qrels=asl.Qrels(QRELS, drop_self=True)) == []


def test_dropping_them_is_evaluating_without_them():
    run = {"q0": {"q0": 9.0, "a": 2.0}, "q1": {"q1": 1.0}, "q2": {"q1": 3.0, "a": 2.0}}
    without = {"q0": {"a": 2.0}, "q2": {"q1": 3.0, "a": 2.0}}
    dropping = asl.Qrels(QRELS, drop_self=True)
    found, expected = (
        asl.evaluate({"x": each}, asl.Qrels(QRELS, drop_self=drop), [*MEASURES, "NumRet"])
        for each, drop in ((run, True), (without, False))
    )
    assert found.equals(expected)
    assert judge(dropping.judgements, run).retrieved.tolist() == [1, 0, 2, 0, 0]


def test_queries_without_a_relevant_document_are_noted():
    """By the measures with the highest minimum grade; without one by a grade above 0."""
    qrels = {"p": {"a": 2, "b": 0}, "q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 0}}
    run = {qid: {"a": 3.0, "b": 2.0} for qid in qrels}
    lack, same = "no document with a grade", ": all runs have the same value there by"
    for measures, said in (
        (["AP", "RR"], f"1 of 3 queries has {lack} of 1 or more (e.g. 'r'){same} AP and RR"),
        (
            ["RR(rel=2)", "AP"],
            f"2 of 3 queries have {lack} of 2 or more (e.g. 'q'){same} RR(rel=2)",
        ),
        (["nDCG@10"], f"1 of 3 queries has {lack} above 0 (e.g. 'r')"),
    ):
        assert notes({"x": run}, measures, qrels) == [said]
    assert said not in notes({"x": run}, ["AP(rel=0)"], qrels)


def test_relevant_documents_that_drop_self_leaves_out_are_noted():
    qrels = {"p": {"p": 1, "b": 0}, "q": {"q": 0, "b": 1}, "r": {"p": 1, "b": 0}}
    runs = {"x": {qid: {"p": 3.0, "b": 2.0} for qid in qrels}}
    said = (
        "drop_self (--drop-self) leaves out 1 relevant document with the id of the query (e.g. "
        "'p'): no run can retrieve them"
    )
    assert notes(runs, ["AP"], asl.Qrels(qrels, drop_self=True)) == [said]
    assert said not in notes(runs, ["AP"], qrels)


@pytest.mark.parametrize(("queries", "others", "is_noted"), [(20, 2, True), (20, 1, False),
    (41, 2, False), (41, 3, True)])  # fmt: skip
def test_queries_of_which_only_another_run_has_judged_documents(queries, others, is_noted):
    """Two at least, and a twentieth; a query that no run answers with a judged one is none."""
    qrels = {f"q{n}": {"a": n % 2, "b": 0} for n in range(queries)} | {"none": {"a": 1}}
    docs = {"a": 3.0, "b": 2.0, **{f"x{n}": 1.0 - n for n in range(9)}}
    old = {qid: docs for qid in qrels} | {"none": {"z": 1.0}}
    new = old | {f"q{n}": {f"y{d}": -d for d in range(11)} | {"a": -99.0} for n in range(others)}
    found = [text for text in notes({"old": old, "1": new}, ["AP"], qrels) if "none of" in text]
    said = f"in {others} of {queries + 1} queries none of the first 10 documents of '1' is judged"
    assert found == [said] * is_noted
    less = [t for t in notes({"old": old, "1": new}, ["P@1", "AP"], qrels) if "none of" in t]
    assert less == [said.replace("first 10 documents", "first document")] * is_noted


def test_the_run_with_the_most_such_queries_is_named_first():
    qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(20)}
    old = {qid: {"a": 1.0} for qid in qrels}
    new, worse = (old | {f"q{n}": {"y": 1.0} for n in range(lacking)} for lacking in (2, 3))
    found = notes({"new": new, "old": old, "worse": worse}, ["RR"], qrels)
    said = "in 3 of 20 queries none of the first 10 documents of worse is judged (likewise new)"
    assert said in found


def test_a_baseline_of_few_documents_cannot_be_compared():
    """Below half of the run's, and of the cut-off of the measure."""
    qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(12)}
    b = {qid: {"b": 2.0, "a": 1.5, **{f"x{n}": 1.0 - n for n in range(6)}} for qid in qrels}
    for size, condition, is_error in (
        (1, "AP worse", True), (3, "AP worse", True), (4, "AP worse", False),
        (1, "P@1 worse", False), (1, "P@2 worse", True), (1, "AP below .1", False),
    ):  # fmt: skip
        a = {qid: dict([*docs.items()][:size]) for qid, docs in b.items()}
        verdict = asl.compare({"A": a, "B": b}, qrels, conditions=condition).verdicts[0]
        assert (verdict.outcome.name == "ERROR") is is_error, (size, condition)
        documents = "document" if size == 1 else "documents"
        said = f"A has {size} {documents} per query, B 8: measures to a greater depth"
        assert (said in verdict.message) is is_error
        allowed = asl.compare({"A": a, "B": b}, qrels, conditions=condition, allow_missing=True)
        assert allowed.verdicts[0].outcome.name != "ERROR"
        turned = asl.compare({"B": b, "A": a}, qrels, conditions=condition).verdicts[0]
        assert turned.outcome.name != "ERROR"


def test_nine_tenths_are_as_deep_and_several_shares_are_the_ends():
    qrels = {"q": {f"d{n}": n % 2 for n in range(20)}}
    runs = {
        name: {"q": {f"{'x' if n < unjudged else 'd'}{n}": -float(n) for n in range(size)}}
        for name, size, unjudged in (("A", 20, 2), ("7", 18, 0), ("C", 20, 6))
    }
    said = (
        "of the first 10 documents 0 % of '7' (the least) and 60 % of C (the most) are unjudged "
        "and count as not relevant: see `holes`"
    )
    assert notes(runs, ["P@10", "AP"], qrels) == [said]
    runs["7"]["q"].popitem()
    [depth, _] = notes(runs, ["P@10", "AP"], qrels)
    assert depth.startswith("'7' has 17 documents per query, A 20: ")
