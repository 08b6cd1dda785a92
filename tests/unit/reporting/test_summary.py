"""The headline and the answers of a report: every sentence follows from the numbers."""

from __future__ import annotations

import dataclasses
import html
import re
import urllib.parse
import warnings

import numpy as np
import pandas as pd
import pytest
from _reports import QRELS, QUERIES, RUNS

from pyterrier_asl import ranks, read_scores, report
from pyterrier_asl.reporting.collect import collect, collect_scores
from pyterrier_asl.reporting.findings import SystemFindings
from pyterrier_asl.reporting.summary import Summary, decimals, drawn_interval, interval, p_value

pytest.importorskip("jinja2", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore:.*(fewer than 8|only 10 topics|count as relevant)")


@pytest.fixture(scope="module")
def findings():
    return collect(RUNS, QRELS, ["ASL@1000", "AP", "nDCG@10"])


def rendered(name: str, findings: SystemFindings, measure: str | None) -> str:
    from pyterrier_asl.reporting.render import environment

    named = {ranking.name: ranking for ranking in findings.rankings}
    ranking = findings.first if measure is None else named[measure]
    template = environment().get_template(f"{name}.html.j2")
    return template.render(f=findings, about=Summary(findings, ranking))


def plain(markup: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", markup)).replace("−", "-").replace("\xa0", " ")


def verdict(findings: SystemFindings, measure: str | None = None) -> list[str]:
    """The sentences of the verdict as text."""
    from pyterrier_asl.reporting.render import sentences

    return [plain(each) for each in sentences(rendered("verdict", findings, measure))]


def answers(findings: SystemFindings, measure: str | None = None) -> dict[str, list[str]]:
    """The sentences that answer each question, with their links; the first is not folded."""
    page = rendered("answers", findings, measure)
    answered = re.findall(r"(?s)<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page)
    open_and_folded = {question: answer.split(" <details>") for question, answer in answered}
    return {
        question: [
            first,
            *(item for part in rest for item in re.findall("(?s)<li>(.*?)</li>", part)),
        ]
        for question, (first, *rest) in open_and_folded.items()
    }


def said_by(findings: SystemFindings, measure: str | None = None) -> dict[str, str]:
    """The answers as text, by question."""
    return {q: plain(" ".join(texts)) for q, texts in answers(findings, measure).items()}


def everything(findings: SystemFindings) -> list[str]:
    """All sentences by all measures."""
    return [
        sentence
        for ranking in findings.decisive
        for sentence in [
            *verdict(findings, ranking.name),
            *said_by(findings, ranking.name).values(),
        ]
    ]


# Generated values


def of_values(**values) -> SystemFindings:
    """Findings whose measures have these values, shape (S, Q); ASL is a cost."""
    frames = [
        pd.DataFrame(rows, [f"s{at}" for at in range(len(rows))])
        .rename_axis("name")
        .rename(columns="q{}".format)
        .melt(ignore_index=False, var_name="qid")
        .reset_index()
        .assign(measure="ASL@10" if name == "ASL" else name)
        for name, rows in values.items()
    ]
    names = ["ASL@10" if name == "ASL" else name for name in values]
    return collect_scores(read_scores(pd.concat(frames)), names)


NOISE = np.random.default_rng(5).normal(scale=0.01, size=(3, 20))
UP, DOWN = NOISE + [[0.3], [0.2], [0.1]], NOISE + [[0.1], [0.3], [0.2]]


def test_the_best_is_named_where_no_other_could_be():
    findings = of_values(AP=UP)
    first, second = verdict(findings)
    assert first == "s0 is the best of 3 systems by AP."
    means = findings.first.means
    assert second == (
        f"s0 has the best mean ({means[0]:.4f}, rank 1), followed by s1 ({means[1]:.4f}, rank 2)."
    )


def test_where_others_could_be_the_best_it_says_how_many():
    findings = of_values(AP=NOISE + [[0.3], [0.3], [0.1]])
    assert findings.first.intervals.possibly_best.tolist() == [True, True, False]
    first, second = verdict(findings)
    assert first == "2 of 3 systems could be the best by AP."
    assert "rank 1 to 2" in second
    assert verdict(of_values(AP=NOISE))[0] == "Each of the 3 systems could be the best by AP."


def test_no_sentence_says_possibly_first_nor_tests_by_another_procedure(findings):
    for sentence in [*everything(findings), *everything(of_values(AP=NOISE, RR=UP))]:
        assert not re.search("could be first|Holm|t-test|significant", sentence), sentence


def test_of_two_systems_the_headline_is_the_comparison():
    """The interval belongs to p: it excludes 0 if and only if the pair is ordered."""
    values = NOISE[:2] + [[0.3], [0.299]]
    findings = of_values(AP=values)
    frame = pd.DataFrame(values, ["s0", "s1"]).rename_axis("name")
    long = frame.rename(columns="q{}".format).melt(ignore_index=False, var_name="qid")
    board = ranks(read_scores(long.reset_index().assign(measure="AP")), measures="AP")
    [pair], (low, high) = board.pairs().itertuples(), board.difference_interval
    assert not pair.ordered and low < 0 < high
    numbers = f"{pair.difference:+.4f} AP [{low:.4f}, {high:.4f}], {p_value(pair.p)}"
    assert verdict(findings)[0] == f"{pair.a} against {pair.b}: {numbers}: no difference shown."
    assert said_by(findings)["Is it real?"] == (
        "Not shown: for the population of queries that these are a sample of, the 95% interval of "
        "the difference contains 0. The interval accounts for choosing a run after looking at the "
        "table, not for tuning on the same queries."
    )


def test_of_two_systems_the_headline_names_measures_that_say_more():
    """The difference of a cost is printed in units of the cost: lower is better."""
    findings = of_values(AP=NOISE[:2], ASL=50 - 100 * DOWN[:2])
    asl = findings.rankings[1].means
    first = verdict(findings)[0]
    assert ": no difference shown; by ASL@10 s1 is better (" in first
    assert first.endswith(f"({asl[1] - asl[0]:.1f}, p < .001).")
    assert verdict(findings, "ASL@10")[0].startswith("s1 is better than s0 by ASL@10: -")
    assert "; by" not in verdict(findings, "ASL@10")[0]


def test_of_two_systems_the_headline_names_measures_that_conflict():
    one = NOISE[:2] + [[0.3], [0.2]]
    findings = of_values(AP=one, RR=one[::-1], **{"P@5": one[::-1], "R@5": one[::-1]})
    first = verdict(findings)[0]
    assert first.startswith("s0 is better than s1 by AP: +0.")
    assert "; by RR, P@5 and 1 more s1 is better (+0." in first


def test_conflicts_between_any_two_measures_are_named():
    """The verdict names them even if the selected measure prefers neither."""
    other = UP[[1, 0, 2]]
    findings = of_values(AP=NOISE, RR=UP, ASL=10 - UP, **{"P@5": other, "R@5": other})
    for measure in ("AP", "RR", "P@5"):
        (sentence,) = [each for each in verdict(findings, measure) if "conflict" in each]
        a, b = ("s0", "RR and ASL@10"), ("s1", "P@5 and R@5")
        ranks_of_two = next(r for r in findings.rankings if r.name == measure).ranks[:2]
        if ranks_of_two[0] > ranks_of_two[1]:  # the better system comes first
            a, b = b, a
        assert sentence == (
            f"Measures conflict about 1 pair of systems: {a[0]} and {b[0]}: the first is better by "
            f"{a[1]}, the second by {b[1]}."
        )
    assert not any("conflict" in each for each in everything(of_values(AP=UP, RR=UP)))


def test_a_system_passed_over_is_explained():
    """The second system differs by .08 on each query, the third by .084 with a variance."""
    random = np.random.default_rng(0)
    base, wide = random.normal(0, 0.1, 20), random.normal(0, 0.3, 20)
    wide -= wide.mean()
    weak = 0.3 + base + random.normal(0, 0.02, 20)
    findings = of_values(AP=[0.5 + base, 0.42 + base, 0.416 + base + wide, weak])
    assert findings.first.candidates == [0, 2]
    (sentence,) = [each for each in verdict(findings) if "though" in each]
    ahead = findings.first.intervals.statistic[0]
    assert sentence == (
        "s1 (rank 2) could not be the best though s2 (rank 3) could: another system is ahead of s1 "
        f"by {ahead[1]:.1f} standard errors of the difference, but no system is ahead of s2 by "
        f"more than {ahead[2]:.1f}."
    )


def test_a_system_passed_over_by_its_critical_value_alone_is_explained():
    """Both have rivals ahead by as many standard errors, or the second by more."""
    random = np.random.default_rng(38)
    values = random.normal(size=12) + random.normal(size=(5, 12)) * [[1], [1], [0.3], [1], [0.3]]
    findings = of_values(AP=values + 0.3 * np.arange(5)[:, None])
    over, below, ahead, least = Summary(findings, findings.first).passed_over
    statistics = findings.first.intervals.statistic
    assert statistics[:, over].max() < statistics[:, below].max()
    assert ahead == least == ""
    (sentence,) = [each for each in verdict(findings) if "could not be" in each]
    assert sentence.endswith(
        f"could: each system is tested with its own critical value, and only s{over} has a rival "
        "above it."
    )


def test_a_candidate_below_another_system_is_explained():
    """The pair is ordered at .05, and systems are excluded from the best at .025."""
    random = np.random.default_rng(47)
    base = random.normal(0, 0.1, 20)
    second = 0.5 - 0.03 * random.integers(1, 4) + base + random.normal(0, 0.08, 20)
    values = [0.5 + base, second, 0.1 + base + random.normal(0, 0.05, 20)]
    findings = of_values(AP=values)
    ordered = findings.first.intervals
    assert ordered.possibly_best[1] and ordered.better[0, 1]
    (sentence,) = [each for each in verdict(findings) if "though" in each]
    assert sentence == (
        f"s1 could be the best though s0 is ordered above it ({p_value(ordered.p[0, 1])}): pairs "
        "are tested all together, but who could be the best is tested system by system, at level "
        "0.025."
    )
    assert "more queries" not in said_by(findings)["What next?"]


def test_a_difference_that_rounds_to_zero_has_no_sign():
    values = np.array([[0.5, 0.3] * 10, [0.3, 0.49999] * 10])
    assert ": 0.0000 AP [" in verdict(of_values(AP=values))[0]
    assert ": 0.0000 AP [" in verdict(of_values(AP=values[::-1]))[0]


def test_shared_best_means():
    rows = np.array([[0.1, 0.3] * 10, [0.3, 0.1] * 10, [0.0] * 20])
    second = verdict(of_values(AP=rows))[1]
    assert second == "2 systems share the best mean (0.2000, rank 1 to 2), s0 among them."


def test_shared_best_means_have_the_ranks_of_all_that_share_them():
    """Both are .2 better than the third system, which only the first is shown to be."""
    third = 0.3 + np.arange(20) * 0.01
    rows = np.array([third + 0.2, third + 0.2 + np.tile([0.5, -0.5], 10), third])
    findings = of_values(AP=rows)
    low, high = findings.first.intervals.low, findings.first.intervals.high
    assert findings.first.ranks.tolist() == [1, 1, 3] and high[0] != high[1]
    second = verdict(findings)[1]
    assert f", rank {low[:2].min()} to {high[:2].max()}), s0 among them" in second


def test_differences_by_rounding_are_no_differences():
    """The values of s1 are those of s0 but for rounding; s2 is better on half of the queries."""
    first = np.full(20, 0.3)
    findings = of_values(AP=[first, np.full(20, 0.1 + 0.2), first - np.tile([0.1, -0.05], 10)])
    assert said_by(findings)["Where?"].startswith("s0 is better than s2 on 10 queries and worse on")
    text = verdict(of_values(AP=[first, np.full(20, 0.1 + 0.2)]))
    assert text == ["Both systems have the same AP on every query, 0.3000 on average."]


def test_a_p_is_printed_on_the_side_of_alpha_where_it_is():
    assert p_value(0.0503) == "p = .0503" and p_value(0.0497) == "p = .050"
    assert p_value(0.0503, 0.1) == "p = .050" and p_value(0.1004, 0.1) == "p = .1004"


@pytest.mark.parametrize(("alpha", "level"), [(0.05, "95%"), (0.005, "99.5%")])
def test_the_level_is_printed_with_all_its_digits(alpha, level):
    values = of_values(AP=UP[:2])
    ranking = dataclasses.replace(values.first, alpha=alpha)
    findings = dataclasses.replace(values, alpha=alpha, rankings=[ranking])
    assert f"the {level} interval of the difference" in said_by(findings)["Is it real?"]


def test_the_interval_of_an_ordered_pair_is_printed_without_0():
    """An end of .00001 would be printed as 0.0000."""
    ranking = of_values(AP=UP[:2]).first
    low = interval(ranking, 0, 1)[0]
    near = of_values(AP=UP[:2] - [[low - 1e-5], [0]]).first
    assert near.better[0, 1] and decimals(near) == 5 and decimals(ranking) == 4


def test_values_of_any_size_are_printed():
    """No number of decimal places shows an interval of 1e-26."""
    findings = of_values(AP=1e-25 * UP[:2])
    assert findings.first.better[0, 1] and decimals(findings.first) == 4
    assert verdict(findings)[0].startswith("s0 is better than s1 by AP: 0.0000 [0.0000, 0.0000]")


def test_two_systems_have_no_median_system():
    findings = collect({name: RUNS[name] for name in ("good", "poor")}, QRELS, ["AP"])
    best = findings.names[findings.first.order[0]]
    assert f"For {best}, " in said_by(findings)["Why?"]
    assert not any("median system" in sentence for sentence in everything(findings))


def test_how_many_the_best_is_better_than():
    assert said_by(of_values(AP=UP))["Is it real?"].startswith(
        "s0 is better than each of the 2 other systems by AP (p ≤ 0.05, corrected for all 3 pairs)."
    )
    some = said_by(of_values(AP=NOISE + [[0.3], [0.3], [0.1]]))["Is it real?"]
    assert " is better than 1 of 2 other systems by AP" in some
    none = said_by(of_values(AP=NOISE))["Is it real?"]
    assert " is not shown to be better than any of the 2 other systems" in none


def test_the_comparison_that_would_decide_most_is_next():
    """The rival with the smallest p, and the number of queries that would order the pair."""
    noise = np.random.default_rng(2).normal(scale=0.1, size=(3, 20))
    noise -= noise.mean(axis=1, keepdims=True)
    findings = of_values(AP=noise + [[0.30], [0.27], [0.299]])
    first = answers(findings)["What next?"][0]
    ordered = findings.first.intervals
    assert findings.first.candidates == [0, 2, 1]
    assert plain(first).startswith("Test s0 against s1 on more queries: ")
    assert p_value(ordered.p[0, 1]) in plain(first)
    topics = int(re.search(r"about ([\d,]+) queries", plain(first)).group(1))
    # Standard errors fall with the square root of the number of queries.
    needed = 20 * (ordered.critical[-1] / ordered.statistic[0, 1]) ** 2
    assert needed <= topics < needed + 1
    assert "best mean" not in first


# Real rankings


def test_the_answers_are_to_every_question(findings):
    for ranking in findings.decisive:
        assert list(said_by(findings, ranking.name)) == [
            "Is it real?",
            "Where?",
            "Why?",
            "What is missed?",
            "What next?",
        ]
        best = findings.names[ranking.order[0]]
        assert f"{best} has the best mean (" in " ".join(verdict(findings, ranking.name))
        assert f" by {ranking.name}" in verdict(findings, ranking.name)[0]


def test_links_lead_to_what_the_page_holds(findings):
    known = {
        "a": findings.names,
        "b": findings.names,
        "query": QUERIES,
        "measure": [each.name for each in findings.rankings],
        "unjudged": ["yes"],
    }
    for ranking in findings.decisive:
        markup = rendered("verdict", findings, ranking.name)
        suggestions = answers(findings, ranking.name)["What next?"]
        links = re.findall('<a href="#(.*?)" data-state="(.*?)">', markup + " ".join(suggestions))
        assert len(links) > 3
        for section, state in links:
            assert section in ("pair", "query", "leaderboard")
            for name, value in urllib.parse.parse_qsl(html.unescape(state), strict_parsing=True):
                assert value in known[name]


def test_a_short_run_is_named():
    def top(run: dict, depth: int) -> dict:
        return {d: run[d] for d in sorted(run, key=lambda d: -run[d])[:depth]}

    short = {q: top(RUNS["good"][q], 12) for q in QUERIES}
    runs = {"deep": RUNS["fair"], "other": RUNS["poor"], "short": short}
    text = said_by(collect(runs, QRELS, ["ASL@1000", "AP"]))["Why?"]
    assert "short (12 documents) has rank" in text
    assert "at the median depth of the shallowest system" in text


def test_the_drawn_interval_has_the_ends_that_are_printed():
    """One end touches the border; 50 is no difference."""
    ranking = collect({name: RUNS[name] for name in ("good", "poor")}, QRELS, ["AP"]).first
    a, b = ranking.order[:2]
    low, high = interval(ranking, a, b)
    drawn = np.array(drawn_interval(ranking, a, b))
    values = np.array([low, high, ranking.means[a] - ranking.means[b]])
    assert low < values[2] < high and np.abs(drawn - 50).max() == pytest.approx(50)
    np.testing.assert_allclose(drawn - 50, 50 * values / np.abs(values).max())


def test_a_sentence_is_one_line_without_blanks_at_its_ends(findings):
    for texts in answers(findings).values():
        assert all(text == text.strip() and "  " not in text for text in texts)
    for sentence in verdict(findings):
        assert sentence == sentence.strip() and "  " not in sentence


# Several judges and collections

#: Another judge, who rejects every second relevant document and adds others.
STRICT = {q: {d: g * (int(d[1:]) % 2) for d, g in of.items()} for q, of in QRELS.items()}
OTHER = {q: {d: 1 for d in list(of)[2:5]} for q, of in QRELS.items()}


@pytest.mark.parametrize("systems", [2, 5])
def test_whichever_judge_is_right(systems):
    runs = dict(list(RUNS.items())[:systems])
    found = collect(runs, QRELS, ["AP"], judges={"strict": STRICT})
    board = ranks(runs, QRELS, "AP", judges={"strict": STRICT})
    pd.testing.assert_frame_equal(found.of_all.table, board.table)
    first, second = verdict(found)[:2]
    assert first.startswith("Whichever of the judges qrels, strict is right, ")
    assert second.startswith("By the qrels alone: ")
    best = board.overall["name"][board.overall["could_be_best"]].tolist()
    if systems > 2:
        one = (
            f"{best[0]} is the best of 5 systems" if len(best) == 1 else f"{len(best)} of 5 systems"
        )
        assert f" is right, {one}" in first
    else:
        assert ("is better than" in first) == board.pairs()["ordered"].iloc[0]


def test_over_several_collections():
    found = collect({"one": (RUNS, QRELS), "other": (RUNS, OTHER)}, None, ["AP"])
    board = ranks({"one": (RUNS, QRELS), "other": (RUNS, OTHER)}, measures="AP")
    pd.testing.assert_frame_equal(found.of_all.table, board.table)
    first, second = verdict(found)[:2]
    best = board.overall["name"][board.overall["could_be_best"]].tolist()
    one = f"{best[0]} is the best of 5 systems" if len(best) == 1 else f"{len(best)} of 5 systems"
    assert first.startswith(f"Over 2 collections {one}")
    assert second.startswith("In one: ")
    assert "collections" not in " ".join(verdict(collect(RUNS, QRELS, ["AP"])))
    with pytest.raises(ValueError, match="labels are of one collection"):
        collect({"one": (RUNS, QRELS), "other": (RUNS, OTHER)}, labels="x")


@pytest.mark.parametrize(
    ("others", "scope"),
    [({"judges": {"strict": STRICT}}, "By the qrels alone"), ({}, "In one")],
)
def test_what_is_about_the_first_collection_or_judge_says_so(others, scope):
    """The headline is about all; other measures and the answers are not."""
    pairs = (RUNS, QRELS) if others else ({"one": (RUNS, QRELS), "two": (RUNS, OTHER)}, None)
    findings = collect(*pairs, ["AP", "RR"], **others)
    assert verdict(findings, "RR")[0].startswith(f"{scope}: ")
    for measure in ("AP", "RR"):
        assert plain(rendered("answers", findings, measure)).lstrip().startswith(f"{scope}:")
    assert ":" not in verdict(collect(RUNS, QRELS, ["AP", "RR"]), "RR")[0]


def test_cautions_on_all_collections_are_on_the_page():
    """Warnings of a command are lost; readers of its page need them."""
    few = {q: QRELS[q] for q in list(QRELS)[:5]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = report({"one": (RUNS, QRELS), "few": (RUNS, few)}, measures=["AP"], rel=1)
    _, _, after = html.unescape(page.html).partition('id="collections"')
    collections = after.partition("</section>")[0]
    assert "there are only 15 topics: intervals may hold less often" in collections
    assert "collection 'few' has only 5 topics: it counts in overall" in collections


def test_each_collection_has_its_own_pool():
    renamed = [{f"{q}x": of for q, of in each.items()} for each in (*RUNS.values(), OTHER)]
    other = dict(zip(RUNS, renamed)), renamed[-1]
    found = collect({"one": (RUNS, QRELS), "other": other}, None, ["AP_Rareness@10"])
    board = ranks({"one": (RUNS, QRELS), "other": other}, None, "AP_Rareness@10")
    pd.testing.assert_frame_equal(found.of_all.table, board.table)


@pytest.mark.parametrize("option", [{"judge_rel": 2}, {"people": ["strict"]}])
def test_options_of_judges_need_judges(option):
    with pytest.raises(ValueError, match="is for judges"):
        collect(RUNS, QRELS, ["AP"], **option)


# No, one, equal, and few values

RUN = {"q": {"a": 2.0, "b": 1.0}}
BEFORE = {"q": {"b": 2.0}}


def scifact_like(systems: int = 3, queries: int = 30) -> tuple[dict, dict]:
    """One or two relevant documents per query, and none judged irrelevant."""
    random = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{q}-{d}": 1 for d in range(1 + (q % 7 == 0))} for q in range(queries)}
    runs: dict = {f"s{system}": {} for system in range(systems)}
    for system, run in enumerate(runs.values()):
        for q in range(queries):
            scores = random.normal(size=40) + 1.5 * system * (np.arange(40) < 2)
            run[f"q{q}"] = {f"d{q}-{d}": float(score) for d, score in enumerate(scores)}
    return runs, qrels


FEW = {
    "nothing relevant": ({"a": RUN, "b": RUN}, {"q": {"a": 0}}),
    "one system": ({"a": RUN}, {"q": {"b": 1}}),
    "one query": ({"a": RUN, "b": BEFORE, "c": RUN}, {"q": {"b": 1}}),
    "equal runs": ({"a": RUN, "b": RUN, "c": RUN}, {"q": {"b": 1}}),
    "nothing judged irrelevant": scifact_like(),
    "nothing relevant retrieved": ({"a": RUN, "b": RUN}, {"q": {"c": 1, "a": 0}}),
}


@pytest.mark.parametrize("what", FEW)
def test_no_sentence_has_a_number_that_is_none(what):
    sentences = everything(collect(*FEW[what], ["AP", "ASL@10", "nDCG@10", "R@10"]))
    assert sentences
    for sentence in sentences:
        assert not re.search(r"\bnan\b|\binf\b|None|-0\.|  |0 systems|−0\.0000", sentence), sentence


def test_nothing_relevant():
    (only,) = verdict(collect(*FEW["nothing relevant"], ["AP"]))
    assert only == (
        "Both systems have the same AP on every query, 0.0000 on average: no document has a grade "
        "of 1 or more."
    )
    text = said_by(collect(*FEW["nothing relevant"], ["AP"]))
    assert text == {
        "What is missed?": "No document has a grade of 1 or more, so there is nothing to miss."
    }


def test_one_system():
    findings = collect(*FEW["one system"], ["AP"])
    assert verdict(findings) == ["a, the only system here, has AP 0.5000."]
    text = " ".join(said_by(findings).values())
    assert "best" not in text and "median" not in text and "all systems" not in text


def test_one_perfect_system_has_no_hard_query():
    perfect = {qid: {d: 1.0 for d, grade in docs.items() if grade} for qid, docs in QRELS.items()}
    text = " ".join(said_by(collect({"a": perfect}, QRELS, ["ASL@10"])).values())
    assert "hardest" not in text and "ASL@10" not in text
    assert (
        "hardest query"
        in said_by(collect({"a": RUNS[next(iter(RUNS))]}, QRELS, ["ASL@10"]))["Where?"]
    )


def test_one_query():
    findings = collect(*FEW["one query"], ["AP"])
    first, second = verdict(findings)
    assert first == (
        "1 query is too few to say who could be the best by AP: at least 10 are needed."
    )
    assert second == "b has the best mean (1.0000), followed by a (0.5000)."
    assert "Is it real?" not in said_by(findings)


def test_equal_runs():
    findings = collect(*FEW["equal runs"], ["AP", "ASL@10"])
    for ranking in findings.rankings:
        (only,) = verdict(findings, ranking.name)
        assert only.startswith(f"All 3 systems have the same {ranking.name} on every query, ")
    text = " ".join(said_by(findings).values())
    assert "two best" not in text and "τ" not in text and "more queries" not in text


def test_two_systems_with_the_same_difference_on_each_query():
    qrels = {f"q{at}": {"d0": 1, "d1": 1, "x": 0} for at in range(12)}
    best = {qid: {"d0": 3.0, "d1": 2.0, "x": 1.0} for qid in qrels}
    worse = {qid: {"d0": 3.0, "x": 2.0, "d1": 1.0} for qid in qrels}
    text = said_by(collect({"a": best, "b": worse}, qrels, ["AP"]))
    assert text["Where?"] == (
        "a is better than b on 12 queries and worse on 0, by the same difference on each query."
    )
    assert not any("q0" in sentence for sentence in text.values())


def test_two_equal_systems_above_another():
    runs = {"a": RUNS["good"], "b": RUNS["good"], "c": RUNS["poor"]}
    findings = collect(runs, QRELS, ["AP"])
    assert verdict(findings)[0] == "2 of 3 systems could be the best by AP."
    text = said_by(findings)
    assert text["Where?"].startswith("a is better than c on ")
    assert text["What next?"].startswith("Look at a against c query by query.")
    assert "more queries" not in " ".join(everything(findings))


def test_no_document_judged_irrelevant():
    findings = collect(*FEW["nothing judged irrelevant"])
    text = said_by(findings)["Why?"]
    assert "The qrels contain relevant documents only" in text and "τ" not in text
    (sentence,) = verdict(findings, "R@1000")
    assert sentence == "All 3 systems have the same R@1000 on every query, 1.0000 on average."
    assert findings.first.name == "AP"
    assert verdict(findings)[0] == "s2 is the best of 3 systems by AP."


def test_a_measure_without_a_direction():
    (only,) = verdict(collect({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["Judged@10"]))
    assert only == "Judged@10 has no direction, so no system is the best by it."
