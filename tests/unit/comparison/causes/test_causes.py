"""Each damage to a run is named, and no cause is named for an undamaged pair."""

from __future__ import annotations

import hashlib
import string
import uuid

import numpy as np
import pytest
from ir_measures import AP
from scipy import stats

from pyterrier_asl.comparison.causes.cause import (
    at_least,
    broken,
    cut_to,
    forms_of,
    is_spread_less,
    without_documents,
)
from pyterrier_asl.comparison.causes.find import causes_frame, find_causes, sentence
from pyterrier_asl.comparison.causes.ids import Docs, find_writing, unseen_forms
from pyterrier_asl.comparison.causes.missing import long_gaps
from pyterrier_asl.comparison.causes.queries import shared_documents
from pyterrier_asl.comparison.causes.rankings import correlation
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.measuring import values_of
from pyterrier_asl.io.values import arrow_text
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.scoring.arrays import queries_of

QUERIES, DEPTH, POOL = 40, 60, 120


def collection():
    """Qrels of a pool, and two runs that rank by relevance with different noise."""
    random = np.random.default_rng(4)
    numbers = random.permutation(QUERIES * POOL)
    qrels, runs = {}, ({}, {})
    for query in range(QUERIES):
        relevance = random.gamma(1.0, size=POOL)
        ids = [f"FT{911 + n % 7}-{1000 + n}" for n in numbers[query * POOL : (query + 1) * POOL]]
        qrels[f"{query}"] = {d: int(r > 2) for d, r in zip(ids, relevance)}
        for run in runs:
            scores = relevance + random.normal(0, 0.6, POOL)
            run[f"{query}"] = {ids[i]: scores[i] for i in np.argsort(-scores)[:DEPTH]}
    return qrels, *runs


QRELS, A, B = collection()


def causes(a=A, b=B, qrels=QRELS):
    judged = Evaluation.of({"a": a, "b": b}, qrels, duplicates="best")
    return causes_frame(find_causes(*judged.runs, AP, tuple(judged.values("AP"))))


def named(frame, where="B"):
    return set(frame.loc[frame["where"] == where, "cause"])


def digest(text):
    return hashlib.md5(text.encode()).hexdigest()


def is_chosen(docno):
    """A quarter of the documents, the same in every query."""
    return int(digest(docno)[:8], 16) % 4 == 0


def rewritten(write, run):
    return {
        q: {write(d) if is_chosen(d) else d: s for d, s in docs.items()} for q, docs in run.items()
    }


def changed(run, change, every=4):
    """A run with another ranking for every fourth query."""
    return {q: change(q, docs) if int(q) % every == 0 else docs for q, docs in run.items()}


def test_sound_runs_have_no_cause():
    assert causes().empty


def test_unjudged_documents_are_no_cause_where_only_relevant_ones_are_judged():
    partly = {q: dict(list(docs.items())[::2]) for q, docs in QRELS.items()}
    only = {q: {d: g for d, g in docs.items() if g} for q, docs in QRELS.items()}
    assert "unjudged documents" in set(causes(qrels=partly)["cause"])
    assert "unjudged documents" not in set(causes(qrels=only)["cause"])


# Document ids


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda d: f"v2-{d}", "id prefix"),
        (lambda d: f"{d}.html", "id suffix"),
        (lambda d: f"{d}#{int(digest(d), 16) % 10}", "id suffix"),
        (str.lower, "id case"),
        (lambda d: d.replace("-", "_"), "id separators"),
        (lambda d: d.replace("FT", "FT00"), "id zeros"),
        (lambda d: d[1:], "id cut"),
        (digest, "id form"),
    ],
)
@pytest.mark.parametrize("where", ["A", "B"])
def test_documents_written_otherwise_are_named(write, name, where):
    runs = (rewritten(write, A), B) if where == "A" else (A, rewritten(write, B))
    found = causes(*runs)
    assert name in named(found, where) and not found["comparable"].all()


def test_without_the_prefix_the_difference_is_the_old_one():
    before = Evaluation.of({"a": A, "b": B}, QRELS).values("AP").mean(axis=1)
    found = causes(A, rewritten(lambda d: f"v2-{d}", B)).set_index("cause")
    assert found.loc["id prefix", "effect"] == pytest.approx(before[1] - before[0])
    assert found.loc["id prefix", "share"] == pytest.approx(0.25, abs=0.02)
    assert "the prefix 'v2-'" in found.loc["id prefix", "evidence"]


def test_ids_of_the_qrels_are_named():
    assert "id prefix" in named(causes(qrels=rewritten(lambda d: f"v2-{d}", QRELS)), "the qrels")


def test_unknown_documents_are_named():
    """The ids are numbers in the form of the ids of the collection."""
    other = rewritten(lambda d: f"FT911-{int(digest(d), 16) % 9000 + 10_000}", B)
    found = causes(A, other)
    assert named(found) == {"unknown documents"}
    assert not found.set_index("cause").loc["unknown documents", "comparable"]


def with_new_documents(share_at):
    """B with unjudged documents whose ids have the form of the collection.

    Args:
        share_at: the share of new documents by rank from 0.
    """
    random = np.random.default_rng(5)
    number = iter(range(10_000, 99_999))
    return {
        q: {
            f"FT911-{next(number)}" if random.random() < share_at(rank) else docno: -float(rank)
            for rank, docno in enumerate(docs)
        }
        for q, docs in B.items()
    }


@pytest.mark.parametrize(
    "share_at",
    [lambda rank: 0.05 * min(rank, 15), lambda rank: 0.99, lambda rank: float(rank < 15)],
    ids=["more further down", "nearly all", "all first ones"],
)
def test_a_system_that_retrieves_other_documents_can_be_compared(share_at):
    """Its documents are unjudged and have ids of the same form."""
    new = with_new_documents(share_at)
    for runs in ((A, new), (new, A)):
        found = causes(*runs)
        assert found["comparable"].all()
        assert set(found["cause"]) <= {"unknown documents", "unjudged documents"}


def test_new_documents_of_a_few_queries_are_no_cause():
    """The unjudged documents are in few queries, as with a new system, not with a wrong index."""
    new = changed(
        B, lambda q, docs: {f"FT911-{9000 + i}{q}": s for i, s in enumerate(docs.values())}
    )
    assert "unknown documents" not in named(causes(A, new))


def test_forms_are_groups_of_letters_and_digits():
    ids = ["FT911-1", "LA010189-0001", "v2-7", "7", "0", "", "ä1", "a.b/c"]
    assert forms_of(arrow_text(ids)).to_pylist() == [
        "A9-9", "A9-9", "a9-9", "9", "9", "", "a9", "a.a/a",
    ]  # fmt: skip
    assert forms_of(arrow_text(ids)[2:4]).to_pylist() == ["a9-9", "9"]


def test_every_sign_but_letters_and_digits_stays_in_the_form():
    kinds = {**dict.fromkeys(string.digits, "9"), **dict.fromkeys(string.ascii_uppercase, "A")}
    kinds |= dict.fromkeys(string.ascii_lowercase, "a")
    ids = [f".{sign * 2}." for sign in string.printable if sign != "."]
    assert forms_of(arrow_text(ids)).to_pylist() == [f".{kinds.get(id[1], id[1])}." for id in ids]


def test_forms_not_seen_before_are_as_rare_as_those_seen_once():
    """If every id has a different form, a new form is no evidence."""
    new = np.arange(100, 150)
    assert not unseen_forms(new, np.repeat([1, 0], [100, 50])).any()
    assert unseen_forms(new, np.repeat([9, 0], [100, 50])).all()


def test_random_ids_of_two_systems_have_other_forms_by_chance():
    """Most random ids have a form of their own, and the other run and the qrels share many ids."""
    ids = np.array([str(uuid.UUID(digest(str(n)))) for n in range(4000)])
    a, b = (
        {q: dict(zip(ids[at : at + 10].tolist(), range(10, 0, -1))) for q, at in zip(QRELS, starts)}
        for starts in (range(0, 400, 10), range(400, 800, 10))
    )
    qrels = {q: dict.fromkeys([*a[q], list(b[q])[0]], 1) for q in QRELS}
    assert "id form" not in named(causes(a, b, qrels))
    new = {
        q: {f"v2-{d}" if is_chosen(d) else d: s for d, s in docs.items()} for q, docs in a.items()
    }
    assert not causes(a, new, qrels)["comparable"].all()


def test_ids_of_a_site_that_one_query_retrieves_have_no_other_form():
    """Twelve pages of a site are in the ranking of one query; other sites have other forms."""
    at = {q: int(q) for q in QRELS}
    site = {q: f"http://{'a-1.' * (n // 8)}x.org/{'b_2/' * (n % 8)}" for q, n in at.items()}
    a = {q: {f"{site[q]}{d[6:]}": s for d, s in docs.items()} for q, docs in A.items()}
    qrels = {q: {f"{site[q]}{d[6:]}": r for d, r in docs.items()} for q, docs in QRELS.items()}
    b = a | {"0": {f"http://x.com/?id={i}": -float(i) for i in range(12)} | a["0"]}
    assert "id form" not in named(causes(a, b, qrels))


def test_ids_that_all_queries_retrieve_are_no_prefixes():
    """Number 3 is retrieved for all queries, so 31, 32, ... are no other writing of it."""
    a = {q: docs | {"3": 99.0} for q, docs in A.items()}
    b = {q: docs | {f"3{10 + int(q)}": 99.0} for q, docs in B.items()}
    for runs in ((a, b), (b, a)):
        assert causes(*runs)["comparable"].all()


def test_ids_that_contain_each_other_in_both_directions_are_not_written_otherwise():
    """Passages of one document: d1 and d12 are both ids of the collection."""
    queries = np.arange(50)
    short = Docs(queries, arrow_text(f"d{q}-1" for q in queries))
    long = Docs(queries, arrow_text(f"d{q}-12" for q in queries))
    assert find_writing(long, short).kind == "suffix"
    half, rest = slice(25), slice(25, None)
    found = long.take(half).and_then(short.take(rest))
    assert find_writing(found, short.take(half).and_then(long.take(rest))) is None


# Chances


def test_chances_match_scipy():
    for number, of, rate in ((0, 9, 0.2), (3, 9, 0.2), (9, 9, 0.2), (30, 4000, 1e-4)):
        expected = stats.binom.sf(number - 1, of, rate)
        assert at_least(number, of, rate) == pytest.approx(expected, rel=1e-9)
    counts, of = np.array([1, 3, 2, 2]), np.full(4, 10)
    statistic = stats.chi2_contingency([counts, of - counts]).statistic
    for level in (0.01, 0.5):
        expected = stats.chi2.cdf(statistic / 2, 3) < level
        assert is_spread_less(counts, of, 2.0, level) == expected


# Queries


def rotated(run, every):
    """The rankings of every n-th query move to the next of these queries."""
    qids = [q for q in run if int(q) % every == 0]
    return run | {q: run[other] for q, other in zip(qids, qids[1:] + qids[:1])}


@pytest.mark.parametrize("every", [2, 4, 10])
def test_exchanged_rankings_are_named(every):
    for runs, where in (((A, rotated(B, every)), "B"), ((rotated(A, every), B), "A")):
        found = causes(*runs)
        assert list(found["cause"]) == ["exchanged queries"] and list(found["where"]) == [where]
        assert found["share"][0] == pytest.approx(1 / every) and not found["comparable"][0]


def test_exchanged_rankings_of_ten_documents_are_named():
    """A ranking shares several documents with one other query, and few with the second."""
    a, b = ({q: dict(list(d.items())[:10]) for q, d in run.items()} for run in (A, B))
    found = causes(a, rotated(b, 2))
    assert "exchanged queries" in named(found) and not found["comparable"].all()
    assert "exchanged queries" not in set(causes(a, b)["cause"])


def test_exchanged_labels_are_named():
    found = causes(qrels=rotated(QRELS, 4))
    assert named(found, "the qrels") == {"exchanged queries"}


def test_exchanged_queries_leave_the_difference_of_the_others():
    a, b = Evaluation.of({"a": A, "b": B}, QRELS).values("AP")
    others = np.arange(QUERIES) % 4 > 0
    effect = causes(A, rotated(B, 4))["effect"][0]
    assert effect == pytest.approx((b - a)[others].mean())


@pytest.mark.parametrize("every", [1, 2, 4])
def test_one_ranking_for_several_queries_is_named_as_that(every):
    """For all but one of them it belongs to another query."""
    other = changed(B, lambda q, docs: B["0"], every)
    for runs, where in (((A, other), "B"), ((other, A), "A")):
        found = causes(*runs)
        assert found["cause"][0] == "repeated rankings" and not found["comparable"][0]
        assert "exchanged queries" not in set(found["cause"]) and named(found, where)


def test_exchanged_labels_are_named_where_the_runs_share_nothing():
    """The runs have no common documents, and half of the labels belong to other queries."""
    a, b = (
        {q: {d: s for d, s in docs.items() if is_chosen(d) == first} for q, docs in run.items()}
        for first, run in ((True, A), (False, B))
    )
    found = causes(a, b, rotated(QRELS, 2))
    assert named(found, "the qrels") == {"exchanged queries"}


def test_shared_documents_are_counted_as_in_a_loop():
    random = np.random.default_rng(1)
    size = 7
    (q, d), (r, e) = (np.unique(random.integers(0, size, (60, 2)) * [1, 3], axis=0).T for _ in "ab")
    own, most, second, which = shared_documents((q, d), (r, e), size)
    for query in range(size):
        shared = [len(set(d[q == query]) & set(e[r == other])) for other in range(size)]
        assert own[query] == shared.pop(query)
        assert [second[query], most[query]] == sorted(shared)[-2:]
        if most[query]:
            assert len(set(d[q == query]) & set(e[r == which[query]])) == most[query]


def test_queries_without_an_answer_are_named():
    found = causes(A, {q: docs for q, docs in B.items() if int(q) % 4})
    assert named(found) == {"unanswered queries"} and found["comparable"].all()
    assert found["share"][0] == 0.25 and "e.g. '0', '4', '8'" in found["evidence"][0]


def test_query_ids_of_another_form_are_named():
    other = {q if int(q) % 4 else f"q{q}": docs for q, docs in B.items()}
    found = causes(A, other)
    assert named(found) == {"query ids"} and not found["comparable"][0]
    assert "'q0'" in found["evidence"][0]


def test_the_query_itself_is_named():
    itself = changed(B, lambda q, docs: {q: 99.0} | docs)
    assert "the query itself" in named(causes(A, itself))
    assert "the query itself" not in named(
        causes(changed(A, lambda q, docs: {q: 99.0} | docs), itself)
    )


def test_numbers_of_queries_and_documents_that_are_equal_by_chance_are_no_cause():
    """As many documents have the number of another query."""
    a, b = (
        {q: {f"{int(d[-4:]) % 400}": s for d, s in docs.items()} for q, docs in run.items()}
        for run in (A, B)
    )
    qrels = {q: {f"{int(d[-4:]) % 400}": r for d, r in docs.items()} for q, docs in QRELS.items()}
    assert any(q in set(b[q]) - set(a[q]) for q in QRELS)
    assert "the query itself" not in named(causes(a, b, qrels))
    itself = changed(b, lambda q, docs: {q: 99.0} | docs)
    assert "the query itself" in named(causes(a, itself, qrels))


# Rankings


def test_short_rankings_are_named_with_the_difference_at_equal_depth():
    short = {q: dict(list(docs.items())[:10]) for q, docs in B.items()}
    found = causes(A, short).set_index("cause")
    both = {name: {q: dict(sorted(d.items(), key=lambda x: -x[1])[:10]) for q, d in run.items()}
            for name, run in (("a", A), ("b", B))}  # fmt: skip
    a, b = Evaluation.of(both, QRELS).values("AP").mean(axis=1)
    assert found.loc["short rankings", "effect"] == pytest.approx(b - a)


def test_the_effect_of_a_fact_is_one_that_explains_a_tenth_of_the_difference():
    """Cut at equal depths nothing changes; without these queries the difference does."""
    short = changed(B, lambda q, docs: dict(list(docs.items())[:-1]))
    found = causes(A, short).set_index("cause").loc["short rankings"]
    equal_depth = changed(A, lambda q, docs: dict(list(docs.items())[:-1]))
    a, b = Evaluation.of({"a": equal_depth, "b": short}, QRELS).values("AP").mean(axis=1)
    assert abs(b - a - found["difference"]) < 0.1 * abs(found["difference"])
    assert abs(found["effect"] - found["difference"]) >= 0.1 * abs(found["difference"])


def test_rankings_cut_below_the_cutoff_of_the_measure_are_no_cause():
    """A run that ends at one depth did not lose documents at random, whose effect is no effect."""
    for depths in ([20], [20, 20, 20, 12]):
        short = {q: dict(list(d.items())[: depths[int(q) % len(depths)]]) for q, d in B.items()}
        judged = Evaluation.of({"a": A, "b": short}, QRELS)
        values = tuple(judged.values(AP @ 10))
        found = causes_frame(find_causes(*judged.runs, AP @ 10, values))
        assert "short rankings" not in named(found)
    scattered = {q: {d: s for d, s in docs.items() if int(d[-1]) % 2} for q, docs in B.items()}
    judged = Evaluation.of({"a": A, "b": scattered}, QRELS)
    found = causes_frame(find_causes(*judged.runs, AP @ 10, tuple(judged.values(AP @ 10))))
    assert "short rankings" in named(found)


@pytest.mark.parametrize("every", [1, 4])
def test_reversed_scores_are_named(every):
    other = changed(B, lambda q, docs: {d: -s for d, s in docs.items()}, every)
    assert "reversed scores" in named(causes(A, other))


def test_the_reversed_run_is_named_where_only_the_best_are_judged_not_relevant():
    """Judged irrelevant documents come first in both runs, as from a pool of few documents."""
    qrels = {q: {d: r for i, (d, r) in enumerate(docs.items()) if r or d in list(A[q])[:9]}
             for q, docs in QRELS.items()}  # fmt: skip
    other = changed(B, lambda q, docs: {d: -s for d, s in docs.items()}, 2)
    for runs, where in (((A, other), "B"), ((other, A), "A")):
        found = causes(*runs, qrels)
        rows = found[found["cause"] == "reversed scores"]
        assert list(rows["where"]) == [where] and rows["share"].iloc[0] <= 0.5


def test_reversed_scores_are_named_with_few_labels():
    """One relevant document per query, and rankings of sixty or thirty documents."""
    qrels = {q: {max(docs, key=docs.get): 1} for q, docs in QRELS.items()}
    for depth in (60, 30):
        a, b = ({q: dict(list(d.items())[:depth]) for q, d in run.items()} for run in (A, B))
        other = {q: {d: -s for d, s in docs.items()} for q, docs in b.items()}
        found = causes(a, other, qrels)
        assert "reversed scores" in named(found) and found["comparable"].all()
        assert not named(found, "A") & {"reversed scores"}
        assert "reversed scores" not in set(causes(a, b, qrels)["cause"])


def test_a_reversed_baseline_cannot_be_compared():
    other = {q: {d: -s for d, s in docs.items()} for q, docs in A.items()}
    found = causes(other, B).set_index("cause")
    assert found.loc["reversed scores", "where"] == "A"
    assert not found.loc["reversed scores", "comparable"]


def test_equal_scores_are_not_reversed():
    """Equal scores leave the order of ids, which can be the reverse order of relevance."""
    ids = [f"d{i:03}" for i in range(200)]
    qrels = {q: {d: int(i < 20) for i, d in enumerate(ids)} for q in QRELS}
    a = {q: {d: -float(i) for i, d in enumerate(ids)} for q in QRELS}
    equal = {q: dict.fromkeys(ids, 1.0) for q in QRELS}
    reverse = {q: {d: float(i) for i, d in enumerate(ids)} for q in QRELS}
    assert "reversed scores" not in named(causes(a, equal, qrels))
    assert "reversed scores" in named(causes(a, reverse, qrels))


def test_scores_in_few_levels_are_not_reversed():
    """Two relevant documents have the best score, and the ties below are in reverse order."""
    ids = [f"d{i:03}" for i in range(200)]
    qrels = {q: {d: int(i < 20) for i, d in enumerate(ids)} for q in QRELS}
    a = {q: {d: -float(i) for i, d in enumerate(ids)} for q in QRELS}
    levels = {q: {d: float(i < 2) for i, d in enumerate(ids)} for q in QRELS}
    reverse = {q: {d: i // 20 for i, d in enumerate(ids)} for q in QRELS}
    for runs in ((a, levels), (levels, a)):
        assert "reversed scores" not in set(causes(*runs, qrels)["cause"])
    assert "reversed scores" in named(causes(a, reverse, qrels))


def test_correlations_match_scipy():
    random = np.random.default_rng(2)
    x, y = random.normal(size=(2, 30))
    queries = np.repeat([0, 2], [10, 20])
    found = correlation(queries, x, y, 4)
    for query, size in ((0, 10), (2, 20)):
        r = stats.pearsonr(x[queries == query], y[queries == query])[0]
        assert found[query] == pytest.approx(r * np.sqrt(size - 1))
    assert found[1] == found[3] == 0


def test_constant_scores_are_named_as_ties():
    other = changed(B, lambda q, docs: dict.fromkeys(docs, 1.0))
    found = causes(A, other)
    assert "ties" in named(found)
    row = found[found["cause"] == "ties"].iloc[0].to_dict() | {"measure": "AP"}
    said = f"In another order of them the difference in AP is {row['effect']:+.4f} instead of"
    assert said in sentence(row)


def test_ties_are_broken_in_the_best_and_in_the_worst_way():
    qrels = {"q": {"r": 1, "s": 1, "n": 0}, "p": {"r": 1, "n": 0}}
    run = {"q": {"r": 1, "n": 1, "u": 1, "s": 0.5}, "p": {"x": 2, "r": 2, "n": 1}}
    judged = Judgements(qrels).judge_part(run)
    ranking = judged.whole_ranking
    scores = ranking.take(judged.table.value)
    queries = queries_of(ranking.offsets)
    begins = np.r_[True, (np.diff(scores) != 0) | (np.diff(queries) != 0), True]
    found = [values_of([AP], run)[0] for run in broken(judged, np.flatnonzero(begins))]
    assert found[0].tolist() == pytest.approx([(1 + 2 / 4) / 2, 1])
    assert found[1].tolist() == pytest.approx([(1 / 3 + 2 / 4) / 2, 1 / 2])


def test_runs_without_documents_are_those_that_never_had_them():
    judgements = Judgements(QRELS)
    gone = np.array([is_chosen(d) for d in judgements.docnos.to_pylist()])
    found = values_of([AP], without_documents(judgements.judge_part(B), gone))[0]
    keep = [{q: {d: v for d, v in docs.items() if not is_chosen(d)} for q, docs in x.items()}
            for x in (QRELS, B)]  # fmt: skip
    assert found.tolist() == pytest.approx(Evaluation.of({"b": keep[1]}, keep[0]).values("AP")[0])


def test_runs_cut_at_depths_of_their_own():
    judgements = Judgements(QRELS)
    depths = np.arange(QUERIES)
    cut = {q: dict(sorted(docs.items(), key=lambda x: -x[1])[: int(q)]) for q, docs in B.items()}
    found = values_of([AP], cut_to(judgements.judge_part(B), depths))[0]
    assert found.tolist() == pytest.approx(Evaluation.of({"b": cut}, QRELS).values("AP")[0])


# Missing documents


def test_a_missing_range_is_named():
    numbers = sorted({int(d.split("-")[1]) for docs in B.values() for d in docs})
    low, high = numbers[len(numbers) // 4], numbers[len(numbers) // 2]
    a, b, qrels = (
        {q: {d.split("-")[1]: s for d, s in docs.items()} for q, docs in run.items()}
        for run in (A, B, QRELS)
    )
    less = {
        q: {d: s for d, s in docs.items() if not low <= int(d) <= high} for q, docs in b.items()
    }
    found = causes(a, less, qrels).set_index("cause")
    assert found.loc["missing documents", "where"] == "B" and found["comparable"].all()
    inside = {
        q: {d: g for d, g in docs.items() if not low <= int(d) <= high} for q, docs in qrels.items()
    }
    rest = {
        q: {d: s for d, s in docs.items() if not low <= int(d) <= high} for q, docs in a.items()
    }
    x, y = Evaluation.of({"a": rest, "b": less}, inside).values("AP").mean(axis=1)
    assert found.loc["missing documents", "effect"] == pytest.approx(y - x, abs=0.002)


def test_gaps_of_chance_are_rare():
    """The rate of false alarms if a run retrieves each document with the same probability."""
    random = np.random.default_rng(3)
    alarms = [
        bool(long_gaps(random.random(3000) < share, np.arange(3000)))
        for share in (0.2, 0.5, 0.8)
        for _ in range(100)
    ]
    assert sum(alarms) <= 1


def test_documents_of_one_query_are_no_gap():
    has = np.random.default_rng(3).random(3000) < 0.5
    has[1000:1200] = False
    assert long_gaps(has, np.arange(3000)) == [(g := long_gaps(has, np.arange(3000)))[0]]
    assert g[0][0] <= 1000 and g[0][1] >= 1199
    queries = np.arange(3000)
    queries[1000:1200] = 7
    assert not long_gaps(has, queries)


# One cause hides another


def test_ids_of_the_qrels_are_not_also_ids_of_the_runs():
    found = causes(qrels=rewritten(lambda d: f"v2-{d}", QRELS))
    assert "id prefix" in named(found, "the qrels") and not named(found, "A") | named(found, "B")


def test_a_run_of_unknown_documents_alone_is_not_comparable():
    """Only one of its documents is judged."""
    strange = {
        q: {f"FT911-{90_000 + i}{q}": s for i, s in enumerate(d.values())} for q, d in B.items()
    }
    strange["0"][next(iter(QRELS["0"]))] = -99.0
    assert "unknown documents" in named(causes(A, strange))


def test_constant_scores_are_no_missing_documents():
    by_id = {q: dict.fromkeys(docs, 1.0) for q, docs in B.items()}
    found = causes(A, by_id)
    assert "ties" in named(found) and found["comparable"].all()
    assert "missing documents" not in named(found)
