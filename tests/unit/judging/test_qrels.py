"""Qrels with labels, which say how runs are matched, wherever qrels are taken."""

import re

import pandas as pd
import pytest
import small

import pyterrier_asl as asl
from pyterrier_asl import Qrels, analysis
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.judging.judgements import judgements_of
from pyterrier_asl.judging.matching import judge, judge_whole

QRELS = {f"q{n}": {"a": 1, "b#x": n % 2, "c": 0} for n in range(12)}
OTHER = {f"q{n}": {"a": n % 2, "b#x": 1, "c": n % 3 == 0} for n in range(12)}
RUNS = {
    "one": {q: {"c": 9, "a": 8, "b#x": 6, "d": 1} for q in QRELS},
    "two": {q: {"d": 9, "b#x": n % 4, "a": 2} for n, q in enumerate(QRELS)},
}
#: The documents of RUNS by passages, the best of which has the document's score.
PASSAGES = {
    name: {q: {f"{d}#{p}": s - p for d, s in run[q].items() for p in (0, 7)} for q in run}
    for name, run in RUNS.items()
}


FRAMES = {name: small.frame(run).sort_values("score") for name, run in RUNS.items()}
#: The same with the best document of each query a second time, and with the query's own id.
TWICE, WITH_SELF = {}, {}
for name, run in FRAMES.items():
    best = run.drop_duplicates("qid", keep="last")
    TWICE[name] = pd.concat([run, best.assign(score=0.5)])
    WITH_SELF[name] = pd.concat([run, best.assign(docno=best["qid"], score=99)])

#: What runs and qrels are given to, and what is compared.
CALLS = {
    "evaluate": lambda runs, qrels: asl.evaluate(runs, qrels, "AP P@2 NumRet"),
    "bounds": lambda runs, qrels: asl.bounds(runs, qrels, "nDCG@2"),
    "compare": lambda runs, qrels: asl.compare(runs, qrels, "AP ASL@9").table,
    "ranks": lambda runs, qrels: asl.ranks(runs, qrels, "AP").table,
    "holes": lambda runs, qrels: asl.holes(runs, qrels, "AP").table,
    "holes, of a difference": lambda runs, qrels: (
        asl.holes(runs, qrels, "AP_Rareness@3").difference.by_query
    ),
    "holes, to judge": lambda runs, qrels: asl.holes(runs, qrels, "nDCG@2").todo,
    "judges": lambda runs, qrels: asl.judges(qrels, {"m": OTHER}, runs, draws=9).agreement,
    "judges of ranks": lambda runs, qrels: asl.ranks(runs, qrels, "AP", judges={"m": OTHER}).table,
    "audit": lambda runs, qrels: asl.audit(runs, qrels, "AP", OTHER).table,
    "audit, of the machine": lambda runs, qrels: asl.audit(runs, OTHER, "AP", qrels).table,
    "plan_audit": lambda runs, qrels: asl.plan_audit(runs, None, "AP", qrels, 0.3).drawn,
    "search_lengths": lambda runs, qrels: asl.search_lengths(runs["two"], qrels),
    "preferences": lambda runs, qrels: asl.preferences(*runs.values(), qrels),
    "preference_matrix": lambda runs, qrels: asl.preference_matrix(runs, qrels).wins,
    "report": lambda runs, qrels: asl.report(runs, qrels, "AP").findings.first.values.tolist(),
    "an analysis": lambda runs, qrels: analysis.ties(runs, qrels),
    "tracks": lambda runs, qrels: asl.evaluate({"x": (runs, qrels)}, None, "AP"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_qrels_say_how_runs_are_matched(call):
    plain = call(RUNS, QRELS)
    for runs, settings in (
        (PASSAGES, {"collapse": "#"}),
        (TWICE, {"duplicates": "best"}),
        (WITH_SELF, {"drop_self": True}),
    ):
        found = call(runs, Qrels(QRELS, **settings))
        same = found.equals(plain) if hasattr(plain, "equals") else found == plain
        assert same, (settings, found, plain)
    with pytest.raises(ValueError, match=r"'c|'d.* occurs 2 times .* duplicates='best'"):
        call(TWICE, QRELS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_labels_are_merged(call):
    """The labels make d relevant in half of the queries."""
    labels = pd.DataFrame({"qid": list(QRELS), "docno": "d", "label": [0, 1] * 6})
    merged = {q: {**docs, "d": n % 2} for n, (q, docs) in enumerate(QRELS.items())}
    found, expected = call(RUNS, Qrels(QRELS, labels=labels)), call(RUNS, merged)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("name", "value", "default"),
    [("drop_self", True, False), ("duplicates", "best", "error"), ("collapse", "#", None)],
)
def test_a_setting_replaces_the_one_before(name, value, default):
    plain = judgements_of(QRELS)
    changed = plain.with_matching({name: value})
    for judgements, expected in (
        (changed.of_queries(["q3"]), value),
        (changed.with_matching({name: default}), default),
        (plain, default),
    ):
        assert getattr(judgements, name) == expected


def test_matched_runs_keep_their_settings(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("".join(f"{q} 0 {d} {g}\n" for q in QRELS for d, g in QRELS[q].items()))
    best = Evaluation.of(TWICE, Qrels(path, duplicates="best"))
    assert Evaluation.of(best, None) is Evaluation.of(best, best.source) is best
    for same in (path, Qrels(path), Qrels(path, duplicates="best")):
        assert Evaluation.of(best, same).values("AP").tolist() == best.values("AP").tolist()
    values = asl.evaluate(RUNS, OTHER, "AP")["AP"].tolist()
    assert asl.evaluate(best, OTHER, "AP")["AP"].tolist() == values
    assert asl.evaluate(best, None, "AP").equals(asl.evaluate(best, path, "AP"))
    labels = pd.DataFrame({"qid": ["q1"], "docno": ["d"], "label": [1]})
    with_labels = asl.evaluate(best, Qrels(path, labels=labels), "AP")
    assert not with_labels.equals(asl.evaluate(best, path, "AP"))
    for settings in ({"duplicates": "error"}, {"drop_self": True}, {"collapse": "#"}):
        name, value = next(iter(settings.items()))
        wrong = re.escape(f"{name}={value!r} of the qrels comes too late: these runs have been")
        for call in (CALLS["evaluate"], CALLS["compare"], CALLS["holes"], CALLS["an analysis"]):
            for source in (path, OTHER):
                with pytest.raises(ValueError, match=wrong):
                    call(best, Qrels(source, **settings))
        with pytest.raises(ValueError, match=wrong):
            asl.judges(path, {"m": Qrels(OTHER, **settings)}, best)


def test_a_matched_run_is_cut_once():
    first = Qrels(QRELS, collapse="#").judgements
    judged = judge_whole(first, PASSAGES["one"])
    again = judge_whole(first.with_matching({"duplicates": "best"}), judged.table)
    assert judged.ranks.tolist() == again.ranks.tolist()
    assert "b#x" in judged.table.docno.to_pylist()
    assert judgements_of(first) is first and first.with_matching({"collapse": "#"}) is first
    assert first.with_matching({"collapse": "_"}).collapse == "_" and first.collapse == "#"
    other = Qrels(QRELS, collapse="::").judgements
    assert judge(other, RUNS["one"]).ranks.tolist()[:3] == [1, 2, 3]


@pytest.mark.filterwarnings("ignore:the qrels judge")
def test_merged_judgements_keep_what_the_qrels_say():
    """Ids of queries, queries without judgements, and contradictions, an error of a guard."""
    rows = [(7, "a", 1), (7, "a", 0), (7, "b", 1), (8, "a", 1)]
    twice = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    labels = pd.DataFrame({"qid": [7], "docno": ["x"], "label": [1]})
    runs = {"old": {7: {"a": 2, "x": 1}, 8: {"a": 1}}, "new": {7: {"x": 1}, 8: {"a": 1}}}
    qrels = Qrels(twice, labels=labels)
    assert asl.evaluate(runs, qrels, "P@1")["qid"].tolist() == [7, 8, 7, 8]
    [verdict] = asl.compare(runs, qrels, ["AP"], conditions=["AP worse"]).verdicts
    assert "judge 1 document twice, differently" in verdict.message
    shown = "Qrels('x.txt', labels=..., duplicates='best')"
    assert repr(Qrels("x.txt", labels=[], duplicates="best")) == shown
    assert repr(qrels) == "Qrels(<DataFrame>, labels=...)"
