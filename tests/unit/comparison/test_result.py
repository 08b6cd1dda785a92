"""The sentences of a comparison for no, one and several tests; text, HTML and LaTeX."""

from __future__ import annotations

import pytest

from pyterrier_asl import compare

QUERIES = ["q1", "q2", "q3"]
QRELS = {qid: {"a": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 2, "n": 1} for qid in QUERIES}
NEW = {"q1": {"a": 1, "n": 2}, "q2": {"a": 1, "n": 2}, "q3": {"a": 2, "n": 1}}


def said(new, qids=QUERIES, measures=("RR", "ASL@9"), **options):
    parts = {name: {q: run[q] for q in qids} for name, run in (("live", LIVE), ("new", new))}
    found = compare(parts, {q: QRELS[q] for q in qids}, list(measures), **options)
    return " ".join([*found.sentences(), *found.notes()])


def test_one_query_is_no_test():
    text = said(NEW, ["q1"])
    assert "No test can be made: there is only 1 query." in text
    assert "corrected" not in text and "interval" not in text and "without any" not in text


def test_equal_runs_are_no_test():
    text = said(LIVE)
    assert "No test is made: A and B have equal values in every query, by every measure." in text
    assert "corrected" not in text


def test_the_comparisons_that_were_corrected_are_counted():
    assert "p (holm) is corrected over these 4 comparisons; significant: p at most 0.05." in said(
        NEW
    )
    text = said(NEW, measures=["RR", "P@2"])
    assert "over these 3 comparisons; 1 without any difference left out;" in text
    assert "p is not corrected;" in said(NEW, correction="none")
    assert "Test: t-test for pairs, for sgnLP the sign test, two-sided;" in said(NEW)
    assert "Test: sign test, two-sided;" in said(NEW, test="sign")


def test_an_interval_next_to_a_corrected_p_is_said_not_to_be_corrected():
    """It can exclude 0 where the corrected p is above the level."""
    assert "B - A with its 95 % interval (not corrected), over 3 queries." in said(NEW)
    assert "B - A with its 95 % interval, over 3 queries." in said(NEW, correction="none")


def test_its_repr_is_what_is_printed_and_no_arrays():
    found = compare({"live": LIVE, "new": NEW}, QRELS, ["RR"], bounds=True)
    assert "array(" not in repr(found) and "\nA: live (baseline)\n" in repr(found)


def test_the_comparisons_are_said_to_be_planned():
    planned = "The p-values are for comparisons planned before looking at the results"
    assert planned in said(NEW) and planned not in said(LIVE)  # no test, no p-value


def test_the_answer_names_the_measures_by_which_a_run_is_better_or_worse():
    """Lower ASL is better, and a count has no direction; the run wins in six of six queries."""
    qids = [f"q{number}" for number in range(6)]
    qrels = {q: {"a": 1, "n": 0} for q in qids}
    good = {q: {"a": 2.0, "n": 1.0} for q in qids}
    bad = {q: {"n": 2.0, "a": 1.0} | ({"x": 0.5} if q < "q5" else {}) for q in qids}
    measures = ["RR", "ASL@9", "NumRet", "P@2"]
    there, back = (
        compare(pair, qrels, measures, test="sign", correction="none").sentences()
        for pair in ({"good": good, "bad": bad}, {"bad": bad, "good": good})
    )
    assert there == [
        "bad is significantly worse than good by RR, ASL@9, rrLP and sgnLP.",
        "No significant difference of bad from good by NumRet and P@2.",
    ]
    assert back[0] == "good is significantly better than bad by RR, ASL@9, rrLP and sgnLP."
    more = {q: docs | {"x": 0.5} for q, docs in good.items()}
    [higher, rest] = compare(
        {"good": good, "more": more}, qrels, measures, test="sign", correction="none"
    ).sentences()
    assert higher == "more is significantly higher than good by NumRet."
    assert rest.startswith("No significant difference of more from good by RR, ")
    strict = compare({"good": good, "bad": bad}, qrels, ["RR"], test="sign", alpha=0.01)
    nothing = "No significant difference of bad from good by RR, rrLP and sgnLP."
    assert strict.sentences() == [nothing]


def test_the_chart_shows_each_difference_with_its_interval():
    runs = {"live": LIVE, "new": NEW, "same": LIVE}
    found = compare(runs, QRELS, ["RR", "ASL@9"])
    drawn = found.chart().to_dict()
    [rows] = [rows for rows in drawn["datasets"].values() if "ci_low" in rows[0]]
    kept = ["run", "measure", "difference", "ci_low", "ci_high"]
    assert [[row[name] for name in kept] for row in rows] == found.table[kept].to_numpy().tolist()
    assert [row["panel"] for row in rows[:3]] == [
        "RR \N{UPWARDS ARROW}",
        "ASL@9 \N{DOWNWARDS ARROW}",
        "rrLP \N{UPWARDS ARROW}",
    ]
    assert "over 3 queries, with 95 % intervals" in str(drawn["title"])


def test_the_chart_of_several_collections_has_no_intervals():
    qids = [f"q{number}" for number in range(6)]
    qrels = {q: {"a": 1, "n": 0} for q in qids}
    track = (
        {"old": {q: {"a": 1, "n": 2} for q in qids}, "new": {q: {"a": 1} for q in qids}},
        qrels,
    )
    drawn = compare({"x": track, "y": track}, None, ["RR"]).chart().to_dict()
    assert "interval" not in str(drawn["title"]) and "over 12 queries" in str(drawn["title"])


def test_latex_of_a_comparison_sets_names_as_other_tables():
    a, b = ({"q": {"a": grade}} for grade in (1, 2))
    text = compare({"<a>": a, "b|c": b}, {"q": {"a": 1}}, ["AP"]).to_latex()
    assert "\n$<$a$>$ & " in text and "\nb$|$c & " in text
    with pytest.raises(ValueError, match="no rrLP and sgnLP: name a measure"):
        compare({"<a>": a, "b|c": b}, {"q": {"a": 1}}, "sgnLP").to_latex()


def test_a_count_is_compared_by_its_mean_over_queries_and_a_note_says_so():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"old": {q: {"a": 1, "b": 0} for q in qrels}, "new": {"q1": {"a": 1}, "q2": {"a": 1}}}
    compared = compare(runs, qrels, ["NumRet", "AP"])
    assert compared.table.set_index("measure").loc["NumRet", ["a", "b"]].tolist() == [2, 1]
    note = "NumRet: means over queries; 'evaluate' prints sums."
    assert note in compared.notes() and note not in compare(runs, qrels, ["AP"]).notes()
    assert "Wins: queries in which B is better (NumRet: higher)." in compared.notes()[0]
    assert "in which B is better." in compare(runs, qrels, ["AP"]).notes()[0]
