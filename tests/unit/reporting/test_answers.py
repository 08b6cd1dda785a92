"""The verdict and the answers of a report: every sentence follows from the numbers."""

import dataclasses
import html
import re
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from _reports import EVIL, QRELS, RUNS, TWO
from brute_force import ranking
from scipy import stats

from pyterrier_asl import compare, judges, ranks, read_scores, report
from pyterrier_asl.measures.parsing import NamedMeasure, parse_measure
from pyterrier_asl.reporting.answers import Answers
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.reporting.findings import Findings, SystemRanking

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def findings():
    return collect(RUNS, QRELS, ["ASL@1000", "AP", "nDCG@10"])


def about(findings: Findings, measure: str | None = None) -> Answers:
    named = {ranking.name: ranking for ranking in findings.rankings}
    return Answers(findings, findings.first if measure is None else named[measure])


def verdict(findings: Findings, measure: str | None = None) -> list[str]:
    return about(findings, measure).verdict()


def answers(findings: Findings, measure: str | None = None) -> dict[str, str]:
    return {q: " ".join(texts) for q, texts in about(findings, measure).answers().items()}


TWENTY = {f"q{at}": {"d1": 1, "d3": 0} for at in range(20)}


@cache
def some_systems(number: int, alpha: float) -> Findings:
    run = {q: {"d1": 1.0, "d2": 2.0} for q in TWENTY}
    return collect({f"s{at}": run for at in range(number)}, TWENTY, ["AP"], alpha=alpha)


def scores_of(values, name: str):
    """Scores of systems by query, shape (S, Q)."""
    frame = pd.DataFrame(values, [f"s{at}" for at in range(len(values))]).rename_axis("name")
    long = frame.rename(columns="q{}".format).melt(ignore_index=False, var_name="qid")
    return long.reset_index().assign(measure=name)


def of_values(alpha: float = 0.05, **values) -> Findings:
    """Findings whose measures have these values, shape (S, Q); ASL is a cost."""
    named = {"ASL@10" if name == "ASL" else name: np.asarray(of) for name, of in values.items()}
    systems = some_systems(len(next(iter(named.values()))), alpha)
    rankings = [
        SystemRanking(
            NamedMeasure(name, parse_measure(name)), of, systems.names, name != "ASL@10", alpha
        )
        for name, of in named.items()
    ]
    compared = None
    if systems.comparison is not None:
        scores = read_scores(pd.concat(scores_of(of, name) for name, of in named.items()))
        compared = compare(scores, alpha=alpha)
    return dataclasses.replace(systems, rankings=rankings, comparison=compared)


NOISE = np.random.default_rng(5).normal(scale=0.01, size=(3, 20))
UP = NOISE + [[0.3], [0.2], [0.1]]


# Three or more systems


def test_the_detectable_difference_is_at_the_level_of_the_report():
    usual, other = (of_values(alpha, AP=UP).first.detectable for alpha in (0.05, 0.2))
    quantiles = [stats.t.isf(alpha / 2, 19) + stats.t.ppf(0.8, 19) for alpha in (0.05, 0.2)]
    assert (other / usual).tolist() == pytest.approx([quantiles[1] / quantiles[0]] * 3)


def test_measures_that_order_pairs_the_other_way_are_named():
    findings = of_values(AP=UP, RR=UP[[1, 0, 2]], ASL=10 - UP)
    text = "By RR 1 pair of systems differs significantly the other way, such as s0 and s1."
    assert text in answers(findings)["Is it real?"]
    none = "No pair of systems differs significantly the other way by another measure."
    assert none in answers(of_values(AP=UP, ASL=10 - UP))["Is it real?"]
    assert none not in answers(findings)["Is it real?"] + answers(of_values(AP=UP))["Is it real?"]


def test_measures_with_equal_values_are_marked():
    findings = of_values(AP=UP, RR=UP * (1 + 1e-12), ASL=10 - UP)
    ap, rr, asl = findings.rankings
    assert findings.equal_to(ap) == [rr] and findings.equal_to(asl) == []
    page = report(TWO | {"c": RUNS["good"]}, QRELS, ["ASL@50", "ASL(g=60)@50", "AP"]).html
    assert page.count("equal here to ASL@50") == 1 and page.count("equal here to") == 2


def test_how_many_the_best_is_better_than():
    text = answers(of_values(AP=UP))["Is it real?"]
    assert text.startswith("s0 is significantly better than 2 of the 2 other systems by AP")
    assert "better than none of the 2" in answers(of_values(AP=NOISE))["Is it real?"]


# Two systems


def test_the_headline_of_two_systems_is_the_comparison():
    for rows in (UP[:2], NOISE[:2] + 0.3):
        row = compare(read_scores(scores_of(rows, "AP"))).table.iloc[0]
        [text] = verdict(of_values(AP=rows))
        word = "worse" if row["difference"] < 0 else "better"
        says = f"s1 is significantly {word} than s0 by AP: "
        if row["p"] > 0.05:
            says = "No significant difference of s1 from s0 by AP: "
        says += "{difference:+.4f}, 95 % interval [{ci_low:+.4f}, {ci_high:+.4f}]".format(**row)
        assert text.replace("−", "-").startswith(says)
    assert verdict(of_values(AP=UP[:2], ASL=10 - UP[:2]), "ASL@10")[0].startswith(
        "s1 is significantly worse than s0 by ASL@10: +0."
    )


# Real rankings

QUESTIONS = "Is it real?", "What is missed by all?", "What could unjudged documents change?"


@pytest.mark.parametrize("depth", [12, 1000])
def test_what_all_systems_miss(depth):
    """By loops over the documents; several queries have as many missed ones."""
    runs = {name: RUNS[name] for name in ("poor", "1")}
    tops = [{q: ranking(of, QRELS[q])[:depth] for q, of in run.items()} for run in runs.values()]
    lost = {
        q: [d for d, g in of.items() if g and all(d not in map(str, top[q]) for top in tops)]
        for q, of in QRELS.items()
    }
    number, most = sum(map(len, lost.values())), max(lost, key=lambda q: len(lost[q]))
    text = answers(collect(runs, QRELS, ["AP"], cutoff=depth))[QUESTIONS[1]]
    assert 0 < len(lost[most]) < number < 80
    assert text.startswith(f"{number} of 80 relevant documents ({number / 80:.0%}) are missed")
    assert text.endswith(f"to depth {depth}, {len(lost[most])} of them of query {most}.")


def bounds_of_precision(a: dict, b: dict, qrels: dict, k: int) -> tuple[float, float]:
    """The least and the greatest mean difference of P@k, b less a: by the weight of each label."""
    low = high = 0.0
    for q, judged in qrels.items():
        tops = [[str(d) for d in ranking(run[q], judged)[:k]] for run in (a, b)]
        for d in {*tops[0], *tops[1]}:
            weight = ((d in tops[1]) - (d in tops[0])) / k
            fixed = judged[d] > 0 if d in judged else None
            low += weight * fixed if fixed is not None else min(weight, 0)
            high += weight * fixed if fixed is not None else max(weight, 0)
    return low / len(qrels), high / len(qrels)


@pytest.mark.parametrize("systems", [2, 5])
def test_what_unjudged_documents_could_change(systems):
    """Of the three best by the measure that decides, which are not those of the first names."""
    runs = {name: RUNS[name] for name in [EVIL, "fair", "1", "good", "poor"][-systems:]}
    qrels = {
        q: {d: of[d] for d in list(of)[2 * (at % 3 == 1) :]}
        for at, (q, of) in enumerate(QRELS.items())
    }
    found = collect(runs, qrels, ["P@3", "Judged@10"])
    best = [found.names[at] for at in sorted(found.first.order[:3])]
    pairs = list(combinations(best, 2))
    ends = [bounds_of_precision(runs[a], runs[b], qrels, 3) for a, b in pairs]
    opens = [p for p, (low, high) in zip(pairs, ends) if low <= 1e-12 and high >= -1e-12]
    turned = len(opens)
    assert [(found.names[a], found.names[b]) for a, b in found.todo["P@3"]] == opens
    first, *rest = about(found).answers()[QUESTIONS[2]]
    which = "the difference in P@3."
    if systems > 2:
        which = f"{turned} of 3 differences in P@3 between the best systems by P@3."
        assert 0 < turned < 3
    assert first == f"Some labels of them would reverse {which}"
    for (a, b), (low, high), text in zip(pairs, ends, rest):
        assert text.startswith(f"P@3: {b} - {a} = ")
        [ends] = re.findall(r"bounds (\S+) to (\S+):", text)
        assert [*map(float, ends)] == pytest.approx([low, high], abs=6e-5)
    only = {q: {d: g for d, g in of.items() if g} for q, of in qrels.items()}
    assert QUESTIONS[2] not in answers(collect(runs, only, ["P@3"]))


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


@pytest.mark.parametrize("systems", [2, 5])
def test_for_all_labels_of_unjudged_documents(systems):
    runs = dict(list(RUNS.items())[:systems])
    page = report(runs, QRELS, ["AP@5", "RR"], unjudged=True)
    found, boards = page.findings, [ranks(runs, QRELS, "AP@5", unjudged=u) for u in (True, False)]
    pd.testing.assert_frame_equal(found.of_all.table, boards[0].table)
    assert found.of_all.p.to_numpy().tolist() != boards[1].p.to_numpy().tolist()
    first, second = verdict(found)[:2]
    scope = "Whatever the labels of unjudged documents are"
    assert first == f"{scope}: {boards[0].sentences()[0]}" and f"{scope}, by AP@5" in page.html
    assert second.startswith("With unjudged documents as not relevant: ")
    assert "holds for all labels of the unjudged documents" in page.html
    assert collect(runs, QRELS, ["AP@5"]).of_all is None


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
    found = collect(*FEW[what], ["AP", "ASL@10", "nDCG@10", "R@10"])
    by_measure = [Answers(found, each) for each in found.decisive]
    sentences = [text for each in by_measure for text in each.verdict()]
    sentences += [text for each in by_measure for of in each.answers().values() for text in of]
    assert len(sentences) >= 8
    for text in sentences:
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
    assert "significantly" not in text
    if what == "nothing relevant":
        assert "nothing can be missed" in text
    if what == "one system":
        assert "all systems" not in text and "What is missed here?" in answers(findings)


def test_runs_that_a_judge_favours_are_named():
    """The sentences and the numbers of the first collection, as judges() has them."""
    graded = {q: {d: int(d in RUNS["poor"][q]) for d in of} for q, of in QRELS.items()}
    found = collect(RUNS, QRELS, ["AP"], judges={"favours": graded})
    expected = judges(QRELS, {"favours": graded}, RUNS, "AP", draws=10, test="t").favoured
    frame, sentences = found.favoured
    pd.testing.assert_frame_equal(*(of.drop(columns="person") for of in (frame, expected)))
    assert len(frame) == 5 and sentences
    page = html.unescape(report(RUNS, QRELS, ["AP"], judges={"favours": graded}).html)
    assert all(f"<li>{text}</li>" in page for text in sentences)
    few = collect(dict(list(RUNS.items())[:3]), QRELS, ["AP"], judges={"own": graded})
    assert "at least 5 runs" in few.favoured[1][0]
    assert collect(RUNS, QRELS, ["AP"]).favoured[1] == []


def test_a_page_has_the_agreement_of_every_two_judges():
    """Of the qrels and two others; of one other it is in a sentence."""
    draw = np.random.default_rng(8)
    others = {
        name: {
            q: {d: int(g ^ bool(draw.random() < wrong)) for d, g in of.items()}
            for q, of in QRELS.items()
        }
        for name, wrong in {"m": 0.1, "n": 0.3}.items()
    }
    among = judges(QRELS, others, RUNS, "AP", draws=10, test="t").among
    kappa = among[among["agreement"] == "kappa"].set_index(["judge", "other"])["value"]
    page = report(RUNS, QRELS, ["AP"], judges=others).html
    assert page.count("<h3>Agreement of every two judges, ") == 2  # kappa and tau
    cells = [f"{kappa['n', 'reference']:.3f}", f"{kappa['n', 'm']:.3f}", "–"]
    assert cells[0] != cells[1]
    row = "".join(f'<td class="num">{cell}</td>' for cell in cells)
    assert f'<tr><th scope="row">n</th>{row}</tr>' in page
    assert "every two judges" not in report(RUNS, QRELS, ["AP"], judges={"m": others["m"]}).html


def test_notes_name_their_collection():
    notes = collect({"one": (TWO, QRELS), "other": (TWO, QRELS)}, None, ["AP"]).notes
    assert [note.partition(": 40 of 120 judged")[0] for note in notes] == ["one", "other"]
