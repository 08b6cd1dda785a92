"""The verdict and the answers of a report: every sentence follows from the numbers."""

from __future__ import annotations

import html
import re
import urllib.parse

import numpy as np
import pytest
import scipy
from _reports import QRELS, QUERIES, RUNS

from pyterrier_asl.measures.names import NamedMeasure
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.reporting.findings import Findings
from pyterrier_asl.reporting.ranking import SystemRanking
from pyterrier_asl.reporting.summary import Summary, p_value

pytest.importorskip("jinja2", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")


@pytest.fixture(scope="module")
def findings():
    return collect(RUNS, QRELS, ["ASL@1000", "AP", "nDCG@10"])


def rendered(name: str, findings: Findings, measure: str | None) -> str:
    from pyterrier_asl.reporting.environment import environment

    named = {ranking.name: ranking for ranking in findings.rankings}
    ranking = findings.first if measure is None else named[measure]
    template = environment().get_template(f"{name}.html.j2")
    return template.render(f=findings, about=Summary(findings, ranking))


def plain(markup: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", markup))


def verdict(findings: Findings, measure: str | None = None) -> list[str]:
    """The sentences of the verdict as text."""
    from pyterrier_asl.reporting.environment import sentences

    return [plain(each) for each in sentences(rendered("verdict", findings, measure))]


def answers(findings: Findings, measure: str | None = None) -> dict[str, list[str]]:
    """The sentences that answer each question, with their links."""
    page = rendered("answers", findings, measure)
    answered = re.findall(r"(?s)<summary>(.*?)</summary><ul>(.*?)</ul>", page)
    return {question: re.findall("(?s)<li>(.*?)</li>", text) for question, text in answered}


def said_by(findings: Findings, measure: str | None = None) -> dict[str, str]:
    """The answers as text, by question."""
    return {q: plain(" ".join(texts)) for q, texts in answers(findings, measure).items()}


def everything(findings: Findings) -> list[str]:
    """All sentences by all measures."""
    return [
        sentence
        for ranking in findings.decisive
        for sentence in [
            *verdict(findings, ranking.name),
            *said_by(findings, ranking.name).values(),
        ]
    ]


# Made of numbers


def of_values(monkeypatch, **values) -> Findings:
    """Findings whose measures have these values, shape (S, Q), higher is better."""
    systems = len(next(iter(values.values())))
    names = [f"s{at}" for at in range(systems)]
    queries = {f"q{at}" for at in range(len(next(iter(values.values()))[0]))}
    qrels = {q: {"d": 1, "x": 0} for q in sorted(queries)}
    runs = {name: {q: {"d": 2.0, "x": 1.0} for q in qrels} for name in names}
    made = collect(runs, qrels, ["AP", "ASL@10"])
    rankings = []
    for name, rows in values.items():
        like = made.rankings[0] if name != "ASL" else made.rankings[1]
        rows = np.asarray(rows, dtype=float) * (1 if name != "ASL" else -1)
        named = NamedMeasure(name, like.named.measure)
        rankings.append(SystemRanking(named, rows, names))
    object.__setattr__(made, "rankings", rankings)
    for name in ("first", "decisive"):
        made.__dict__.pop(name, None)
    return made


NOISE = np.random.default_rng(5).normal(scale=0.01, size=(3, 20))


def test_the_best_is_named_where_no_other_could_be(monkeypatch):
    findings = of_values(monkeypatch, AP=NOISE + [[0.3], [0.2], [0.1]])
    first, second = verdict(findings)
    assert first == "s0 is the best of 3 systems by AP: none of the others could be."
    means = findings.first.means
    assert second == (
        f"s0 has the best mean ({means[0]:.4f}, rank 1), followed by s1 ({means[1]:.4f}, rank 2)."
    )


def test_where_others_could_be_the_best_it_says_how_many(monkeypatch):
    findings = of_values(monkeypatch, AP=NOISE + [[0.3], [0.3], [0.1]])
    ranks = findings.first.intervals
    assert ranks.possibly_best.tolist() == [True, True, False]
    first, second = verdict(findings)
    assert first == "20 topics do not say who is best by AP: 2 of 3 systems could be."
    assert second.endswith("2 systems could be first where the ranks of all are to hold at once.")
    assert "rank 1 to 2" in second


def test_conflicts_are_in_the_first_sentence(monkeypatch):
    findings = of_values(
        monkeypatch, AP=NOISE + [[0.3], [0.2], [0.1]], Other=NOISE + [[0.1], [0.3], [0.2]]
    )
    first = verdict(findings)[0]
    assert first.startswith("s0 is the best of 3 systems by AP: none of the others could be; ")
    assert first.endswith(
        "of the 2 systems that s0 is significantly better than, "
        "2 are significantly better than it by Other."
    )
    assert (
        "significantly better than it"
        not in verdict(
            of_values(
                monkeypatch, AP=NOISE + [[0.3], [0.2], [0.1]], Other=NOISE + [[0.3], [0.1], [0.2]]
            )
        )[0]
    )


def test_several_conflicting_measures_are_listed(monkeypatch):
    down = NOISE + [[0.1], [0.3], [0.1]]
    findings = of_values(monkeypatch, AP=NOISE + [[0.3], [0.2], [0.1]], B=down, C=down, D=down)
    assert "1 is significantly better than it by B, 1 by C and 1 by D." in verdict(findings)[0]


def test_shared_best_means(monkeypatch):
    rows = np.array([[0.1, 0.3] * 10, [0.3, 0.1] * 10, [0.0] * 20])
    second = verdict(of_values(monkeypatch, AP=rows))[1]
    assert second.startswith("2 systems share the best mean (0.2000, rank 1 to 2), s0 among them")


def test_who_differs_is_counted_by_pairs_not_by_letters(monkeypatch):
    """The best differs from the erratic system's neighbours, but not from it."""
    random = np.random.default_rng(1)
    rows = [
        0.5 + random.normal(scale=0.01, size=40),
        0.45 + random.normal(scale=0.01, size=40),
        0.44 + random.normal(scale=1.5, size=40),
        0.40 + random.normal(scale=0.01, size=40),
    ]
    findings = of_values(monkeypatch, AP=rows)
    assert findings.first.differs[findings.first.order[0]].sum() >= 1
    best = int(findings.first.order[0])
    beaten = int(findings.first.better[best].sum())
    text = said_by(findings)["Is it real?"]
    expected = {
        0: "not significantly better than any other system by AP",
        3: "significantly better than every other system by AP",
    }.get(beaten, f"significantly better by AP than {beaten} system")
    assert expected in text and "letter" not in text


def test_rankings_that_do_not_agree(monkeypatch):
    up = NOISE + [[0.3], [0.2], [0.1]]
    findings = of_values(monkeypatch, AP=up, ASL=up[::-1])
    text = said_by(findings)["Where?"]
    assert "rankings by AP and ASL have Kendall's τ = −1.00" in text
    assert "between these two s0 moves farthest, from rank 1 to 3" in text
    same = said_by(of_values(monkeypatch, AP=up, ASL=up))["Where?"]
    assert "rankings by AP and ASL are the same: Kendall's τ = 1.00." in same
    assert "moves" not in same


def test_rankings_are_not_compared_where_all_systems_are_equal(monkeypatch):
    findings = of_values(monkeypatch, AP=NOISE + [[0.3], [0.2], [0.1]], ASL=np.ones((3, 20)))
    assert "rankings" not in said_by(findings)["Where?"]


# Of real rankings


def test_the_answers_are_to_every_question(findings):
    for ranking in findings.decisive:
        assert list(said_by(findings, ranking.name)) == [
            "Is it real?",
            "Where?",
            "Why?",
            "What is missed?",
            "What to look at next",
        ]
        best = findings.names[ranking.order[0]]
        assert f"{best} has the best mean (" in " ".join(verdict(findings, ranking.name))
        assert f" by {ranking.name}" in verdict(findings, ranking.name)[0]
        text = said_by(findings, ranking.name)["Is it real?"]
        assert f"in {ranking.name};" in text
        assert "paired t-tests with Holm's correction over all pairs at 0.05" in text


def test_three_to_five_suggestions_all_with_links(findings):
    suggestions = answers(findings)["What to look at next"]
    assert 3 <= len(suggestions) <= 5
    for sentence in suggestions:
        ((section, state),) = re.findall('<a href="#(.*?)" data-state="(.*?)">', sentence)
        assert section in ("pair", "query")
        for name, value in urllib.parse.parse_qsl(html.unescape(state), strict_parsing=True):
            known = {
                "a": findings.names,
                "b": findings.names,
                "query": QUERIES,
                "measure": [each.name for each in findings.rankings],
            }
            assert value in known[name]


def test_links_on_systems_keep_the_measure_of_their_sentence(findings):
    for ranking in findings.decisive:
        markup = rendered("verdict", findings, ranking.name)
        states = re.findall('data-state="(.*?)"', markup)
        assert states
        for state in states:
            choices = dict(urllib.parse.parse_qsl(html.unescape(state)))
            assert choices["measure"] == ranking.name or "a" not in choices


def test_the_p_values_of_the_two_best(findings):
    ranking = findings.first
    a, b = ranking.order[:2]
    own = scipy.stats.ttest_rel(ranking.values[a], ranking.values[b])
    low, high = own.confidence_interval()
    text = said_by(findings)["Is it real?"]
    assert f"[{low:.1f}, {high:.1f}]".replace("-", "−") in text
    assert f"paired t-test of this pair alone {p_value(own.pvalue)}, corrected p" in text


def test_a_short_run_is_named():
    def top(run: dict, depth: int) -> dict:
        return {d: run[d] for d in sorted(run, key=lambda d: -run[d])[:depth]}

    short = {q: top(RUNS["good"][q], 12) for q in QUERIES}
    runs = {"deep": RUNS["fair"], "other": RUNS["poor"], "short": short}
    text = said_by(collect(runs, QRELS, ["ASL@1000", "AP"]))["Why?"]
    assert "short (12 documents) has rank" in text
    assert "at the median depth of the shallowest system" in text


def test_a_sentence_is_one_line_without_blanks_at_its_ends(findings):
    for texts in answers(findings).values():
        assert all(text == text.strip() and "  " not in text for text in texts)
    for sentence in verdict(findings):
        assert sentence == sentence.strip() and "  " not in sentence


def test_different_variances_are_named():
    wide = {q: RUNS["good"][q] if at % 2 else {"none": 1.0} for at, q in enumerate(QUERIES)}
    runs = {"a": RUNS["good"], "b": RUNS["good"], "wide": wide}
    for test, advice in (("t", "does not pool"), ("tukey-two-way", "prefer the test t")):
        assert advice in said_by(collect(runs, QRELS, ["R@40"], test=test))["Is it real?"]


# Nothing, one, equal, and few

RUN = {"q": {"a": 2.0, "b": 1.0}}
BEFORE = {"q": {"b": 2.0}}


def scifact_like(systems: int = 3, queries: int = 30) -> tuple[dict, dict]:
    """One or two relevant documents a query, and none judged irrelevant."""
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
        "All 2 systems have the same AP on every query, 0.0000 in the mean, so none is better than "
        "another: no document has a grade of 1 or more."
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


def test_one_query():
    findings = collect(*FEW["one query"], ["AP"])
    first, second = verdict(findings)
    assert first == "1 topic says nothing of who could be the best by AP: that takes 10."
    assert second == "b has the best mean (1.0000), followed by a (0.5000)."
    assert "Is it real?" not in said_by(findings)


def test_equal_runs():
    findings = collect(*FEW["equal runs"], ["AP", "ASL@10"])
    for ranking in findings.rankings:
        (only,) = verdict(findings, ranking.name)
        assert only.startswith(f"All 3 systems have the same {ranking.name} on every query, ")
        assert only.endswith("so none is better than another.")
    text = " ".join(said_by(findings).values())
    assert "two best" not in text and "τ" not in text and "Variances" not in text


def test_two_equal_systems_above_another():
    runs = {"a": RUNS["good"], "b": RUNS["good"], "c": RUNS["poor"]}
    text = said_by(collect(runs, QRELS, ["AP"]))["Is it real?"]
    assert "a against b: the same AP on every query, so there is nothing to test." in text


def test_no_document_judged_irrelevant():
    findings = collect(*FEW["nothing judged irrelevant"])
    text = said_by(findings)["Why?"]
    assert "No document is judged not relevant" in text and "τ" not in text
    (sentence,) = verdict(findings, "R@1000")
    assert sentence == (
        "All 3 systems have the same R@1000 on every query, 1.0000 in the mean, so none is better "
        "than another."
    )
    assert findings.first.name == "AP"
    assert verdict(findings)[0] == (
        "s2 is the best of 3 systems by AP: none of the others could be."
    )


def test_a_measure_without_a_direction():
    (only,) = verdict(collect({"a": RUN, "b": RUN}, {"q": {"a": 1}}, ["Judged@10"]))
    assert only == ("Judged@10 says nothing of better or worse, so no system is the best by it.")
