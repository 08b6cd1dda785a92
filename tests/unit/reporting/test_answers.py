"""The verdict and the answers of a report: every sentence follows from the numbers."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from _reports import QRELS, QUERIES, RUNS, TWO

from pyterrier_asl import compare, judges, ranks, read_scores, report
from pyterrier_asl.reporting.answers import Answers, Link, Sentence
from pyterrier_asl.reporting.collect import collect, collect_scores
from pyterrier_asl.reporting.findings import SystemFindings

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def findings():
    return collect(RUNS, QRELS, ["ASL@1000", "AP", "nDCG@10"])


def about(findings: SystemFindings, measure: str | None = None) -> Answers:
    named = {ranking.name: ranking for ranking in findings.rankings}
    return Answers(findings, findings.first if measure is None else named[measure])


def verdict(findings: SystemFindings, measure: str | None = None) -> list[str]:
    return [sentence.text for sentence in about(findings, measure).verdict()]


def answers(findings: SystemFindings, measure: str | None = None) -> dict[str, str]:
    answered = about(findings, measure).answers()
    return {q: " ".join(each.text for each in sentences) for q, sentences in answered.items()}


def everything(findings: SystemFindings) -> list[Sentence]:
    """All sentences by all measures."""
    by_measure = [Answers(findings, ranking) for ranking in findings.decisive]
    answered = [sentences for each in by_measure for sentences in each.answers().values()]
    return sum([*(each.verdict() for each in by_measure), *answered], [])


def scores_of(values, measure: str = "AP", names: tuple[str, ...] = ("s0", "s1", "s2")):
    """Scores of systems by query, shape (S, Q)."""
    frame = pd.DataFrame(values, names[: len(values)]).rename_axis("name")
    long = frame.rename(columns="q{}".format).melt(ignore_index=False, var_name="qid")
    return read_scores(long.reset_index().assign(measure=measure))


def of_values(**values) -> SystemFindings:
    """Findings whose measures have these values, shape (S, Q); ASL is a cost."""
    names = ["ASL@10" if name == "ASL" else name for name in values]
    scores = [scores_of(rows, name) for name, rows in zip(names, values.values())]
    every = dataclasses.replace(scores[0], rows=pd.concat([each.rows for each in scores]))
    return collect_scores(every, names)


NOISE = np.random.default_rng(5).normal(scale=0.01, size=(3, 20))
UP = NOISE + [[0.3], [0.2], [0.1]]


def test_a_link_is_on_a_name_wherever_else_the_word_occurs():
    """Runs called ``significantly`` and ``better``: neither word of the sentence is a link."""
    scores = scores_of(UP[:2], names=("better", "significantly"))
    [sentence] = about(collect_scores(scores)).verdict()
    parts = [part if isinstance(part, str) else (part.text,) for part in sentence.parts]
    assert parts[:3] == [("significantly",), " is significantly worse than ", ("better",)]


# Three or more systems


def test_the_verdict_has_the_first_sentences_of_ranks(findings):
    for measure in ("AP", "ASL@1000"):
        board = ranks(RUNS, QRELS, measure)
        notes = [
            f"Note: {note}.".replace("`holes`", "unjudged documents") for note in findings.notes
        ]
        assert verdict(findings, measure) == board.sentences()[:3] + notes and len(notes) == 1
    count = verdict(of_values(AP=NOISE + [[0.3], [0.3], [0.1]]))[0]
    assert count == "2 of 3 systems could be the best by AP (20 topics)."


def test_the_level_of_a_report_is_the_level_of_its_ranks():
    """s1 is worse than s0 at .05, but not at .001."""
    values = NOISE[:, :10] + [[0.3], [0.29], [0.1]]
    for alpha in (0.001, 0.2):
        findings = collect_scores(scores_of(values), alpha=alpha)
        board = ranks(scores_of(values), alpha=alpha)
        pd.testing.assert_frame_equal(findings.first.board.table, board.table)
        assert findings.first.board.alpha == alpha
        assert any(f"at most {alpha:g}" in text for text in verdict(findings))


def test_measures_that_order_pairs_the_other_way_are_named():
    findings = of_values(AP=UP, RR=UP[[1, 0, 2]], ASL=10 - UP)
    text = "By RR 1 pair of systems differs significantly the other way, such as s0 and s1."
    assert answers(findings)["Do other measures agree?"] == text
    none = "No pair of systems differs significantly the other way by another measure."
    assert answers(of_values(AP=UP, ASL=10 - UP))["Do other measures agree?"] == none


def test_measures_with_equal_values_are_marked():
    findings = of_values(AP=UP, RR=UP * (1 + 1e-12), ASL=10 - UP)
    ap, rr, asl = findings.rankings
    assert findings.equal_to(ap) == [rr] and findings.equal_to(asl) == []
    page = report(TWO | {"c": RUNS["good"]}, QRELS, ["ASL@50", "ASL(g=60)@50", "AP"]).html
    assert page.count("equal here to ASL@50") == 1 and page.count("equal here to") == 2


def test_the_comparison_that_would_decide_most_is_next():
    """The candidate with the least p, its rank, and the number of queries in all."""
    noise = np.random.default_rng(2).normal(scale=0.1, size=(3, 20))
    noise -= noise.mean(axis=1, keepdims=True)
    findings = of_values(AP=noise + [[0.30], [0.27], [0.299]])
    board = ranks(scores_of(noise + [[0.30], [0.27], [0.299]]))
    assert findings.first.candidates == [0, 2, 1]
    text = answers(findings)
    assert text["What next?"].startswith(
        f"Test s0 against s1 on more queries (p = {board.p.loc['s0', 's1']:.4f}): the difference"
    )
    topics = int(re.search(r"about ([\d,]+) queries in all", text["What next?"]).group(1))
    # Standard errors fall with the square root of the number of queries.
    needed = 20 * (board.critical[-1] / board.statistic.loc["s0", "s1"]) ** 2
    assert 20 < needed <= topics < needed + 1
    assert text["Where?"].startswith("s0 is better than s1 (rank 3, the candidate that is nearest")


def test_how_many_the_best_is_better_than():
    text = answers(of_values(AP=UP))["Is it real?"]
    assert text.startswith("s0 is significantly better than 2 of the 2 other systems by AP")
    assert "better than none of the 2" in answers(of_values(AP=NOISE))["Is it real?"]


# Two systems


def of_two(**values) -> SystemFindings:
    return of_values(**{name: rows[:2] for name, rows in values.items()})


def test_the_headline_of_two_systems_is_the_comparison():
    for rows in (UP[:2], NOISE[:2] + 0.3):
        row = compare(scores_of(rows)).table.iloc[0]
        [text] = verdict(of_two(AP=rows))
        word = "worse" if row["difference"] < 0 else "better"
        says = f"s1 is significantly {word} than s0 by AP: "
        if row["p"] > 0.05:
            says = "No significant difference of s1 from s0 by AP: "
        says += "{difference:+.4f}, 95 % interval [{ci_low:+.4f}, {ci_high:+.4f}]".format(**row)
        assert text.replace("−", "-").startswith(says)
    assert verdict(of_two(AP=UP, ASL=10 - UP), "ASL@10")[0].startswith(
        "s1 is significantly worse than s0 by ASL@10: +0."
    )


def test_the_level_of_two_systems_is_the_level_of_the_report():
    rows = scores_of(NOISE[:2] + [[0.3], [0.294]])
    p = compare(rows).table["p"].iloc[0]
    assert 0.001 < p < 0.05
    for alpha, says in ((0.05, "s1 is significantly worse"), (0.001, "No significant difference")):
        text = verdict(collect_scores(rows, alpha=alpha))[0]
        assert text.startswith(says) and f"{100 * (1 - alpha):g} % interval" in text


def test_two_systems_with_the_same_difference_on_each_query_have_no_test():
    rows = np.vstack([np.linspace(0.1, 0.5, 12), np.linspace(0.1, 0.5, 12) + 0.25])
    findings = of_two(AP=rows)
    assert "no test can be made" in verdict(findings)[0]
    assert "by the same difference on each" in answers(findings)["Where?"]


def test_two_systems_have_no_median_system():
    runs = {name: RUNS[name] for name in ("good", "poor")}
    assert "median" not in " ".join(answers(collect(runs, QRELS, ["AP"])).values())


# Real rankings


def test_every_question_is_answered(findings):
    for ranking in findings.decisive:
        assert list(answers(findings, ranking.name)) == [
            *("Is it real?", "Do other measures agree?", "Where?", "Why?"),
            *("What is missed?", "What next?"),
        ]
        assert f" by {ranking.name}" in verdict(findings, ranking.name)[0]


def test_links_lead_to_what_the_page_holds(findings):
    measures = [each.name for each in findings.rankings]
    known = {"a": findings.names, "b": findings.names, "query": QUERIES, "measure": measures}
    links = [p for each in everything(findings) for p in each.parts if isinstance(p, Link)]
    assert {link.section for link in links} >= {"pair", "query", "headroom"}
    for link in links:
        assert all(value in known[name] for name, value in link.state.items())
        assert link.section != "pair" or link.text.startswith(link.state["a"])


def test_why_and_what_is_missed(findings):
    """By loops over the documents of the best system."""
    best = findings.names[findings.first.order[0]]
    why = answers(findings)["Why?"]
    share = findings.quality.loc[best, "missing_share"]
    assert why.startswith(f"{best} gets {share:.0%} of its ASL@1000 from relevant documents")
    relevant = {(q, d) for q, of in QRELS.items() for d, grade in of.items() if grade}
    lost = [(q, d) for q, d in relevant if all(d not in run[q] for run in RUNS.values())]
    assert (
        f"{len(lost)} of {len(relevant)} relevant documents" in answers(findings)["What is missed?"]
    ) == bool(lost)


# Several judges and collections

STRICT = {q: {d: g * (int(d[1:]) % 2) for d, g in of.items()} for q, of in QRELS.items()}
OTHER = {q: {d: 1 for d in list(of)[2:5]} for q, of in QRELS.items()}


@pytest.mark.parametrize("systems", [2, 5])
def test_whichever_judge_is_right(systems):
    runs = dict(list(RUNS.items())[:systems])
    found = collect(runs, QRELS, ["AP", "RR"], judges={"strict": STRICT})
    board = ranks(runs, QRELS, "AP", judges={"strict": STRICT})
    pd.testing.assert_frame_equal(found.of_all.table, board.table)
    first, second = verdict(found)[:2]
    assert first == f"Whichever judge is right: {board.sentences()[0]}"
    assert second.startswith("By the qrels alone: ")
    assert verdict(found, "RR")[0].startswith("By the qrels alone: ")


def test_over_several_collections():
    pair = {"one": (RUNS, QRELS), "other": (RUNS, OTHER)}
    found, board = collect(pair, None, ["AP"]), ranks(pair, measures="AP")
    pd.testing.assert_frame_equal(found.of_all.table, board.table)
    first, second = verdict(found)[:2]
    assert first == f"Over all collections: {board.sentences()[0]}"
    assert second.startswith("In one: ")


def test_cautions_on_all_collections_are_on_the_page():
    """Warnings of a command are lost; readers of its page need them."""
    few = {q: QRELS[q] for q in list(QRELS)[:5]}
    page = report({"one": (RUNS, QRELS), "few": (RUNS, few)}, measures=["AP"], rel=1)
    collections = page.html.partition('id="collections"')[2].partition("</section>")[0]
    assert "there are only 15 topics: intervals may hold less often" in collections


def test_each_collection_has_its_own_pool():
    renamed = [{f"{q}x": of for q, of in each.items()} for each in (*RUNS.values(), OTHER)]
    pair = {"one": (RUNS, QRELS), "other": (dict(zip(RUNS, renamed)), renamed[-1])}
    found = collect(pair, None, ["AP_Rareness@10"])
    pd.testing.assert_frame_equal(found.of_all.table, ranks(pair, None, "AP_Rareness@10").table)


@pytest.mark.parametrize("option", [{"judge_rel": 2}, {"people": ["strict"]}])
def test_options_of_judges_need_judges(option):
    with pytest.raises(ValueError, match="is for judges"):
        report(RUNS, QRELS, ["AP"], **option)


# No, one, equal, and few values

RUN = {"q": {"a": 2.0, "b": 1.0}}
BEFORE = {"q": {"b": 2.0}}
FEW = {
    "nothing relevant": ({"a": RUN, "b": RUN}, {"q": {"a": 0}}),
    "one system": ({"a": RUN}, {"q": {"b": 1}}),
    "one query": ({"a": RUN, "b": BEFORE, "c": RUN}, {"q": {"b": 1}}),
    "two systems, one query": ({"a": RUN, "b": BEFORE}, {"q": {"b": 1}}),
    "equal runs": ({"a": RUN, "b": RUN, "c": RUN}, {"q": {"b": 1}}),
    "nothing relevant retrieved": ({"a": RUN, "b": RUN}, {"q": {"c": 1, "a": 0}}),
}


@pytest.mark.parametrize("what", FEW)
def test_no_sentence_has_a_number_that_is_none(what):
    sentences = everything(collect(*FEW[what], ["AP", "ASL@10", "nDCG@10", "R@10"]))
    assert sentences
    for text in (sentence.text for sentence in sentences):
        assert not re.search(r"\bnan\b|\binf\b|None|-0\.|  |0 systems|−0\.0000", text), text


SAYS = {
    "nothing relevant": "Both systems have the same AP on every query, 0.0000 on average.",
    "one system": "a, the only system here, has AP 0.5000.",
    "one query": "1 query is too few to say who could be the best by AP: at least 10 are needed.",
    "equal runs": "All 3 systems have the same AP on every query, 0.5000 on average.",
}


@pytest.mark.parametrize("what", SAYS)
def test_what_is_said_of_few_values(what):
    findings = collect(*FEW[what], ["AP"])
    assert verdict(findings)[0] == SAYS[what]
    text = " ".join(answers(findings).values())
    assert "more queries" not in text and "significantly" not in text
    if what == "nothing relevant":
        assert "nothing can be missed" in text
    if what == "one system":
        assert "median" not in text and "all systems" not in text


def test_a_measure_without_a_direction():
    only, _ = verdict(collect({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["Judged@10"]))
    assert only == "Judged@10 has no direction, so no system is the best by it."


def test_runs_that_a_judge_favours_are_named():
    """The sentences and the numbers of the first collection, as judges() has them."""
    graded = {q: {d: int(d in RUNS["poor"][q]) for d in of} for q, of in QRELS.items()}
    found = collect(RUNS, QRELS, ["AP"], judges={"favours": graded})
    expected = judges(QRELS, {"favours": graded}, RUNS, "AP", draws=10, test="t").favoured
    frame, sentences = found.favoured
    pd.testing.assert_frame_equal(*(of.drop(columns="person") for of in (frame, expected)))
    assert len(frame) == 5 and sentences
    assert answers(found)["Does a judge favour a run?"] == " ".join(sentences)
    before, link, *_ = about(found).answers()["Does a judge favour a run?"][0].parts
    assert before.endswith("favours ") and link == Link("favours", "collections", {})
    few = collect(dict(list(RUNS.items())[:3]), QRELS, ["AP"], judges={"own": graded})
    assert "at least 5 runs" in answers(few)["Does a judge favour a run?"]
    assert "Does a judge favour a run?" not in answers(collect(RUNS, QRELS, ["AP"]))
