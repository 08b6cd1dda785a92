"""Bounds over all labellings of a query, against enumeration of the labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from brute_force import tbg
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.scoring import bounds


def average_precision(ranks, n):
    return sum(i / rank for i, rank in enumerate(sorted(ranks), 1)) / n if n else 0.0


def search_length(ranks, n, missing):
    """A missed document has the length ``missing`` minus the number of retrieved relevant ones."""
    if not n:
        return 1.0
    lengths = [rank - above for above, rank in enumerate(sorted(ranks))]
    return (sum(lengths) + (n - len(ranks)) * (missing - len(ranks))) / n


def lexip(ranks, n):
    """From the last gap to the first, at cut-off 7."""
    gaps = np.diff([0, *sorted(ranks)])
    value = 1.0 if len(ranks) == n else 1 / (7 + 2)
    for gap in gaps[::-1]:
        value = min(1 / (gap + 1) + (1 / gap - 1 / (gap + 1)) * value, 1 / gap)
    return value if len(ranks) else 0.0


@st.composite
def runs(draw, systems=1):
    """Ranks of judged relevant and of unjudged documents in each run, 0: not retrieved."""
    documents = draw(st.integers(0, 6))
    ranks = [
        [rank if draw(st.booleans()) else 0 for rank in draw(st.permutations(range(1, 8)))]
        for _ in range(systems)
    ]
    relevant = draw(st.integers(0, documents))
    columns = list(zip(*ranks))[:documents]
    return {"known": columns[:relevant], "unjudged": columns[relevant:]}


def array(values):
    return np.array(values, dtype=np.int64)


def of_one_run(cases):
    """A run of several queries as input of the loops, with the numbers of missed documents."""
    ranks, holes = (
        [sorted(retrieved(case[of_what])) for case in cases] for of_what in ("known", "unjudged")
    )
    offsets = (array(np.cumsum([0, *map(len, parts)])) for parts in (ranks, holes))
    others = [len(case["unjudged"]) - len(some) for case, some in zip(cases, holes)]
    return bounds.RunDocuments(
        array(sum(ranks, [])),
        next(offsets),
        array([len(case["known"]) for case in cases]),
        array(sum(holes, [])),
        next(offsets),
        array(others),
    )


def labelled(known, unjudged, value):
    """The lowest and the highest value over all labellings of the unjudged documents."""
    values = [
        value([*known, *(ranks for ranks, label in zip(unjudged, labels) if label)])
        for labels in itertools.product((False, True), repeat=len(unjudged))
    ]
    return [min(values), max(values)]


def retrieved(documents, system=0):
    return [ranks[system] for ranks in documents if ranks[system]]


@given(st.lists(runs(), min_size=1, max_size=3))
def test_average_precision_of_one_run(cases):
    found = np.transpose(bounds.average_precision(of_one_run(cases)))
    for case, low_and_high in zip(cases, found):
        expected = labelled(**case, value=lambda d: average_precision(retrieved(d), len(d)))
        assert low_and_high.tolist() == pytest.approx(expected, abs=1e-12)


@given(st.lists(runs(), min_size=1, max_size=3), st.integers(8, 20))
def test_search_length_of_one_run(cases, missing):
    found = np.transpose(bounds.search_length(of_one_run(cases), array([missing] * len(cases))))
    for case, low_and_high in zip(cases, found):
        expected = labelled(**case, value=lambda d: search_length(retrieved(d), len(d), missing))
        assert low_and_high.tolist() == pytest.approx(expected, abs=1e-12)


@given(st.lists(runs(), min_size=1, max_size=3))
def test_lexip_of_one_run(cases):
    found = np.transpose(bounds.lexip(of_one_run(cases), 7))
    for case, low_and_high in zip(cases, found):
        expected = labelled(**case, value=lambda d: lexip(retrieved(d), len(d)))
        assert low_and_high.tolist() == pytest.approx(expected, abs=1e-12)


def test_lexip_of_worked_labellings():
    """At cut-off 7, judged relevant at rank 3, unjudged at 1 and 5: 1/3, 3/4, 7/24, 17/24.

    Without a judged relevant document, unjudged at 2 and 4: 0, 1/2, 1/4, 5/12.
    """
    cases = [{"known": [(3,)], "unjudged": [(1,), (5,)]}, {"known": [], "unjudged": [(2,), (4,)]}]
    low, high = bounds.lexip(of_one_run(cases), 7)
    assert low.tolist() == pytest.approx([7 / 24, 0])
    assert high.tolist() == pytest.approx([3 / 4, 1 / 2])


pairs = st.lists(runs(systems=2), min_size=1, max_size=3)


def of_two_runs(cases):
    """Two runs of several queries as input of the loops."""
    known, unjudged = (
        [[ranks for ranks in case[of_what] if any(ranks)] for case in cases]
        for of_what in ("known", "unjudged")
    )

    def columns(documents):
        return (array([ranks[system] for part in documents for ranks in part]) for system in (0, 1))

    return bounds.PairDocuments(
        *columns(known),
        array(np.cumsum([0, *map(len, known)])),
        array([len(case["known"]) for case in cases]),
        *columns(unjudged),
        array(np.cumsum([0, *map(len, unjudged)])),
        array([len(case["unjudged"]) - len(part) for case, part in zip(cases, unjudged)]),
    )


@given(pairs, st.integers(8, 20), st.integers(8, 20))
def test_search_length_of_two_runs(cases, missing_a, missing_b):
    costs = (array([missing] * len(cases)) for missing in (missing_a, missing_b))
    found = np.transpose(bounds.search_length_difference(of_two_runs(cases), *costs))

    def difference(documents):
        a, b = (
            search_length(retrieved(documents, system), len(documents), missing)
            for system, missing in enumerate((missing_a, missing_b))
        )
        return a - b

    for case, low_and_high in zip(cases, found):
        expected = labelled(**case, value=difference)
        assert low_and_high.tolist() == pytest.approx(expected, abs=1e-9)


@given(pairs, st.integers(1, 7))
def test_first_relevant_documents_of_two_runs(cases, cutoff):
    """RR, and Success at a cut-off."""

    def reciprocal(rank):
        return 1 / rank

    def success(rank):
        return np.where(rank <= cutoff, 1.0, 0.0)

    for worth in (reciprocal, success):

        def difference(documents, worth=worth):
            a, b = (min(retrieved(documents, system), default=np.inf) for system in (0, 1))
            return float(worth(a) - worth(b))

        found = np.transpose(bounds.first_relevant(of_two_runs(cases), worth))
        for case, low_and_high in zip(cases, found):
            expected = labelled(**case, value=difference)
            assert low_and_high.tolist() == pytest.approx(expected, abs=1e-12)


@given(pairs)
def test_verdicts_of_two_runs(cases):
    """sgnLP is the sign of the first difference of the ranks of relevant documents."""
    verdicts = bounds.lexicographic_verdicts(of_two_runs(cases))
    for case, given_by_some in zip(cases, verdicts):
        signs = {
            sgn_lp([*case["known"], *(d for d, label in zip(case["unjudged"], labels) if label)])
            for labels in itertools.product((False, True), repeat=len(case["unjudged"]))
        }
        assert [sign for sign in (-1, 0, 1) if given_by_some[sign + 1]] == sorted(signs)


def sgn_lp(documents):
    a, b = (sorted(retrieved(documents, system)) for system in (0, 1))
    for p, q in itertools.zip_longest(a, b, fillvalue=np.inf):
        if p != q:
            return 1 if p < q else -1
    return 0


def test_documents_of_either_run_are_merged_query_by_query():
    """Three queries, the second without documents; documents 3 and 7 are in both runs."""
    a, b = [[3, 1], [], [7]], [[2, 3], [], [7, 5]]
    offsets, in_a, in_b = bounds.merge(
        *(array(of) for of in ([0, 2, 2, 3], sum(a, []), [0, 2, 2, 4], sum(b, []))), 8
    )
    assert offsets.tolist() == [0, 3, 3, 5]
    for q, (one, two) in enumerate(zip(a, b)):
        numbers = zip(in_a[offsets[q] : offsets[q + 1]], in_b[offsets[q] : offsets[q + 1]])
        named = {(i and sum(a, [])[i - 1], j and sum(b, [])[j - 1]) for i, j in numbers}
        assert named == {(d if d in one else 0, d if d in two else 0) for d in {*one, *two}}


@given(
    st.lists(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.integers(0, 3000))), max_size=3),
    st.sampled_from([3.0, 224.0]),
)
def test_time_biased_gain_of_one_run(queries, halflife):
    """Some documents are judged relevant, some irrelevant, some not judged; all are retrieved."""
    queries = [documents[:6] for documents in queries]
    flat = sum(queries, [])
    constants = {"p_click_rel": 0.6, "p_click_nonrel": 0.3, "p_save": 0.8}
    times = {"time_summary": 4.4, "time_per_word": 0.018, "time_base": 7.8}
    found = np.transpose(
        bounds.time_biased_gain(
            np.array([state for state, _ in flat], dtype=np.uint8),
            np.array([words for _, words in flat], dtype=np.float64),
            array(np.cumsum([0, *map(len, queries)])),
            halflife=halflife,
            **constants,
            **times,
        )
    )
    assert found.shape == (len(queries), 2)
    for documents, low_and_high in zip(queries, found):
        words = dict(enumerate(length for _, length in documents))
        choices = [(0, 1) if state == 2 else (state,) for state, _ in documents]
        values = [
            tbg(
                list(words),
                dict(enumerate(labels)),
                words,
                h=halflife,
                click=(0.6, 0.3),
                save=0.8,
                times=tuple(times.values()),
            )
            for labels in itertools.product(*choices)
        ]
        assert low_and_high.tolist() == pytest.approx([min(values), max(values)], abs=1e-12)


def test_documents_that_nobody_retrieved_lower_average_precision():
    """One relevant document is at rank 1; with one missed document more, AP is 1/2."""
    low, high = bounds.average_precision(of_one_run([{"known": [(1,)], "unjudged": [(0,)]}]))
    assert (low.tolist(), high.tolist()) == ([0.5], [1.0])


LEVELS = [1.0, 3.0, 7.0]


@st.composite
def gaining(draw):
    """A query: gains of judged documents, their sum, and gains that labels could add."""
    judged = draw(st.lists(st.sampled_from([0.0, *LEVELS]), max_size=4))
    weights = draw(st.lists(st.sampled_from([-1.0, -0.4, 0.0, 0.1, 0.5, 1.0]), max_size=3))
    # Only judged documents have a gain.
    base = draw(st.sampled_from([-2.0, -0.3, 0.0, 0.7, 4.0])) if any(judged) else 0.0
    return {"judged": judged, "weights": weights, "base": base, "others": draw(st.integers(0, 2))}


@given(st.lists(gaining(), min_size=1, max_size=3), st.integers(1, 3), st.integers(1, 3))
def test_ratio_of_gains(cases, given_levels, cutoff):
    """A label gives no gain or the smallest gain; the ideal ranking is cut at ``cutoff``."""
    low, high = bounds.ratio_of_gains(
        np.array([case["base"] for case in cases]),
        np.array([weight for case in cases for weight in case["weights"]]),
        array(np.cumsum([0, *(len(case["weights"]) for case in cases)])),
        array([case["others"] for case in cases]),
        array(
            [[sum(gain >= level for gain in case["judged"]) for level in LEVELS] for case in cases]
        ),
        np.diff([0.0, *LEVELS]),
        lambda most: np.cumsum([0.0, *(ideal_discount(i, cutoff) for i in range(most))]),
        given_levels,
    )
    for q, case in enumerate(cases):
        documents = [*case["weights"], *[0.0] * case["others"]]
        values = []
        for gains in itertools.product([0.0, *LEVELS[:given_levels]], repeat=len(documents)):
            best = sorted([*case["judged"], *gains], reverse=True)
            ideal = sum(gain * ideal_discount(i, cutoff) for i, gain in enumerate(best))
            gained = case["base"] + np.dot(documents, gains)
            values.append(gained / ideal if ideal else 0.0)
        assert [low[q], high[q]] == pytest.approx([min(values), max(values)], abs=1e-9)


def ideal_discount(place, cutoff):
    return 1 / np.log2(place + 2) if place < cutoff else 0.0


# A difference of AP, by pairs of documents

QUERIES = 3
GENERATOR = np.random.default_rng(11)
#: Four documents, the first two judged relevant; ranks, 0: not retrieved.
RANKS = np.array(
    [[GENERATOR.permutation([0, 1, 2, 3, 5])[:4] for _ in range(QUERIES)] for _ in "AB"]
)
TOTAL, OTHERS = np.array([2, 3, 2]), np.array([0, 1, 2])


def mean_precision(ranks, gains, relevant, total):
    """The sum of gains up to each relevant document by its rank, by the number of relevant."""
    found = sorted(
        (rank, gain) for rank, gain, is_it in zip(ranks, gains, relevant) if rank and is_it
    )
    running = np.cumsum([gain for _, gain in found])
    return sum(running / np.array([rank for rank, _ in found])) / total if found else 0.0


@pytest.mark.parametrize("gains", [np.ones(4), np.array([1.0, 0.5, 0.25, 0.75])])
def test_bounds_of_a_difference_of_average_precision_contain_every_labelling(gains):
    offsets = 2 * np.arange(QUERIES + 1)
    known, unjudged = RANKS[:, :, :2].reshape(2, -1), RANKS[:, :, 2:]
    tiled = np.tile(gains, QUERIES).reshape(QUERIES, 4)
    known_gains = [tiled[:, :2].ravel() * (ranks > 0) for ranks in known]
    ranks = unjudged.reshape(2, -1)
    pair = bounds.PairDocuments(*known, offsets, TOTAL, *ranks, offsets, OTHERS)
    of_unjudged = tiled[:, 2:].ravel()
    now = [[mean_precision(ranks, gains, (1, 1, 0, 0), 1) for ranks in of_run] for of_run in RANKS]
    low, high = bounds.average_precision_difference(
        pair, np.subtract(*now), (*(of_unjudged * (ranks > 0)),), (*known_gains,)
    )
    for q in range(QUERIES):
        more = np.arange(OTHERS[q] + 1)  # relevant documents that no run retrieves
        values = [
            np.subtract(
                *(
                    mean_precision(of_run[q], gains, (1, 1, *labels), TOTAL[q] + sum(labels) + more)
                    for of_run in RANKS
                )
            )
            for labels in itertools.product((0, 1), repeat=2)
        ]
        assert low[q] <= np.min(values) + 1e-12 and np.max(values) - 1e-12 <= high[q]
        assert -1 <= low[q] and high[q] <= 1


def precision_together(ranks, gains, i, j):
    """The joint contribution of documents i and j to the sum of precisions; i = j: of one."""
    if not ranks[i] or not ranks[j]:
        return 0.0
    earlier = i if ranks[i] < ranks[j] else j
    return gains[earlier] / max(ranks[i], ranks[j])


def greatest_outer_bound(together, known, unjudged, base, total, others):
    """An upper bound with m relevant unjudged documents.

    A document adds its own contribution, its joint contributions with judged relevant documents,
    and half of its m - 1 largest joint contributions with others.
    """
    values = []
    for m in range(len(unjudged) + 1):
        worth = []
        for i in unjudged:
            most = sorted((together(i, j) for j in unjudged if j != i), reverse=True)
            alone = together(i, i) + sum(together(i, j) for j in known)
            worth.append(alone + sum(most[: max(m - 1, 0)]) / 2)
        whole = base + sum(sorted(worth, reverse=True)[:m])
        values += [whole / n if n else 0.0 for n in (total + m, total + m + others)]
    return max(values)


@pytest.mark.parametrize(("seed", "size"), [(seed, 14) for seed in range(40)] + [(0, 48), (1, 48)])
def test_the_outer_bound_of_a_difference_of_average_precision(seed, size):
    generator = np.random.default_rng(seed)
    known, unjudged = np.split(np.arange(size), [seed % 4])
    unjudged = unjudged[: generator.integers(0, 11) if size == 14 else size]
    ranks = np.maximum(np.arange(-3, 3 * size // 2 + 1), 0)
    a, b = (generator.permutation(ranks)[:size] for _ in range(2))
    gains = np.ones(size) if seed % 2 else generator.choice([0.25, 0.5, 1.0, 1.5], size)
    total, others = len(known) + generator.integers(0, 2), generator.integers(0, 3)

    def together(i, j):
        return precision_together(a, gains, i, j) - precision_together(b, gains, i, j)

    base = sum(together(i, j) for i in known for j in known if i <= j)
    pair = bounds.PairDocuments(
        a[known],
        b[known],
        array([0, len(known)]),
        array([total]),
        a[unjudged],
        b[unjudged],
        array([0, len(unjudged)]),
        array([others]),
    )
    low, high = bounds.average_precision_difference(
        pair,
        np.array([base]),
        (gains[unjudged] * (a[unjudged] > 0), gains[unjudged] * (b[unjudged] > 0)),
        (gains[known] * (a[known] > 0), gains[known] * (b[known] > 0)),
    )
    most = greatest_outer_bound(together, known, unjudged, base, total, others)
    least = -greatest_outer_bound(
        lambda i, j: -together(i, j), known, unjudged, -base, total, others
    )
    assert [low[0], high[0]] == pytest.approx([least, most], abs=1e-12)


def bounds_by_reverse_orders(*sizes):
    """Bounds of queries with numbers of unjudged documents, in reverse orders in A and B."""
    none, nothing = np.empty(0, dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    a, b = (np.concatenate([np.arange(1, n + 1)[::step] for n in sizes]) for step in (1, -1))
    offsets, ones = np.cumsum([0, *sizes]), np.ones(len(a))
    pair = bounds.PairDocuments(
        none, none, np.zeros_like(offsets), nothing + 1, a, b, offsets, nothing
    )
    return np.transpose(
        bounds.average_precision_difference(pair, nothing * 0.0, (ones, ones), (none, none))
    )


def test_a_query_of_many_documents_needs_no_square_of_them():
    assert bounds_by_reverse_orders(20_000).tolist() == [[-np.inf, np.inf]]


def test_a_query_of_many_documents_leaves_other_queries_their_bounds():
    assert list(bounds_by_reverse_orders(4_001, 5)[1]) == list(bounds_by_reverse_orders(5)[0])
