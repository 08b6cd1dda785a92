"""The sentences of a comparison for no, one and several tests; text, HTML and LaTeX.
Tests of sentences.py."""

import pytest

from pyterrier_asl import compare

QUERIES = ["q1", "q2", "q3"]
QRELS = {qid: {"a": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 2, "n": 1} for qid in QUERIES}
NEW = {"q1": {"a": 1, "n": 2}, "q2": {"a": 1, "n": 2}, "q3": {"a": 2, "n": 1}}


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


def test_documents_that_moved_by_hand():
    """Irrelevant documents above, + 1; c is missed by the first run, after 7 of 9 places, and e by
    the second, after 9."""
    qrels = {"q1": {"a": 1, "b": 1, "c": 1, "n": 0}, "q2": {"d": 1, "e": 1, "f": 1}}
    live = {"q1": {"b": 5, "n": 4, "a": 3}, "q2": {"m": 3, "n": 2, "e": 1, "f": 0}}
    new = {"q1": {"n": 5, "m": 4, "b": 3, "a": 2, "c": 1}, "q2": {"f": 1}}
    found = compare({"live": live, "new": new}, qrels, ["ASL@9"])
    expected = [("e", 3, 9, 6, "A"), ("c", 8, 3, -5, "B"), ("b", 1, 3, 2, "both")]
    expected += [("f", 3, 1, -2, "both"), ("a", 2, 3, 1, "both")]
    columns = ["docno", "a", "b", "change", "found"]
    assert [*found.moved[columns].itertuples(index=False, name=None)] == expected
    (numbers,) = found.retrieved.to_dict("records")
    by_runs = {"run": "new", "both": 3, "A": 1, "B": 1, "neither": 1}
    assert numbers == {**by_runs, "nearer": 1, "farther": 2}
