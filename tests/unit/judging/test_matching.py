"""Ranking and judging, against plain loops over dicts and, for many rows, pandas.
Tests of matching.py, judged_run.py, judgements.py, ranking.py, remembered.py."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel, ScoredDoc

from pyterrier_asl.io.runs import read_run_table
from pyterrier_asl.judging.judged_run import JudgedRun, TiedRun
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge, judge_whole, rank

# The rules as loops: rows are (query, document, score); qrels are rows (query, document, grade).


def ranked(rows, qid) -> list[int]:
    """Row numbers of a ranking: score descending as 32-bit floats, id descending, no repeats."""
    mine = [i for i, row in enumerate(rows) if row[0] == qid]
    with np.errstate(over="ignore"):
        mine.sort(key=lambda i: (np.float32(rows[i][2]), rows[i][1].encode()), reverse=True)
    # Equal score and id: sort() with reverse keeps their order.
    order, seen = [], set()
    for i in mine:
        if rows[i][1] not in seen:
            seen.add(rows[i][1])
            order.append(i)
    return order


def entries_of(rows, qrels, qid, k=None, judged_only=False):
    """(rank, document, grade) of retrieved judged documents, and the number of all retrieved."""
    grades = {docno: grade for q, docno, grade in qrels if q == qid}
    docs = [rows[i][1] for i in ranked(rows, qid)]
    if judged_only:
        docs = [d for d in docs if grades.get(d, -1) >= 0]
    docs = docs[:k]
    return [(n, d, grades[d]) for n, d in enumerate(docs, 1) if d in grades], len(docs)


def first_seen(values):
    return list(dict.fromkeys(values))


def frame(rows, value="score"):
    names = ["query_id", "doc_id", value]
    made = pd.DataFrame(rows, columns=names)
    return made.astype({"query_id": object, "doc_id": object, value: float})


def check(judgements: Judgements, judged: JudgedRun, rows, qrels, k=None, judged_only=False):
    qids = first_seen(q for q, _, _ in qrels)
    assert judgements.qids == qids
    view = judged.view(k, judged_only)
    docnos = judgements.docnos.to_pylist()
    for number, qid in enumerate(qids):
        expected, retrieved = entries_of(rows, qrels, qid, k, judged_only)
        part = slice(view.offsets[number], view.offsets[number + 1])
        documents = [docnos[pair] for pair in view.pairs[part]]
        assert [*zip(view.ranks[part], documents, view.grades[part])] == expected, qid
        assert view.retrieved[number] == retrieved
        assert (view.queries[part] == number).all()
        for rel in (0, 1, 2):
            relevant = view.relevant(rel)
            here = slice(relevant.offsets[number], relevant.offsets[number + 1])
            assert relevant.ranks[here].tolist() == [r for r, _, g in expected if g >= rel]
            total = len({d: g for q, d, g in qrels if q == qid and g >= rel})
            assert relevant.total[number] == total
            assert (relevant.queries[here] == number).all()
        if not judged_only:
            ranking = view.ranking
            here = slice(ranking.offsets[number], ranking.offsets[number + 1])
            assert ranking.rows[here].tolist() == ranked(rows, qid)[:k]
            assert len(ranking) == ranking.offsets[-1] == len(judged.docnos(ranking))


def test_scores_are_distinguished_to_the_last_of_32_bits():
    """Scores differ by the smallest possible step; if they were equal, ids would decide."""
    some = np.float32([0, 1, 2**24, 1e38])
    scores = np.concatenate([np.nextafter(some, np.float32(end)) for end in (-np.inf, np.inf)])
    scores = np.unique(np.concatenate((some, scores, -some[1:], -scores)))
    assert len(scores) == 21
    rows = [("q", f"d{place:02}", float(score)) for place, score in enumerate(scores[::-1])]
    judged = judge(Judgements({"q": {"d00": 1}}), frame(rows[::-1]))
    assert judged.docnos(judged.ranking).to_pylist() == [docno for _, docno, _ in rows]


query = st.sampled_from(["1", "2", "q3", "é"])
docno = st.sampled_from(["a", "b", "ab", "aa", "B", "d1", "d10", "d2", "é", "z" * 9, "漢", ""])
score = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 2.0, -1.0, 1e39, 2e39, -1e300, float("inf")]),
    st.floats(allow_nan=False, width=32),
)


def once(rows):
    """Rows without repeated pairs of query and document."""
    return list({row[:2]: row for row in rows}.values())


runs = st.lists(st.tuples(query, docno, score), max_size=40)
all_qrels = st.lists(st.tuples(query, docno, st.integers(-2, 3)), max_size=25).map(once)


@given(runs, all_qrels, st.booleans(), st.sampled_from([None, 1, 2, 5]), st.booleans())
def test_any_run_is_judged_as_by_loops(rows, qrels, grouped, k, judged_only):
    if grouped:
        rows = sorted(rows, key=lambda row: row[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judgements = Judgements(frame(qrels, "relevance"))
        judged = judge(judgements, frame(rows))
    check(judgements, judged, rows, qrels, k, judged_only)


@pytest.mark.parametrize("grouped", [True, False])
def test_a_large_run_is_judged_as_by_pandas(grouped):
    rng = np.random.default_rng(5)
    columns = [rng.integers(most, size=150_000) for most in (300, 20_000, 1000)]
    run = pd.DataFrame(dict(zip(("query_id", "doc_id", "score"), columns)))
    run = run.astype({"query_id": str, "doc_id": str, "score": float})
    qrels = run.sample(30_000, random_state=5)[["query_id", "doc_id"]].drop_duplicates()
    qrels["relevance"] = rng.integers(3, size=len(qrels))
    ranked_run = run.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
    ranked_run = ranked_run.drop_duplicates(["query_id", "doc_id"])
    ranked_run["rank"] = ranked_run.groupby("query_id").cumcount() + 1
    expected = ranked_run.merge(qrels, on=["query_id", "doc_id"])
    judgements = Judgements(qrels)
    with pytest.warns(UserWarning, match="more than once"):
        judged = judge(judgements, run.sort_values("query_id", kind="stable") if grouped else run)
    found = {"query_id": np.array(judgements.qids)[judged.queries], "rank": judged.ranks}
    found |= {
        "doc_id": judgements.docnos.take(judged.pairs).to_pylist(),
        "relevance": judged.grades,
    }
    found = pd.DataFrame(found).sort_values(["query_id", "rank"], ignore_index=True)
    pd.testing.assert_frame_equal(found, expected[found.columns], check_dtype=False)
    assert judged.retrieved.sum() == len(ranked_run)


@given(rows=runs, depth=st.sampled_from([None, 1, 3]))
def test_any_run_is_ranked_as_by_loops(rows, depth):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranked_run = rank(frame(rows))
    qids, ranking = ranked_run.judgements.qid_text, ranked_run.ranking.cut(depth)
    assert qids.to_pylist() == first_seen(row[0] for row in rows)
    expected = [i for qid in qids.to_pylist() for i in ranked(rows, qid)[:depth]]
    assert ranking.rows.tolist() == expected


def test_the_rank_column_is_ignored():
    run = frame([("q", "a", 1), ("q", "b", 2)]).assign(rank=[0, 1])
    assert judge(Judgements({"q": {"a": 1}}), run).ranks.tolist() == [2]


def test_duplicates_count_once_at_their_best_rank_and_are_warned_of():
    rows = [("q", "a", 3), ("q", "x", 2), ("q", "a", 1), ("q", "b", 0), ("p", "a", 1)]
    judgements = Judgements({"q": {"a": 1, "b": 1}})
    with pytest.warns(UserWarning, match=r"^the ranking .* 1 document more than.*'a'") as caught:
        judged = judge(judgements, frame(rows))
    assert caught[0].filename == __file__
    assert (judged.ranks.tolist(), judged.retrieved.tolist()) == ([1, 3], [3])
    assert judged.has_duplicates is True


def test_strangers_are_warned_of_and_an_error_for_a_whole_answer():
    judgements = Judgements({"q": {"a": 1}})
    with pytest.warns(UserWarning, match=r"^none of the documents of the run .*'A'.*'a'"):
        judge(judgements, {"q": {"A": 1}})
    with pytest.raises(ValueError, match="answers none of the 1 judged queries.*'Q'.*'q'"):
        judge_whole(judgements, {"Q": {"a": 1}})
    assert judge_whole(judgements, {"q": {"a": 1}, "p": {"x": 1}}).ranks.tolist() == [1]


def test_the_last_of_two_judgements_counts():
    rows = [("q", "a", 0), ("q", "b", 1), ("p", "a", 2), ("q", "a", 1)]
    judgements = Judgements(frame(rows, "relevance"))
    assert judgements.contradiction.sentence.startswith("the qrels judge 1 document twice")
    assert judgements.contradiction.example == "'a', 0 and 1 for query 'q'"
    assert judgements.qids == ["q", "p"]
    graded = dict(zip(zip(judgements.queries, judgements.docnos.to_pylist()), judgements.grades))
    assert graded == {(0, "b"): 1, (0, "a"): 1, (1, "a"): 2}
    judged = judge(judgements, {"p": {"a": 1}, "q": {"a": 2, "b": 1}})
    assert judged.ranks.tolist() == [1, 2, 1]


def test_queries_of_a_dict_without_judgements_come_behind_the_others():
    judgements = Judgements({"p": {}, "q": {"a": 1}, "x": {}})
    assert judgements.qids == judgements.qid_text.to_pylist() == ["q", "p", "x"]
    assert judgements.num_relevant(1).tolist() == [1, 0, 0]
    judged = judge(judgements, {"p": {"a": 1}, "q": {"b": 3, "a": 2}, "z": {"a": 1}})
    assert judged.retrieved.tolist() == [2, 1, 0]
    assert (judged.queries.tolist(), judged.ranks.tolist()) == ([0], [2])


def test_counts_of_grades_and_the_judged_depth_of_all_queries():
    judgements = Judgements({"q": {"a": -1, "b": 0, "c": 1, "d": 2}, "p": {"a": 1.5}})
    assert len(judgements) == 2
    assert judgements.num_relevant(1).tolist() == [2, 1]
    assert judgements.num_relevant(0).tolist() == [3, 1]
    assert judgements.num_relevant(0, 1).tolist() == [1, 0]
    run = {"q": {"b": 4, "c": 3, "x": 2}, "p": {"a": 3, "x": 2}}
    assert judge(judgements, run).judged_depth == 1


def test_regraded():
    judgements = Judgements({"q": {"a": 1, "b": -1}})
    judged = judge(judgements, {"q": {"a": 2, "b": 1}})
    assert judged.relevant(1).ranks.tolist() == [1]
    other = judged.regraded({1: 0, -1: 2})
    assert other.relevant(1).ranks.tolist() == [2]
    assert judgements.regraded({-1: 2, 1: 0}).grades.tolist() == other.judgements.grades.tolist()
    assert judged.relevant(1).ranks.tolist() == [1]


ROWS = [("7", "a", 1.0), ("7", "b", 2.0), ("10", "a", 3.0)]
QRELS = [("10", "a", 1), ("7", "a", 1), ("7", "c", 1)]


def arrow(rows, value, kind):
    qids, docnos, values = map(pa.array, zip(*rows))
    return pa.table({"query_id": qids.cast(kind), "doc_id": docnos.cast(kind), value: values})


def as_types(**types):
    """A frame with columns of these types."""
    return lambda rows, value: frame(rows, value).astype(types)


def as_dict(rows, value):
    return {qid: {d: x for q, d, x in rows if q == qid} for qid in first_seen(r[0] for r in rows)}


ARROW = {"query_id": pd.ArrowDtype(pa.string()), "doc_id": pd.ArrowDtype(pa.large_string())}
PYTERRIER = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
KINDS = {
    "object": frame,
    "string": as_types(query_id="string", doc_id="string"),
    "Arrow string": as_types(**ARROW),
    "category": as_types(query_id="category", doc_id="category"),
    "int queries": as_types(query_id=int),
    "Arrow int queries": lambda *of: pa.Table.from_pandas(as_types(query_id=int)(*of)),
    "PyTerrier's names": lambda *of: frame(*of).rename(columns=PYTERRIER),
    "reindexed": lambda *of: frame(*of).set_index(np.array([9] * len(of[0]))),
    "Arrow table": lambda *of: arrow(*of, pa.string()),
    "Arrow dictionaries": lambda *of: arrow(*of, pa.dictionary(pa.int32(), pa.string())),
    "Arrow chunks": lambda rows, value: pa.concat_tables(
        [arrow(part, value, pa.string()) for part in (rows[:1], rows[1:])]
    ),
    "dict": as_dict,
    "dict of int queries": lambda *of: {int(q): docs for q, docs in as_dict(*of).items()},
    "named tuples": lambda rows, value: (
        (ScoredDoc if value == "score" else Qrel)(*row) for row in rows
    ),
}


@pytest.mark.parametrize("qrels_kind", KINDS)
def test_kinds_of_input_meet(qrels_kind):
    judgements = Judgements(KINDS[qrels_kind](QRELS, "relevance"))
    assert judgements.qids == ([10, 7] if "int" in qrels_kind else ["10", "7"])
    for run_kind, make in KINDS.items():
        judged = judge(judgements, make(ROWS, "score"))
        assert judged.ranks.tolist() == [1, 2], run_kind
        assert judged.retrieved.tolist() == [1, 2], run_kind


@pytest.mark.parametrize("qrels", [{}, {"q": {"a": 1}}], ids=["empty qrels", "some qrels"])
def test_empty_runs_and_qrels(qrels):
    judgements = Judgements(qrels)
    for run in ({}, frame([]), {"p": {"a": 1}}):
        judged = judge(judgements, run)
        assert judged.retrieved.tolist() == [0] * len(qrels)
        assert len(judged.relevant().ranks) == len(judged.ranking) == 0
        assert judged.view(3, True).offsets.tolist() == [0] * (len(qrels) + 1)


def test_the_first_document_that_is_judged_twice_is_the_example():
    rows = [("q", "b", 1), ("q", "a", 0), ("q", "c", 1), ("q", "b", 0), ("q", "a", 1)]
    found = Judgements(pd.DataFrame(rows, columns=["qid", "docno", "label"])).contradiction
    assert "judge 2 documents twice, " in found.sentence and found.example[:9] == "'b', 1 an"


def test_ties_of_the_last_queries_of_a_large_run_are_where_they_are():
    """150,000 rows are matched in parts. Only the last query ties documents, in pairs."""
    n = 50_000
    docs = [f"d{number:05}" for number in range(n)]
    scores = n - np.arange(n)
    rows = {"qid": np.repeat(["q1", "q2", "q3"], n), "docno": docs * 3}
    run = pd.DataFrame({**rows, "score": [*scores, *scores, *(scores // 2)]})
    qrels = {"q1": {"d00004": 1}, "q2": {"d00000": 1}, "q3": {"d00007": 1, "d00011": 1}}
    judged = judge(Judgements(qrels), run)
    # Of d00007 and d00008 the latter is first, in rank 8.
    assert judged.ranks.tolist() == [5, 1, 9, 13]
    tied = TiedRun.of(judged)
    assert tied.is_tied.tolist() == [False, False, True] and tied.run.queries.tolist() == [2, 2]
    assert (tied.first.tolist(), tied.last.tolist()) == ([8, 12], [9, 13])
    for best_first, ranks in ((True, [8, 12]), (False, [9, 13])):
        ordered = tied.ordered(np.array([1.0, 0.0]), best_first=best_first)
        assert ordered.ranks.tolist() == ranks
    assert judged.tied_documents(9).tolist() == [0, 0, 8]


RANKS = {
    "falling scores": ([1, 2, 3, 1, 2], [9, 8, 7, 9, 8], False),
    "rising scores": ([1, 2, 3, 1, 2], [7, 8, 9, 8, 9], True),
    "falling ranks, rising scores": ([3, 2, 1, 2, 1], [7, 8, 9, 8, 9], False),
    "half": ([1, 2, 3, 4, 5, 1], [9, 8, 7, 8, 9, 1], False),
    "most": ([1, 2, 3, 4, 5, 1], [9, 8, 9, 10, 11, 1], True),
    "two of three pairs within queries": ([1, 2, 3, 1, 2], [7, 8, 9, 9, 8], True),
    "ties": ([1, 2, 3, 1, 2], [7, 7, 7, 8, 8], False),
    "one rank": ([1, 1, 1, 1, 1], [7, 8, 9, 8, 9], False),
    "no numbers": (["-", "-", "-", "-", "-"], [7, 8, 9, 8, 9], False),
    "missing": ([None, None, 1, 1, 2], [7, 8, 9, 9, 8], False),
}


@pytest.mark.parametrize("form", ["frame", "arrow", "file"])
@pytest.mark.parametrize("case", RANKS)
def test_ranks_that_contradict_the_scores_of_most_rows(tmp_path, case, form):
    ranks, scores, expected = RANKS[case]
    judgements = Judgements({"p": {"a": 1}, "q": {"b": 1, "c": 0}})
    run = {"qid": ["p"] * (len(ranks) - 2) + ["q"] * 2, "docno": list("abcdef")[: len(ranks)]}
    frame = pd.DataFrame(run | {"score": scores, "rank": ranks})
    if form == "file":
        path = tmp_path / "a.run"
        path.write_text("".join(f"{q} Q0 {d} {r} {s} x\n" for q, d, s, r in frame.to_numpy()))
        judged = judge(judgements, read_run_table(path))
    else:
        judged = judge(judgements, frame if form == "frame" else pa.table(frame))
    assert judged.ranks_contradict_scores is expected
    assert not judge(judgements, frame.drop(columns="rank")).ranks_contradict_scores
