"""Documented limits: exactly at the limit, and one beside it."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import pyterrier_asl as asl
from pyterrier_asl.analysis.incomplete_judgements import _samples
from pyterrier_asl.assessment import verdicts
from pyterrier_asl.assessment.favoured import favour_sentences
from pyterrier_asl.reporting.answers import Answers
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.statistics.intervals import Interval

pytestmark = pytest.mark.filterwarnings("ignore")

FIRST, SECOND = {"a": 2, "n": 1}, {"n": 2, "a": 1}


def names(size: int) -> list[str]:
    return [f"q{number}" for number in range(size)]


def qrels(size: int) -> dict[str, dict[str, int]]:
    return {qid: {"a": 1, "n": 0} for qid in names(size)}


def mixed(size: int, wins: int) -> dict[str, dict[str, int]]:
    """A run with the relevant document first in so many queries, and second in the others."""
    return {qid: FIRST if number < wins else SECOND for number, qid in enumerate(names(size))}


def two(size: int, wins: int = 1) -> dict[str, Any]:
    return {"live": mixed(size, 0), "new": mixed(size, wins)}


def said(call: Callable[[], Any]) -> str:
    """What a call returns, warns of, or is refused with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = str(call())
        except ValueError as error:
            result = f"refused: {error}"
    return " ".join(" ".join([result, *(str(warning.message) for warning in caught)]).split())


def ranks(size: int) -> Any:
    return asl.ranks(two(size, 3), qrels(size), "RR")


def tracks(*sizes: int) -> dict[str, Any]:
    return {f"t{size}": (two(size, 3), qrels(size)) for size in sizes}


def judges(runs: int, size: int, **options: Any) -> Any:
    systems = {f"r{number}": mixed(size, number + 1) for number in range(runs)}
    machine = {q: {"a": 1, "n": int(n % 5 == 4)} for n, q in enumerate(names(size))}
    return asl.judges(qrels(size), {"m": machine}, systems, "RR", draws=20, test="t", **options)


def audit(size: int, differing: int = 5, runs: int = 2) -> Any:
    machine = {**qrels(size), **{f"x{n}": {"a": 1, "n": 0} for n in range(20)}}
    systems = {
        f"r{number}": mixed(size, differing - (number > 1))
        | {f"x{n}": FIRST if n % 3 else SECOND for n in range(20)}
        for number in range(runs)
    }
    systems["r0"] = dict.fromkeys(machine, SECOND)
    return asl.audit(systems, qrels(size), "RR", machine)


def of_scores(queries: int) -> Any:
    """A run whose scores are all equal, with two documents for each query and five with one."""
    run = {q: {"a": 1.0, "d": 1.0} for q in names(queries)}
    run |= {f"x{n}": {"a": 1.0} for n in range(5)}
    return asl.evaluate({"run": run}, dict.fromkeys(run, {"a": 1, "n": 0}), "RR")


def with_own_id(rank: int) -> Any:
    """A run of two queries that has the query itself at a rank."""
    run = {qid: {f"d{n}": float(-n) for n in range(1, 7)} | {"a": -9.0} for qid in names(2)}
    run = {qid: docs | {qid: 0.5 - rank} for qid, docs in run.items()}
    return asl.evaluate({"run": run}, qrels(2), "RR")


def favoured(p: float) -> str:
    """What is said at alpha = .03 of a run that a judge favours with this p."""
    row = {"judge": "m", "run": "r", "measure": "AP", "favour": 0.1, "p": p, "judged": 0.5}
    return str(favour_sentences(pd.DataFrame([row | {"queries": 20}]), 0.03))


#: A limit -> a call by a number, the number at the limit, the number on the other side, and what is
#: said at the first and not at the second.
LIMITS: dict[str, tuple[Callable[[int], Any], int, int, str]] = {
    "topics of ranks": (ranks, 9, 10, "refused: .*at least 10 topics"),
    "few topics of ranks": (ranks, 24, 25, "there are only .* topics"),
    "a collection of ranks": (lambda n: asl.ranks(tracks(20, n), None, "RR"), 9, 10, "no table"),
    "a single topic": (lambda n: asl.ranks(tracks(20, n), None, "RR"), 1, 2, "a single topic"),
    "one query": (lambda n: asl.compare(two(n), qrels(n), "RR"), 1, 2, "there is only one query"),
    "runs of a favour": (lambda n: judges(n, 10), 4, 5, "no test, because there are"),
    "queries of a favour": (lambda n: judges(6, n), 9, 10, "no test, because there are"),
    "queries of a judge": (lambda n: judges(6, n), 9, 10, "too narrow"),
    "queries of an audit": (audit, 9, 10, "queries: below 10"),
    "differing values": (lambda n: audit(20, n), 4, 5, "fewer than 5 of people's values"),
    "equal scores, also of one document": (of_scores, 10, 9, "has the same score"),
    "rank of the query itself": (with_own_id, 3, 4, "the query's own id"),
    "p of a favour": (lambda n: favoured(n / 100), 3, 4, "m favours 'r' by 0.1"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_where_it_is_said_to_be(name):
    call, there, beside, sentence = LIMITS[name]
    assert re.search(sentence, said(lambda: call(there)))
    assert not re.search(sentence, said(lambda: call(beside)))


# Levels of significance: "p at most alpha". With 6 wins of 6 queries the sign test has p = 1/32;
# of 4 wins and 6 ties 22 of 1,024 vectors of signs give as large a difference.

DEEPER = {"n": 3, "m": 2, "a": 1}


def always_better(size: int) -> dict[str, Any]:
    """A run that is better in every query, by two different amounts."""
    worse = {qid: DEEPER if number % 2 else SECOND for number, qid in enumerate(names(size))}
    return {"live": worse, "new": mixed(size, size)}


def compared(alpha: float) -> Any:
    return asl.compare(always_better(6), qrels(6), "RR", test="sign", alpha=alpha)


def ranked(alpha: float) -> Any:
    return asl.ranks(two(10, 4), qrels(10), "RR", alpha=alpha)


def page(alpha: float) -> str:
    found = collect(two(40, 9), qrels(40), "RR", alpha=alpha)
    return Answers(found, found.first).verdict()[0]


def p_of_t() -> float:
    return float(asl.compare(two(40, 9), qrels(40), "RR").table["p"][0])


SIGNIFICANT: dict[str, tuple[Callable[[float], Any], float]] = {
    "sentences": (lambda a: "significantly better" in compared(a).sentences()[0], 1 / 32),
    "LaTeX": (lambda a: "}$^{+}$" in compared(a).to_latex(), 1 / 32),
    "ranks": (lambda a: ranked(a).better.to_numpy().any(), 22 / 1024),
    "page": (lambda a: "new is significantly better" in page(a), p_of_t()),
}


@pytest.mark.parametrize("name", SIGNIFICANT)
def test_p_at_most_alpha_is_significant(name):
    shows, p = SIGNIFICANT[name]
    assert shows(p) and not shows(p * 0.999)


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("RR better by .25", "FAIL"),  # the means are .5 and .75
        ("RR better by .2501", "PASS"),
        ("RR better by 50%", "FAIL"),
        ("RR better by 50.01%", "PASS"),
        ("RR worse by .25", "PASS"),
        ("sgnLP better by .5", "FAIL"),
        ("sgnLP better by .501", "PASS"),
        ("RR possibly worse by .01 p<.05", "PASS"),
        ("RR possibly worse by 1% p<.05", "PASS"),
    ],
)
def test_amounts_are_at_least(condition, outcome):
    found = asl.compare(two(40, 20), qrels(40), conditions=condition)
    assert found.verdicts[0].outcome.name == outcome


@pytest.mark.parametrize(("differences", "printed"), [(9, 9), (10, 10), (11, 10)])
def test_an_audit_prints_ten_answers(differences, printed):
    found = audit(12, runs=differences + 1)
    texts = [part.text for part in found.parts()]
    assert len(found.headlines) == differences
    assert sum(text in texts for text in found.headlines) == printed


def test_the_plan_of_an_audit_is_reached_exactly():
    """Enough are so many queries that the widest interval is at most the width, and no fewer."""
    ids = [f"x{n}" for n in range(40)]
    machine = {qid: {"a": n % 3 == 0, "n": 1} for n, qid in enumerate(ids)}
    runs = {"run": dict.fromkeys(ids, FIRST)}

    def plan(width: float, **options: Any) -> Any:
        return asl.plan_audit(runs, options.pop("people", None), "RR", machine, width, **options)

    first = plan(0.3)
    assert plan(first.widths[2, first.queries - 3]).queries == first.queries
    assert plan(first.widths[2, first.queries - 3] * 0.9999).queries == first.queries + 1
    turned = {qid: machine[qid] for qid in reversed(ids)}
    again = asl.plan_audit(runs, None, "RR", turned, 0.3)
    assert again.drawn == first.drawn, "the order of the judgements draws no other queries"
    assert plan(0.3, seed=1).drawn != first.drawn
    people = {qid: machine[qid] for qid in ids[:8]}
    found = plan(9, people=people)
    while found.queries < len(people):
        found = plan(found.widths[2, found.queries - 3] * 0.9999, people=people)
    assert found.queries == len(people), "as many as people have judged are enough"
    assert "None is drawn" in found.sentences()[0] and not found.pairs


def test_shares_round_to_the_nearest_number():
    """Of 7 queries .1 are at least one, .5 are 3.5 and .8 are 5.6."""
    drawn = _samples(7, [0.1, 0.5, 0.8, 1.0], draws=1, seed=0, progress=False)
    assert [int(kept.sum()) for _, kept in drawn] == [1, 4, 6, 7]


def test_the_seed_reaches_the_favours():
    """Of more queries than can have all their sign vectors tested."""
    first, again, other = (judges(6, 20, seed=seed).favoured["p"].tolist() for seed in (0, 0, 7))
    assert first == again != other


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(-0.05, 0.1, "WITHIN"), (-0.0501, 0.1, "UNDECIDED"), (-0.2, -0.05, "UNDECIDED")]
    + [(-0.2, -0.0501, "BELOW")],
)
def test_the_human_range_ends_exactly_at_its_margin(low, high, verdict):
    found = verdicts._verdict(Interval((low + high) / 2, low, high))
    assert found == getattr(verdicts, verdict)
