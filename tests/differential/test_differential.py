"""Real runs by this package and by independent code: loops, cwl_eval, ranx.

A sample of the runs of each collection, the same every time; ``PYTERRIER_ASL_SWEEP=1`` takes all.
pytrec_eval's measures are compared in ``test_standard.py``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from zlib import crc32

import brute_force
import numpy as np
import pytest
from _files import read_lines
from ir_measures import AP, RR, P, R, Success, nDCG

import pyterrier_asl as asl
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge
from pyterrier_asl.measures.formula import formula

EXACT = 1e-12
COLLECTIONS = {"trec8-adhoc": 1, "dl20-passage": 2, "robust03": 1}
POOLED = 10
SWEEP = bool(os.environ.get("PYTERRIER_ASL_SWEEP"))

pytestmark = pytest.mark.filterwarnings("ignore")


@cache
def plainly(path: Path, value: int) -> dict[str, dict[str, float]]:
    """A run (``value`` 4) or qrels (3) as dicts, each document at its best score."""
    found: dict[str, dict[str, float]] = {}
    for fields in read_lines(path):
        docs = found.setdefault(fields[0], {})
        docs[fields[2]] = max(float(fields[value]), docs.get(fields[2], -np.inf))
    return found


@pytest.fixture(scope="module", autouse=True)
def forgotten_runs() -> Iterator[None]:
    yield
    plainly.cache_clear()


def qrels_of(data: Path, collection: str) -> Path:
    [path] = (data / collection).glob("qrels.txt*")
    return path


def runs_of(data: Path, collection: str, sample: int) -> list[Path]:
    """All runs, or a fixed sample of them."""
    paths = sorted((data / collection / "runs").iterdir())
    if SWEEP:
        return paths
    return Random(collection).sample(paths, sample)


def words(docno: str) -> int:
    """An arbitrary length for every document."""
    return 50 + crc32(docno.encode()) % 1000


def rankings(run: dict, qrels: dict, k: int | None = None, judged_only: bool = False) -> list:
    return [
        brute_force.ranking(run.get(qid, {}), grades, judged_only, k)
        for qid, grades in qrels.items()
    ]


def loops(run: dict, qrels: dict, rel: int, lengths: dict) -> dict:
    """Each measure and its value for every query."""
    asl_of, lexip = brute_force.asl, brute_force.lexip
    tbg = asl.TBG(rel=rel, lengths=asl.DocLengths.from_dict(lengths, name="crc"))
    cases = {  # measure -> its loop, where it is cut, and whether unjudged documents are left out
        asl.ASL(rel=rel): (lambda d, g: asl_of(d, g, rel), None, False),
        asl.ASL(rel=rel) @ 1000: (lambda d, g: asl_of(d, g, rel, 1000), 1000, False),
        asl.ASL(rel=rel, missing="after", g=10) @ 100:
            (lambda d, g: asl_of(d, g, rel, 100, "after", 10), 100, False),
        asl.ASL(rel=rel, missing="eq3", judged_only=True):
            (lambda d, g: asl_of(d, g, rel, None, "eq3", None, True), None, True),
        asl.nASL(rel=rel, judged_only=True) @ 50:
            (lambda d, g: 1 - (asl_of(d, g, rel, 50, judged_only=True) - 1) / 50, 50, True),
        asl.LexiP(rel=rel): (lambda d, g: lexip(d, g, rel), None, False),
        asl.LexiP(rel=rel) @ 20: (lambda d, g: lexip(d, g, rel, 20), 20, False),
        tbg: (lambda d, g: brute_force.tbg(d, g, lengths, rel=rel), None, False),
    }  # fmt: skip
    return {
        measure: [loop(d, g) for d, g in zip(rankings(run, qrels, k, only), qrels.values())]
        for measure, (loop, k, only) in cases.items()
    }


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_measures_are_the_loops_on_real_runs(data, collection):
    path, rel = qrels_of(data, collection), COLLECTIONS[collection]
    qrels = plainly(path, 3)
    for file in runs_of(data, collection, 2):
        run = plainly(file, 4)
        lengths = {d: words(d) for docs in run.values() for d in docs}
        expected = loops(run, qrels, rel, lengths)
        frame = asl.evaluate({"run": file}, path, list(expected), progress=False)
        assert frame["qid"].tolist() == list(qrels)
        for measure, values in expected.items():
            found = frame[str(measure)].tolist()
            assert found == pytest.approx(values, abs=EXACT, rel=EXACT), (file.name, measure)


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_rareness_is_the_loops_on_real_runs(data, collection):
    path, rel = qrels_of(data, collection), COLLECTIONS[collection]
    qrels = plainly(path, 3)
    members = runs_of(data, collection, POOLED)[:POOLED]
    strangers = [p for p in sorted((data / collection / "runs").iterdir()) if p not in members][:1]
    groups = {run.name: "one" for run in members[:3]}
    tops = [rankings(plainly(p, 4), qrels) for p in members]
    for given in (None, groups):
        pool = asl.RarenessPool.from_runs({p.name: plainly(p, 4) for p in members}, groups=given)
        names = [groups.get(p.name, p.name) for p in members] if given else None
        for file in [members[0], members[-1], *strangers]:
            docs = rankings(plainly(file, 4), qrels)
            for alpha, normalized, k in ((0.5, False, 100), (1, True, 20)):
                options = {"alpha": alpha, "normalized": normalized, "rel": rel, "groups": names}
                expected = [
                    brute_force.rareness(docs[i], grades, [top[i] for top in tops], k, **options)
                    for i, grades in enumerate(qrels.values())
                ]
                measures = [
                    kind(pool=pool, alpha=alpha, normalized=normalized, rel=rel) @ k
                    for kind in (asl.P_Rareness, asl.AP_Rareness)
                ]
                frame = asl.evaluate({"run": file}, path, measures, progress=False)
                for measure, values in zip(measures, zip(*expected)):
                    found = frame[str(measure)].tolist()
                    assert found == pytest.approx(values, abs=EXACT), (file.name, measure)


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_tbg_is_the_expected_total_utility_of_cwl_eval(data, collection):
    """The expected total utility of a user who reaches rank i with probability 2^(-T(i)/h).

    Costs are in seconds, and the gain of a relevant document is the probability of
    saving it.
    """
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    from cwl.ruler.measures.cwl_tbg import TBGCWLMetric
    from cwl.ruler.ranking import Ranking

    path, rel = qrels_of(data, collection), COLLECTIONS[collection]
    qrels = plainly(path, 3)
    for file in runs_of(data, collection, 3):
        run = plainly(file, 4)
        lengths = {d: words(d) for docs in run.values() for d in docs}
        measure = asl.TBG(rel=rel, lengths=asl.DocLengths.from_dict(lengths, name="crc"))
        found = asl.evaluate({"run": file}, path, [measure], progress=False)[str(measure)]
        expected = []
        for docs, grades in zip(rankings(run, qrels), qrels.values()):
            wanted = brute_force.relevant(grades, rel)
            gains = [0.64 * 0.77 if d in wanted else 0.0 for d in docs] or [0.0]
            costs = [
                4.4 + (0.018 * lengths[d] + 7.8) * (0.64 if d in wanted else 0.39) for d in docs
            ] or [1.0]
            metric = TBGCWLMetric(halflife=224)
            metric.measure(Ranking("q", np.array(gains), np.array(costs), max_n=len(gains)))
            expected.append(metric.expected_total_utility)
        assert found.tolist() == pytest.approx(expected, abs=1e-9), file.name


_RANX = """
import json, sys, ranx

cases, measures = json.load(sys.stdin)
found = []
for qrels, run in cases:
    of = ranx.Qrels(qrels), ranx.Run(run)
    values = ranx.evaluate(*of, measures, return_mean=False, make_comparable=False)
    found.append({n: dict(zip(sorted(run), of_query.tolist())) for n, of_query in values.items()})
json.dump(found, sys.stdout)
"""


def test_what_we_share_with_ranx(data):
    """ranx does not order equal scores, so only rankings without ties are compared. It runs
    uncompiled, in a process of its own: to compile it takes minutes."""
    pytest.importorskip("ranx", reason="ranx is not installed")
    shared = {
        "map": [AP, asl.AP_Rareness(alpha=0)],
        "map@100": [AP @ 100, asl.AP_Rareness(alpha=0) @ 100],
        "precision@20": [P @ 20, asl.P_Rareness(alpha=0) @ 20],
    }
    shared |= {"mrr": [RR], "recall@1000": [R @ 1000], "hit_rate@5": [Success @ 5]}
    shared |= {"ndcg": [nDCG], "ndcg@10": [nDCG @ 10]}
    cases = []
    for collection in ("dl20-passage", "robust03"):
        qrels = plainly(qrels_of(data, collection), 3)
        qrels = {q: {d: max(int(g), 0) for d, g in grades.items()} for q, grades in qrels.items()}
        for file in runs_of(data, collection, 8):
            run = {
                qid: docs
                for qid, docs in plainly(file, 4).items()
                if qid in qrels and len({np.float32(s) for s in docs.values()}) == len(docs)
            }
            cases += [({qid: qrels[qid] for qid in run}, run)] if run else []
    assert len(cases) >= 5
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _RANX],
        input=json.dumps([cases, list(shared)]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    for (some, run), theirs in zip(cases, json.loads(done.stdout), strict=True):
        judgements = Judgements(some)
        judged, pool = judge(judgements, run), asl.RarenessPool.from_runs({"run": run})
        for label, measures in shared.items():
            for measure in measures:
                given = measure(pool=pool) if "pool" in measure.SUPPORTED_PARAMS else measure
                found = dict(zip(judgements.qids, formula(given).values(judged)))
                assert found == pytest.approx(theirs[label], abs=1e-12), measure
        # the search length of the first relevant document is one over ranx's reciprocal rank
        first = dict(zip(judgements.qids, asl.ASL(g=1).values(judged)))
        for qid, rr in theirs["mrr"].items():
            if rr and judgements.num_relevant(1)[judgements.qids.index(qid)]:
                assert first[qid] == pytest.approx(1 / rr, abs=1e-9)
