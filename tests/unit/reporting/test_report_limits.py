"""Limits from which on a page shows a number in another way, or not at all, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from _reports import QRELS, QUERIES, a_run

from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.io.texts import Texts
from pyterrier_asl.measures.parsing import NamedMeasure, parse_measure
from pyterrier_asl.reporting.answers import shown_share
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.reporting.contents import search_length_classes
from pyterrier_asl.reporting.findings import SystemRanking, deciding
from pyterrier_asl.reporting.page import Page, json_numbers
from pyterrier_asl.reporting.render import breakable
from pyterrier_asl.scoring.search_length import bin_ends

pytest.importorskip("jinja2")


def ranking(values, measure: str = "AP", up: bool | None = True) -> SystemRanking:
    values = np.asarray(values, dtype=np.float64)
    names = [f"s{n}" for n in range(len(values))]
    return SystemRanking(NamedMeasure(measure, parse_measure(measure)), values, names, up)


@pytest.mark.parametrize(
    ("value", "sign", "shown"),
    [(0.5, "", "0.5000"), (0.5, "+", "+0.5000"), (-0.5, "+", "−0.5000"), (-1e-9, "+", "0.0000")],
)
def test_values_have_the_sign_that_is_wanted_and_0_has_none(value, sign, shown):
    assert ranking([[0.5], [0.25]]).shown(value, sign) == shown


@pytest.mark.parametrize(("largest", "places"), [(9.9, 4), (10, 1), (-10, 1), (0, 4)])
def test_values_from_10_on_have_one_decimal(largest, places):
    assert ranking([[largest], [0.5]]).decimals == places


@pytest.mark.parametrize(
    ("up", "order"), [(True, [1, 2, 0]), (False, [0, 1, 2]), (None, [1, 2, 0])]
)
def test_equal_systems_stay_in_their_order_and_share_a_rank(up, order):
    shown = ranking([[1, 1], [2, 4], [4, 2]], up=up)
    assert shown.order.tolist() == order
    assert shown.ranks.tolist() == ([1, 2, 2] if up is False else [3, 1, 1])
    assert shown.medians.tolist() == [2, 2]
    assert shown.spreads.tolist() == pytest.approx([np.sqrt(7 / 3), np.sqrt(7 / 3)])
    assert ranking([[1, 3]]).spreads.tolist() == [0, 0]


@pytest.mark.parametrize(("up", "hardest"), [(True, [1, 2, 0]), (False, [0, 2, 1])])
def test_the_hardest_query_is_that_of_the_worst_median(up, hardest):
    assert ranking([[0.9, 0.1, 0.5], [0.7, 0.3, 0.5]], up=up).hardest_first == hardest


def test_the_first_measure_with_a_direction_decides():
    count, first, second = (ranking([[1.0]], up=up) for up in (None, False, True))
    assert deciding([count, first, second]) is first and deciding([count]) is count


def test_differences_of_rounding_are_none():
    assert ranking([[0.3, 0.5], [0.1 + 0.2, 0.5]]).are_equal and ranking([[0.5]]).are_equal
    assert not ranking([[0.1 + 0.2, 0.5], [0.3, 0.5], [0.3, 0.4]]).are_equal


@pytest.mark.parametrize(
    ("means", "up", "bold"),
    [
        ([0.30001, 0.30004, 0.2], True, [True, True, False]),
        ([0.30001, 0.30006, 0.2], True, [False, True, False]),
        ([12.04, 12.01, 30], False, [True, True, False]),
        ([12.04, 12.06, 30], None, [False, False, False]),
        ([0.3], True, [False]),
    ],
)
def test_values_that_are_shown_as_the_best_is_are_bold(means, up, bold):
    assert ranking([[mean] for mean in means], up=up).bold == bold


# Retrieved documents


def test_search_lengths_at_the_ends_of_bins_are_in_them():
    ranks = {"q1": 1, "q2": 2, "q3": 3, "q4": 4, "q5": 10}
    run = {q: {"d": -rank, **{f"x{n}": -n for n in range(1, rank)}} for q, rank in ranks.items()}
    qrels = dict.fromkeys([*ranks, "q6"], {"d": 1})
    found = search_length_classes(Evaluation.of({"r": run}, qrels), rel=1, cutoff=10)
    assert found == {"1": [1], "2–3": [2], "4–10": [2], "not retrieved": [1]}


@pytest.mark.parametrize("depth", [1, 10, 15, 1000, 10**6])
def test_bins_of_search_lengths_are_logarithmic_and_end_at_the_depth(depth):
    ends = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    assert bin_ends(depth) == [*(end for end in ends if end < depth), depth]


# Numbers as text


def test_numbers_for_scripts_have_nine_digits_and_none_for_what_is_no_number():
    shown = json_numbers([1.0, 0.12345678987, float("nan"), float("inf"), -2.5])
    assert shown == [1, 0.12345679, None, None, -2.5] and isinstance(shown[0], int)


# What a page has of many systems


def some_findings(systems: int, measures: list[str], **options):
    runs = {f"s{n}": a_run(n, QUERIES, documents=20, noise=2.0) for n in range(systems)}
    return collect(runs, QRELS, measures, **options)


@pytest.mark.filterwarnings("ignore")
def test_the_best_two_systems_are_compared_deeply_and_the_best_three_at_the_top():
    findings = some_findings(7, ["AP", "AP@101", "P@5", "NumRet"])
    best = sorted(findings.first.order[:3].tolist())
    three = {(a, b) for n, a in enumerate(best) for b in best[n + 1 :]}
    two = {tuple(sorted(findings.first.order[:2].tolist()))}
    pairs = {name: set(of) for name, of in findings.bounds.items()}
    assert pairs == {"AP": three, "AP@101": two, "P@5": three}
    for name, of in (("AP", "AP@100"), ("P@5", "P@5")):
        assert {pair.difference.measure for pair in findings.bounds[name].values()} == {of}
    page = Page(findings, Texts())
    assert page.depths == [10, 100, 1000] and page.left_out == ""
    assert Page(replace(findings, cutoff=100), Texts()).depths == [10, 100]
    for pair in page.data()["bounds"]["AP"].values():
        assert "Bounds need a cut-off: these are of AP@100." in pair["says"]


# Text


def test_texts_of_templates():
    shares = {0: "0%", 0.004: "<1%", 0.126: "13%", 0.9993: ">99%", 1: "100%", math.nan: "–"}
    assert [shown_share(share) for share in shares] == list(shares.values())
    assert breakable("AP_R<a>(x)@5") == "AP_<wbr>R&lt;a&gt;<wbr>(x)<wbr>@5"
