"""The sentences of a comparison for no, one and several tests; text, HTML and LaTeX.
Tests of sentences.py."""

import pytest

from pyterrier_asl import compare

QUERIES = ["q1", "q2", "q3"]
QRELS = {qid: {"a": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 2, "n": 1} for qid in QUERIES}
NEW = {"q1": {"a": 1, "n": 2}, "q2": {"a": 1, "n": 2}, "q3": {"a": 2, "n": 1}}


def said(new, qids=QUERIES, measures=("RR", "ASL@9"), **options):
    parts = {name: {q: run[q] for q in qids} for name, run in (("live", LIVE), ("new", new))}
    found = compare(parts, {q: QRELS[q] for q in qids}, list(measures), **options)
    return " ".join([*found.sentences(), *found.remarks()])


def test_one_query_is_no_test():
    text = said(NEW, ["q1"])
    assert "No test can be made of new by RR and ASL@9: there is only one query." in text
    assert "corrected" not in text and "interval" not in text


def test_equal_runs_are_equal():
    text = said(LIVE, measures=["RR", "P@2", "sgnLP"])
    assert text.startswith("new is equal to live in every query by RR, P@2 and sgnLP.")


def test_the_runs_that_were_corrected_are_counted():
    assert "p: t-test for pairs, two-sided; significant: p at most 0.05." in said(NEW)
    runs = {"live": LIVE, "new": NEW, "other": LIVE}
    for options, words in (
        ({}, "corrected (holm) over 2 runs;"),
        ({"correction": "none"}, "not corrected, 2 runs;"),
        ({"test": "sign", "measures": ["sgnLP"]}, "p: sign test, two-sided, corrected"),
        ({"measures": ["RR", "sgnLP"]}, "t-test for pairs (sgnLP: sign test), two-sided"),
    ):
        compared = compare(runs, QRELS, **{"measures": ["RR"], **options})
        assert words in compared.remarks()[0]
        assert "interval (not corrected) over 3 queries" in compared.remarks()[0]
    assert "B - A with its 90 % interval over 3 queries." in said(NEW, alpha=0.1)
    assert "significant: p at most 0.1." in said(NEW, alpha=0.1)


def test_the_comparisons_are_said_to_be_planned():
    planned = "The p-values are for comparisons planned before looking at the results"
    assert planned in said(NEW) and planned not in said(LIVE)  # no difference, no p-value


def test_the_answer_names_the_measures_by_which_a_run_is_better_or_worse():
    """Lower ASL is better, and a count has no direction; the run loses in six of seven queries."""
    qrels = {f"q{number}": {"a": 1, "n": 0} for number in range(7)}
    good = {q: {"a": 2.0, "n": 1.0} for q in qrels}
    bad = {q: {"n": 2.0, "a": 1.0} | ({"x": 0.5} if q < "q5" else {}) for q in qrels}
    bad["q6"] = good["q6"]
    measures = ["RR", "ASL@9", "NumRet", "P@2"]
    there, back = (
        compare(pair, qrels, measures, test="sign").sentences()
        for pair in ({"good": good, "bad": bad}, {"bad": bad, "good": good})
    )
    assert there == [
        "bad is significantly worse than good by RR and ASL@9 (one test per measure).",
        "No significant difference of bad from good by NumRet.",
        "bad is equal to good in every query by P@2.",
    ]
    words = "significantly better than bad by RR and ASL@9 (one test per measure)."
    assert back[0] == f"good is {words}"
    more = {q: docs | ({"x": 0.5} if q < "q6" else {}) for q, docs in good.items()}
    [higher, equal] = compare(
        {"good": good, "more": more}, qrels, measures, test="sign"
    ).sentences()
    assert higher == "more is significantly higher than good by NumRet."
    assert equal.startswith("more is equal to good in every query by RR ")
    strict = compare({"good": good, "bad": bad}, qrels, ["RR"], test="sign", alpha=0.01)
    assert strict.sentences() == ["No significant difference of bad from good by RR."]


def test_measures_with_equal_values_are_one_finding():
    """P@1 is RR here; ASL and RR of live, but not of new, are equal."""
    found = compare(
        {"live": LIVE, "new": {"q1": {"n": 1}, "q2": LIVE["q2"]}}, QRELS, ["RR", "P@1", "ASL@9"]
    )
    assert found.sentences() == [
        "No significant difference of new from live by RR (P@1: equal here) and ASL@9."
    ]
    assert found.table["measure"].tolist() == ["RR", "P@1", "ASL@9"]
    assert "array(" not in repr(found) and "\nA: live (baseline), B: new\n" in repr(found)


def test_the_chart_shows_each_difference_with_its_interval():
    runs = {"live": LIVE, "new": NEW, "same": LIVE}
    found = compare(runs, QRELS, ["RR", "ASL@9"])
    drawn = found.chart().to_dict()
    [rows] = [rows for rows in drawn["datasets"].values() if "ci_low" in rows[0]]
    kept = ["run", "measure", "difference", "ci_low", "ci_high"]
    assert [[row[name] for name in kept] for row in rows] == found.table[kept].to_numpy().tolist()
    assert [row["panel"] for row in rows[:2]] == ["RR ↑", "ASL@9 ↓"]
    assert "over 3 queries, with 95 % intervals" in str(drawn["title"])
    drawn = found.chart("queries").to_dict()
    [rows] = [rows for rows in drawn["datasets"].values() if "qid" in rows[0]]
    assert [row["difference"] for row in rows if row["panel"] == "new, RR ↑"] == [-0.5, -0.5, 0.0]


def test_latex_of_a_comparison_sets_names_as_other_tables():
    a, b = ({"q": {"a": grade}} for grade in (1, 2))
    text = compare({"<a>": a, "b|c": b}, {"q": {"a": 1}}, ["AP"]).to_latex()
    assert "\n$<$a$>$ & " in text and "\nb$|$c & " in text
    with pytest.raises(ValueError, match="no rrLP and sgnLP: name a measure"):
        compare({"<a>": a, "b|c": b}, {"q": {"a": 1}}, "sgnLP").to_latex()


def test_latex_has_a_caption_with_its_legend_and_no_mark_on_counts():
    qrels = {f"q{number}": {"a": 1, "n": 0} for number in range(8)}
    good = {q: {"a": 2.0, "n": 1.0} for q in qrels}
    bad = {q: {"n": 2.0, "a": 1.0, "x": 0.5} for q in qrels} | {"q0": good["q0"]}
    runs = {"good": good, "bad": bad, "good too": good}
    found = compare(runs, qrels, ["RR", "ASL@9", "NumRet"], test="sign", correction="bonferroni")
    text = found.to_latex(places=3)
    assert " & RR $\\uparrow$ & ASL@9 $\\downarrow$ & NumRet \\\\" in text
    assert "\nbad & 0.562$^{-}$ & 1.875$^{-}$ & 2.875 \\\\" in text
    caption = text.partition("\\caption{")[2].partition("}.")[0]
    assert "Means over 8 queries" in caption and "$^{+}$ and $^{-}$: significantly" in caption
    assert "(sign test, two-sided, corrected (bonferroni) over 2 runs, $p \\leq 0.05$)" in text


def test_a_count_is_compared_by_its_mean_over_queries_and_a_note_says_so():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"old": {q: {"a": 1, "b": 0} for q in qrels}, "new": {"q1": {"a": 1}, "q2": {"a": 1}}}
    compared = compare(runs, qrels, ["NumRet", "AP"])
    assert compared.table.set_index("measure").loc["NumRet", ["a", "b"]].tolist() == [2, 1]
    note = "NumRet: means over queries; 'evaluate' prints sums."
    assert note in compared.remarks() and note not in compare(runs, qrels, ["AP"]).remarks()
    assert "worse, equal (NumRet: higher, lower, equal)." in compared.remarks()[0]


def test_documents_that_moved_by_hand():
    """Irrelevant documents above, + 1; c is missed by the first run, after 7 of 9 places."""
    qrels = {"q1": {"a": 1, "b": 1, "c": 1, "n": 0}, "q2": {"d": 1}}
    live = {"q1": {"b": 5, "n": 4, "a": 3}, "q2": {"n": 1}}
    new = {"q1": {"n": 5, "m": 4, "b": 3, "a": 2, "c": 1}, "q2": {"n": 1}}
    found = compare({"live": live, "new": new}, qrels, ["ASL@9"])
    expected = [("c", 8, 3, -5, "B"), ("b", 1, 3, 2, "both"), ("a", 2, 3, 1, "both")]
    columns = ["docno", "a", "b", "change", "found"]
    assert [*found.moved[columns].itertuples(index=False, name=None)] == expected
    (numbers,) = found.retrieved.to_dict("records")
    by_runs = {"run": "new", "both": 2, "A": 0, "B": 1, "neither": 1}
    assert numbers == {**by_runs, "nearer": 0, "farther": 2}
