"""Topics, qrels and runs with missing or additional queries, in all combinations.

Means are over the queries of topics and qrels, by loops, for all plans, batches and systems.
"""

import itertools
import warnings

import brute_force
import numpy as np
import pyterrier as pt
import pytest
from _systems import QUERIES, Toy, by_query, qrels, results, topics

from pyterrier_asl import ASL, AP_Rareness, Experiment, LexiP, nASL

#: The queries of one of the three, compared with the queries of the others.
QUERIES_OF = {
    "equal": lambda own, lost: QUERIES,
    "missing": lambda own, lost: [q for q in QUERIES if q != lost],
    "extra": lambda own, lost: [*QUERIES, own],
    "other": lambda own, lost: [*(q for q in QUERIES if q != lost), own],
}
LOOPS = {
    ASL @ 5: lambda d, g: brute_force.asl(d[:5], g, k=5),
    ASL(g=2, missing="after"): lambda d, g: brute_force.asl(d, g, missing="after", g=2),
    nASL @ 10: lambda d, g: 1 - (brute_force.asl(d[:10], g, k=10) - 1) / 10,
    LexiP: lambda d, g: brute_force.lexip(d, g),
}


def expected(runs, judged, asked):
    """Measure -> means by run, and rareness over these runs."""
    grades = {q: docs for q, docs in by_query(judged, "label").items() if q in set(asked)}
    scores = [by_query(run, "score") for run in runs]
    docs = [{q: brute_force.ranking(each.get(q, {}), grades[q]) for q in grades} for each in scores]

    def rareness(q, one):
        pool = [each[q] for each in docs]
        return brute_force.rareness(one[q], grades[q], pool, 5, member=True)[1]

    means = {
        str(measure): [np.mean([loop(one[q], grades[q]) for q in grades]) for one in docs]
        for measure, loop in LOOPS.items()
    }
    return means | {"AP_Rareness@5": [np.mean([rareness(q, one) for q in grades]) for one in docs]}


KINDS = ["frames", "linear", "tree"]

#: All of them; those that pairs of options do not need are marked slow.
CASES = [
    pytest.param(which, kind, batch, marks=[pytest.mark.slow] if (i + j + k) % 2 else [])
    for i, which in enumerate(QUERIES_OF)
    for j, kind in enumerate(KINDS)
    for k, batch in enumerate([None, 4])
]


@pytest.mark.parametrize(("which", "kind", "batch"), CASES)
def test_any_combination_of_queries(which, kind, batch, pytestconfig):
    pairs, place = list(itertools.product(QUERIES_OF, repeat=2)), list(QUERIES_OF).index
    if not pytestconfig.getoption("--full"):  # a Latin square of topics, qrels and runs
        pairs = [(a, b) for a, b in pairs if place(a) ^ place(b) == place(which)]
    for judged_queries, run_queries in pairs:
        asked = QUERIES_OF[which]("zt", "q1")
        judged = qrels(QUERIES_OF[judged_queries]("zq", "q2"))
        runs = [results(i, QUERIES_OF[run_queries]("zr", "q3")) for i in (1, 2)]
        wanted = expected(runs, judged, asked)
        options = {} if batch is None else {"batch_size": batch}
        if kind == "tree":
            options["plan"] = "tree"
        experiments = [pt.Experiment, Experiment]
        if not pytestconfig.getoption("--full"):  # by turns
            experiments = experiments[(place(judged_queries) + KINDS.index(kind)) % 2 :][:1]
        for experiment in experiments:
            systems = [
                run.copy() if kind == "frames" else Toy(f"toy{i}", run)
                for i, run in enumerate(runs)
            ]
            measures = list(LOOPS)
            if experiment is Experiment:
                measures.append(AP_Rareness @ 5)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                asked_of = (systems, topics(asked), judged, measures)
                table = experiment(*asked_of, names=["a", "b"], verbose=False, **options)
            for measure in map(str, measures):
                found = table[measure].tolist()
                case = judged_queries, run_queries, experiment, measure
                assert found == pytest.approx(wanted[measure], abs=1e-12), case
