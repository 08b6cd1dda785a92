"""Each cause is undone, and reported where this takes away a tenth of a difference, or its sign."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from _calls import call
from _files import write_qrels, write_run

from pyterrier_asl import compare, evaluate, holes, read_scores
from pyterrier_asl.comparison.causes import explains
from pyterrier_asl.comparison.id_forms import find_writing
from pyterrier_asl.evaluation.evaluation import Evaluation

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
        for run, noise in zip(runs, (0.6, 1.1)):
            scores = relevance + random.normal(0, noise, POOL)
            run[f"{query}"] = {ids[i]: scores[i] for i in np.argsort(-scores)[:DEPTH]}
    return qrels, *runs


QRELS, A, B = collection()


def differences(a, b, qrels=QRELS, measure="AP"):
    values = evaluate({"a": a, "b": b}, qrels, [measure], duplicates="best")
    by_run = values.set_index(["name", "qid"])[measure]
    return by_run["b"] - by_run["a"]


def causes(a=A, b=B, qrels=QRELS, measure="AP", **options):
    compared = compare({"a": a, "b": b}, qrels, [measure], **options)
    return compared.causes.set_index("cause")


def changed(run, change, every=4):
    """A run with another ranking for every fourth query."""
    return {q: change(q, docs) if int(q) % every == 0 else docs for q, docs in run.items()}


def rewritten(write, run):
    """A quarter of the documents have other ids."""
    return {
        q: {write(d) if int(d[-4:]) % 4 == 0 else d: s for d, s in docs.items()}
        for q, docs in run.items()
    }


def test_sound_runs_have_no_cause_and_significant_differences():
    assert causes().empty and compare({"a": A, "b": B}, QRELS, ["AP"]).table["p"][0] < 0.05


@pytest.mark.parametrize(
    ("difference", "undone", "expected"),
    [(0.1, 0.09, True), (-0.1, -0.11, True), (0.1, 0.0901, False), (0.1, -1e-12, True)]
    + [(0.0, 1e-9, True), (0.0, 9e-10, False), (0.0, 0.0, False)],
)
def test_a_tenth_or_the_sign(difference, undone, expected):
    assert explains(difference, undone) is expected


def test_unanswered_queries_are_left_out_of_both():
    less = {q: docs for q, docs in B.items() if int(q) % 4}
    [row] = causes(A, less).to_dict("records")
    assert row["where"] == "B" and row["comparable"]
    assert "B does not answer 10 queries (e.g. '0', '4', '8')" in row["evidence"]
    rest = {q: QRELS[q] for q in less}
    assert row["effect"] == pytest.approx(differences(A, B, rest).mean())
    assert row["difference"] == pytest.approx(differences(A, less).mean())


def test_cut_rankings_are_cut_in_both_but_not_where_one_answers_nothing():
    short = changed(B, lambda q, docs: dict(list(docs.items())[:5]))
    short["1"], cut = {}, changed(A, lambda q, docs: dict(list(docs.items())[:5]))
    row = causes(A, short).loc["cut rankings"]
    assert row["where"] == "B" and "60 and 5 (medians)" in row["evidence"]
    assert row["effect"] == pytest.approx(differences(cut, short).mean())
    assert "With both cut at the same depth the difference in AP is" in str(
        compare({"a": A, "b": short}, QRELS, ["AP"])
    ).replace("\n  ", " ")


WRITINGS = [
    (lambda d: f"v2-{d}", "the prefix 'v2-'"),
    (lambda d: f"/data/{d}", "the prefix '/data/'"),
    (lambda d: f"{d}.html", "the suffix '.html'"),
    (lambda d: f"{d}#{int(d[-2:]) % 7}", "a part that begins with '#'"),
    (str.lower, "another case"),
    (lambda d: d.replace("-", "_"), "another case"),
    (lambda d: d.replace("-", "-00"), "leading zeros"),
]


@pytest.mark.parametrize(("write", "words"), WRITINGS)
@pytest.mark.parametrize("where", ["B", "A and B"])
def test_ids_written_differently_are_written_alike(write, words, where):
    a, b = (rewritten(write, run) if n in where.split() else run for n, run in (("A", A), ("B", B)))
    row = causes(a, b).loc["ids"]
    assert row["where"] == where and words in row["evidence"] and not row["comparable"]
    assert row["effect"] == pytest.approx(differences(A, B).mean())
    assert ("collapse='#'" in row["remedy"]) is ("'#'" in words)


def test_ids_of_the_qrels_are_written_as_those_of_the_runs():
    row = causes(qrels=rewritten(lambda d: f"v2-{d}", QRELS)).loc["ids"]
    assert (
        row["where"] == "A and B" and "the qrels have ids with the prefix 'v2-'" in row["evidence"]
    )
    assert row["effect"] == pytest.approx(differences(A, B).mean())


def test_ids_that_equal_others_by_chance_are_not_written_differently():
    """Numbers of documents that nobody judged: 7123 ends with 123, which is judged."""
    random = np.random.default_rng(2)
    qrels = {q: {f"{n}": 1 for n in random.integers(100, 1000, 30)} for q in QRELS}
    run = {
        q: {d: 99.0 for d in list(docs)[:10]}
        | {f"{n}": 1.0 for n in random.integers(1000, 9999, 40)}
        for q, docs in qrels.items()
    }
    assert find_writing(Evaluation.of({"a": run}, qrels).runs[0]) is None


def test_ties_are_in_the_other_order_in_both():
    a, b = (
        {q: {d: round(s) for d, s in docs.items()} for q, docs in run.items()} for run in (A, B)
    )

    def other(run):
        """Equal scores by ascending id: ids with their characters mirrored sort the other way."""
        order = {q: sorted(docs, key=lambda d: (-docs[d], d)) for q, docs in run.items()}
        return {q: {d: -float(n) for n, d in enumerate(docs)} for q, docs in order.items()}

    effect = differences(other(a), other(b)).mean()
    found = causes(a, b)
    assert ("ties" in found.index) == explains(differences(a, b).mean(), effect)
    late = {q: {("a" if g else "z") + d: g for d, g in docs.items()} for q, docs in QRELS.items()}
    first = {q: {d: 2.0 * g - int(d[-1]) for d, g in docs.items()} for q, docs in late.items()}
    tied = first | {q: dict.fromkeys(docs, 1.0) for q, docs in late.items() if int(q) < 30}
    row = causes(first, tied, late).loc["ties"]
    assert row["where"] == "A and B"
    expected = differences(other(first), other(tied), late).mean()
    assert row["effect"] == pytest.approx(expected)


def test_the_query_itself_leaves_runs_and_qrels():
    itself = {q: {q: 99.0} | docs for q, docs in B.items()}
    qrels = {q: docs | {q: 1} for q, docs in QRELS.items()}
    row = causes(A, itself, qrels).loc["the query itself"]
    assert row["where"] == "B"
    assert row["effect"] == pytest.approx(differences(A, B).mean())


def test_unjudged_documents_have_bounds():
    partly = {q: dict(list(docs.items())[::2]) for q, docs in QRELS.items()}
    row = causes(qrels=partly, measure="P@10").loc["unjudged documents"]
    bounds = holes({"b": B, "a": A}, partly, "P@10").difference
    assert row["effect"] == bounds.low or row["effect"] == bounds.high
    assert explains(row["difference"], row["effect"])
    assert "of the first 10 documents of A" in row["evidence"]
    assert "of the first 5 documents" in causes(qrels=partly, measure="P@5").iloc[-1]["evidence"]
    assert "unjudged documents" not in causes(qrels=partly, measure="AP").index  # no cut-off
    said = compare({"a": A, "b": B}, partly, ["P@10", "AP", "P@5"]).why("b")
    assert any(" of the first 5 documents of A" in text for text in said), "the lowest cut-off"


def test_of_a_difference_that_is_not_significant_only_grave_causes_are_reported():
    """Runs of equal quality; a cut that keeps the difference not significant is no cause."""
    twin = {
        q: dict(zip(docs, [s + (int(q) % 2) * 0.1 for s in docs.values()])) for q, docs in A.items()
    }
    for q in list(twin)[::2]:
        first, second = list(twin[q])[:2]
        twin[q][first], twin[q][second] = twin[q][second], twin[q][first]
    short = changed(twin, lambda q, docs: dict(list(docs.items())[:40]), 8)
    compared = compare({"a": A, "b": short}, QRELS, ["AP"])
    assert compared.table["p"][0] > 0.05 and compared.causes.empty
    less = {q: docs for q, docs in twin.items() if q != "0"}
    found = causes(A, less, alpha=1e-9)
    assert set(found.index) <= {"unanswered queries"}


def test_undoing_counts_where_the_difference_becomes_significant():
    """B without documents in most queries by a cut: not significant, but significant undone."""
    short = {q: dict(list(docs.items())[: 3 if int(q) % 2 else 60]) for q, docs in A.items()}
    alpha = compare({"a": B, "b": short}, QRELS, ["AP"]).table["p"][0] / 2
    cut = {q: dict(list(docs.items())[: 3 if int(q) % 2 else 60]) for q, docs in B.items()}
    p = compare({"a": cut, "b": short}, QRELS, ["AP"]).table["p"][0]
    found = causes(B, short, alpha=alpha)
    assert ("cut rankings" in found.index) is bool(p <= alpha)


# In the guard and its outputs

LIVE = {q: {f"{q}-{d}": -float(d) for d in range(12)} for q in QRELS}
LABELS = {q: {f"{q}-{d}": int(d < 4) for d in range(12)} for q in QRELS}
NEW = {
    q: docs | {f"{q}-{5 + int(q) % 2}": 1.0, f"{q}-4": -2.5 * (int(q) % 3)}
    for q, docs in LIVE.items()
}
HALF = {
    q: {("" if int(d[-1]) % 2 else "v2-") + d: s for d, s in docs.items()}
    for q, docs in NEW.items()
}
CONDITION = "AP worse p<.05"


def verdict(new, condition=CONDITION, **options):
    [found] = compare({"live": LIVE, "new": new}, LABELS, conditions=condition, **options).verdicts
    return found


@pytest.mark.parametrize(
    "condition", [CONDITION, "AP worse certainly", "RR possibly worse by .1 p<.05", "rrLP worse"]
)
def test_runs_that_cannot_be_compared_are_an_error(condition):
    found = verdict(HALF, condition)
    assert found.outcome.name == "ERROR" and "the prefix 'v2-'" in found.message
    allowed = verdict(HALF, condition, allow_missing=True).outcome.name
    assert (allowed == "ERROR") is ("certainly" in condition)
    assert verdict(HALF, condition, causes=False).outcome.name != "ERROR"


def test_causes_are_of_runs_and_name_the_run_where_there_are_several(tmp_path):
    compared = compare({"live": LIVE, "new": NEW, "half": HALF}, LABELS, conditions=CONDITION)
    assert [v.outcome.name for v in compared.verdicts] == ["FAIL", "ERROR"]
    assert set(compared.causes["run"]) == {"half"}
    assert any(note.startswith("Why: half: ") for note in compared.notes())
    path = tmp_path / "scores.csv"
    path.write_text("system,topic,AP\na,1,0.5\nb,1,0.4\n")
    with pytest.raises(ValueError, match="causes"):
        compare(read_scores(path), measures=["AP"], causes=True)


def test_causes_are_in_every_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run(LIVE, "live.run")
    write_run(HALF, "new.run")
    write_qrels(LABELS, "qrels")
    guard = ["compare", "qrels", "live.run", "new.run", "-m", "AP", "--fail-if", CONDITION]
    outputs = ["--junit", "g.xml", "--summary", "g.md", "--github", "-o", "jsonl"]
    result = call(*guard, *outputs)
    assert result.exit_code == 2
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert any("'v2-'" in cause for row in rows for cause in row.get("causes", []))
    assert "\nWhy: " in result.stderr and "::warning title=Cause::" in result.stderr
    texts = [case.findtext("system-out") for case in ElementTree.parse("g.xml").iter("testcase")]
    assert all("'v2-'" in text for text in [*texts, Path("g.md").read_text()])
    assert "Why:" not in call(*guard, "--no-causes").stderr
    alone = call(*guard[:-2], "--causes", "-o", "tsv")
    assert alone.exit_code == 0 and alone.stderr.count("Why: ") == 1
