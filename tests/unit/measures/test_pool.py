"""Pools: the systems with a document in the top k; saving, loading and finding by name.
Tests of rareness.py."""

from itertools import islice

import ir_measures
import numpy as np
import pandas as pd
import pytest
import small
from _files import write_run

from pyterrier_asl import AP_Rareness, P_Rareness, Qrels, RarenessPool, evaluate
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge, judge_part
from pyterrier_asl.measures import pool as pool_module

pytestmark = pytest.mark.filterwarnings("ignore:.*(fewer than 8|counts as a group)")

RUNS = {
    "first": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"d": 1}},
    "second": {"q1": {"a": 3, "d": 2, "e": 1}, "q2": {"d": 2, "e": 1}},
    "third": {"q1": {"f": 9}},
}


def counts(pool, depth=None):
    """S_d by query and document, as text."""
    table = pool._table.to_pandas().assign(finders=pool.counts(depth)[pool._pair])
    return {(row.qid, row.docno): row.finders for row in table.itertuples()}


def brute_counts(runs, depth=None, groups=None):
    found = {}
    for name, run in runs.items():
        for qid, docs in run.items():
            for doc in sorted(docs, key=lambda d: (docs[d], d), reverse=True)[:depth]:
                found.setdefault((qid, doc), set()).add((groups or {}).get(name, name))
    return {pair: len(names) for pair, names in found.items()}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("groups", [None, {"first": "team", "second": "team"}])
def test_a_pool_counts_who_has_a_document_in_the_top(depth, groups):
    pool = RarenessPool.from_runs(RUNS, groups=groups)
    expected = brute_counts(RUNS, depth, groups)
    assert {pair: n for pair, n in counts(pool, depth).items() if n} == expected
    assert pool.systems == len(set((groups or {}).get(name, name) for name in RUNS))


def test_what_changes_a_pool_changes_its_id():
    changes = [{}, {"depth": 2}, {"groups": {"first": "second"}}, {"name": "other"}]
    ids = [RarenessPool.from_runs(RUNS, **change).id for change in changes]
    ids.append(RarenessPool.from_runs({**RUNS, "third": {"q1": {"f": 9, "g": 8}}}).id)
    assert len(set(ids)) == 5


def test_a_pool_is_saved_and_loaded(tmp_path):
    pool = RarenessPool.from_runs(RUNS, depth=2, groups={"first": "team"}, name="kept")
    pool.save(tmp_path / "pool.parquet")
    loaded = RarenessPool.load(tmp_path / "pool.parquet")
    assert loaded == pool and loaded.id == pool.id
    assert (loaded.runs, loaded.groups, loaded.depth) == (pool.runs, pool.groups, 2)
    assert RarenessPool.load(tmp_path / "pool.parquet", name="renamed").name == "renamed"
    assert repr(loaded) == f"RarenessPool('{loaded.id}', runs=3, depth=2)"


def test_a_measure_takes_a_pool_a_file_or_a_name(tmp_path):
    pool = RarenessPool.from_runs(RUNS, name="by name")
    pool.save(tmp_path / "pool.parquet")
    measure, path = AP_Rareness(pool=pool) @ 2, tmp_path / "pool.parquet"
    for value in (str(path), path, "by name", pool.id):
        assert AP_Rareness(pool=value) @ 2 == measure
    assert str(measure) == f"AP_Rareness(pool='{pool.id}')@2"
    assert ir_measures.parse_measure(str(measure)) == measure


def test_a_pool_of_systems_runs_each_once():
    import pyterrier as pt

    calls = []

    def system(name):
        def retrieve(topics):
            calls.append(name)
            return small.frame(RUNS[name]).assign(query="")

        return pt.apply.generic(retrieve)

    topics = pd.DataFrame({"qid": ["q1", "q2"], "query": ["x", "y"]})
    pool = RarenessPool.from_systems({name: system(name) for name in RUNS}, topics)
    assert calls == list(RUNS)
    assert pool == RarenessPool.from_runs(RUNS)
    assert pool == RarenessPool.from_systems({n: small.frame(r) for n, r in RUNS.items()}, topics)
    how = {"depth": 2, "groups": {"first": "g", "third": "g"}, "name": "two"}
    found = RarenessPool.from_systems([*map(system, RUNS)], topics, names=[*RUNS], **how)
    expected = RarenessPool.from_runs(RUNS, **how)
    assert found == expected and found.id == expected.id and found.depth == 2


def test_few_runs_warn(recwarn):
    eight = {f"run{i}": RUNS["first"] for i in range(8)}
    RarenessPool.from_runs(eight)
    assert not recwarn.list
    with pytest.warns(UserWarning, match="has 7 runs: fewer than 8"):
        RarenessPool.from_runs(dict(islice(eight.items(), 7)))
    with pytest.warns(UserWarning, match="has 1 group: fewer than 8"):
        RarenessPool.from_runs(RUNS, groups=dict.fromkeys(RUNS, "team"))


def test_groups_of_some_runs_warn(recwarn, tmp_path):
    eight = {f"run{i}": RUNS["first"] for i in range(8)}
    pool = RarenessPool.from_runs(eight, groups={name: name for name in eight})
    pool.save(tmp_path / "pool")
    RarenessPool.load(tmp_path / "pool")
    assert not recwarn.list
    with pytest.warns(UserWarning, match="groups has 2 runs of 8: each other run of the pool"):
        RarenessPool.from_runs(eight, groups={"run0": "team", "run1": "team"})


def test_a_depth_beyond_the_pools_is_an_error():
    pool = RarenessPool.from_runs(RUNS, depth=2)
    with pytest.raises(ValueError, match="has depth 2.*depth 3"):
        (P_Rareness(pool=pool) @ 3).calc_aggregate({"q1": {"a": 1}}, RUNS["first"])
    assert (P_Rareness(pool=pool, depth=2) @ 3).calc_aggregate({"q1": {"a": 1}}, RUNS["first"])
    assert AP_Rareness(pool=pool).calc_aggregate({"q1": {"a": 1}}, RUNS["first"])


def test_a_query_that_the_pool_does_not_know_is_an_error():
    pool = RarenessPool.from_runs({"only": {"q1": {"a": 1}}}, name="small")
    measure = P_Rareness(pool=pool) @ 2
    with pytest.raises(ValueError, match="small.*query 'q9'"):
        measure.calc_aggregate({"q9": {"a": 1}}, {"q9": {"a": 1}})
    with pytest.raises(ValueError, match="query 'q9'"):
        measure.calc_aggregate({"q1": {"a": 1}, "q9": {"a": 1}}, {"q1": {"a": 1}, "q9": {"a": 1}})
    # no relevant document retrieved, so the pool is not needed
    assert measure.calc_aggregate({"q9": {"a": 1, "b": 0}}, {"q9": {"b": 1}}) == 0


def test_finders_count_the_run_that_joins():
    pool = RarenessPool.from_runs(RUNS)
    judged = judge(Judgements({"q1": {"a": 1, "d": 1, "z": 1}}), {"q1": {"d": 3, "z": 2, "a": 1}})
    relevant = judged.relevant()
    found, systems = pool.finders(judged, relevant, depth=2)
    assert found.tolist() == [1 + 1, 0 + 1, 2 + 0]  # d, z join within the top 2; a is third
    assert systems.tolist() == [4, 4, 4]
    assert pool.finders(judged, relevant, depth=2, member=True)[1].tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("ranking", "depth", "is_member"),
    # The first two documents of a run in any order, then a deeper one that does not count.
    [("ab", 2, True), ("ba", 2, True), ("ad", 2, True), ("bac", 2, True), ("abc", None, True)]
    # Fewer, of different runs, of no run, and of another query.
    + [("ab", None, False), ("bd", 2, False), ("az", 2, False), ("zy", 2, False), ("d", 1, False)],
)
def test_a_member_answers_with_the_same_set_of_documents(ranking, depth, is_member):
    """S increases by one for a run that joins."""
    pool = RarenessPool.from_runs({name: RUNS[name] for name in ("first", "second")})
    judged = judge_part(
        Judgements({"q1": dict.fromkeys("abcdyz", 1)}),
        {"q1": {doc: -place for place, doc in enumerate(ranking)}},
    )
    relevant = judged.relevant()
    _, systems = pool.finders(judged, relevant, depth=depth)
    assert set(systems.tolist()) == {2 if is_member else 3}


def test_a_duplicate_counts_once_in_a_pool():
    rows = pd.DataFrame({"qid": "q", "docno": ["a", "b", "a"], "score": [3, 2, 1]})
    with pytest.warns(UserWarning, match="more than once"):
        pool = RarenessPool.from_runs({"run": rows})
    assert counts(pool) == {("q", "a"): 1, ("q", "b"): 1}


def test_seven_runs_say_little_about_rareness_and_eight_do_not():
    with pytest.warns(UserWarning, match="7 systems say little about rareness") as said:
        for names in ("abcdefgh", "abcdefg"):
            evaluate(dict.fromkeys(names, {"q": {"a": 1.0}}), {"q": {"a": 1}}, "P_Rareness@2")
    assert len(said) == 1


@pytest.mark.filterwarnings("ignore:1 system says little about rareness")
def test_nothing_is_rare_in_a_pool_of_one_run():
    """S = 1, and S_d = 1 for each document that the run retrieves: R = 0, a gain of 1."""
    qrels = {"q1": {"a": 1, "b": 0, "c": 1, "x": 1}, "q2": {"d": 1}}
    one = {"only": RUNS["first"]}
    values = evaluate(one, qrels, "P_Rareness@2 P@2 AP_Rareness@3 AP@3")
    assert values["P_Rareness@2"].tolist() == values["P@2"].tolist() == [0.5, 0.5]
    assert values["AP_Rareness@3"].tolist() == values["AP@3"].tolist() == [(1 + 2 / 3) / 3, 1]


def test_a_pool_has_the_same_runs_from_frames_files_and_several_of_them(tmp_path, monkeypatch):
    """Also as an option of ``evaluate`` and of a measure. Names are text, as in all functions."""
    files = {name: write_run(run, tmp_path / f"{name}.run") for name, run in RUNS.items()}
    expected, qrels = RarenessPool.from_runs(RUNS), {"q1": {"a": 1, "d": 1, "f": 1}}
    values = evaluate(RUNS, qrels, "AP_Rareness@3", pool=expected)
    for runs in (RUNS, files, list(files.values()), tuple(files.values()), tmp_path):
        assert RarenessPool.from_runs(runs) == expected
        assert evaluate(RUNS, qrels, "AP_Rareness@3", pool=runs).equals(values)
        assert AP_Rareness(pool=runs) @ 3 == AP_Rareness(pool=expected) @ 3
    text = f"AP_Rareness(pool={str(tmp_path)!r})@3"
    assert ir_measures.parse_measure(text) == AP_Rareness(pool=expected) @ 3
    monkeypatch.chdir(tmp_path.parent)  # a folder whose name other pools have
    others = [RarenessPool.from_runs(RUNS, depth=d, name=tmp_path.name) for d in (1, 2)]
    assert RarenessPool.resolve(tmp_path.name) == expected != others[1]
    assert RarenessPool.from_runs({1: {"q": {"d": 1}}}).runs == ["1"]


def test_sums_of_marks_tell_sets_of_documents_apart():
    """Also those of similar hashes: a pool recognises its members by such sums."""
    marks = pool_module._mix(np.arange(700, dtype=np.uint64))
    first, second = np.triu_indices(len(marks))
    assert len(np.unique(marks[first] + marks[second])) == len(first)


@pytest.mark.parametrize("depth", [None, 7])
def test_a_pool_is_matched_as_the_runs_are(depth, tmp_path):
    """Passages beside judged documents, and queries among the documents: as with runs and a pool
    that were cut by hand."""
    docs = {name: {q: [q, *of] for q, of in run.items()} for name, run in RUNS.items()}
    passages = {
        name: {
            q: {f"{d}#{n}": 9.0 - 2 * r - n for r, d in enumerate(of) for n in (1, 0, 2)}
            for q, of in run.items()
        }
        for name, run in docs.items()
    }
    qrels = {"q1": {"a": 1, "c": 1, "d": 1, "f": 1}, "q2": {"e": 1}}
    for name in ("first", "second"):
        write_run(passages[name], tmp_path / name)
    cut = {name: RUNS[name] for name in ("first", "second")}
    asked = ["P_Rareness@2", "AP_Rareness@2"]
    expected = evaluate(RUNS, qrels, asked, pool=RarenessPool.from_runs(cut, name="cut"))
    pool = RarenessPool.from_runs(tmp_path, depth=depth, name="passages")
    pool.save(tmp_path / "saved.parquet")
    how = Qrels(qrels, collapse="#", drop_self=True)
    for given in (pool, tmp_path / "saved.parquet"):
        found = evaluate(passages, how, asked, pool=given)
        pd.testing.assert_frame_equal(found, expected)
    assert not evaluate(passages, Qrels(qrels, collapse="#"), asked, pool=pool).equals(expected)
    automatic = [evaluate(runs, of, asked) for runs, of in ((passages, how), (RUNS, qrels))]
    pd.testing.assert_frame_equal(*automatic)
    if depth:
        with pytest.raises(ValueError, match="has depth 2, but depth 3 is needed"):
            evaluate(passages, how, "P_Rareness@3", pool=pool)
