"""Runs measured on a Ray cluster of three nodes on this machine, one of which is killed."""

import time
from threading import Thread

import ir_measures
import pytest
import small

from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP, RarenessPool, evaluate

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'pyterrier-asl[ray]'")

DICTS, QRELS = small.collection(40, 80)
RUNS = {name: small.frame(run).assign(doc_len=7 * len(name)) for name, run in DICTS.items()}
POOL = RarenessPool.from_runs(dict(list(RUNS.items())[:8]))
MEASURES = [ASL @ 20, LexiP, ir_measures.AP, ir_measures.RR, ir_measures.nDCG @ 10, TBG]
MEASURES += [AP_Rareness(pool=POOL) @ 10, AP_Rareness @ 10, ir_measures.infAP]

SHORT = {"q10": {"d1": 2.0, "d2": 1.0}, "q12": {"d3": 1.0}}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    nodes = [cluster.add_node(**node) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def alone():
    return evaluate(RUNS, QRELS, MEASURES, progress=False)


def by_ray(runs, measures, jobs=-1):
    return evaluate(runs, QRELS, measures, backend="ray", jobs=jobs, progress=False)


def assert_same(found, expected):
    """Asserts that two frames are equal byte for byte."""
    assert found.equals(expected)
    columns = list(expected.columns[2:])
    assert found[columns].to_numpy().tobytes() == expected[columns].to_numpy().tobytes()


def test_a_cluster_changes_nothing(cluster, alone):
    for jobs in (-1, 1):
        assert_same(by_ray(RUNS, MEASURES, jobs), alone)


def test_errors_match_one_machine(cluster):
    with pytest.raises(ValueError, match="run 'wrong': the run answers none"):
        by_ray({**RUNS, "wrong": {"other": {"d1": 1}}}, ASL)


class Deadly(dict):
    """A run that ends the process that reads it, the first ``times`` times."""

    def __init__(self, run, folder, times):
        super().__init__(run)
        self.folder, self.times = folder, times

    def __reduce__(self):  # by a builtin, as workers cannot import this file
        return eval, (_DIE, {"run": dict(self), "folder": str(self.folder), "times": self.times})


_DIE = """[
    (open(f"{folder}/{os.getpid()}", "w").close(), os.kill(os.getpid(), 9))
    if len(os.listdir(folder)) < times else None for os in [__import__("os")]
] and run"""


def test_a_worker_that_is_killed_is_replaced(cluster, tmp_path):
    runs = {"first": RUNS["s1"], "deadly": Deadly(SHORT, tmp_path, 2)}
    expected = evaluate({**runs, "deadly": SHORT}, QRELS, ASL, progress=False)
    assert_same(by_ray(runs, ASL), expected)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_run_that_kills_every_worker_is_an_error_that_names_it(cluster, tmp_path):
    runs = {"first": RUNS["s1"], "deadly": Deadly(SHORT, tmp_path, 99)}
    with pytest.raises(ChildProcessError, match="run 'deadly': 4 worker processes were killed"):
        by_ray(runs, ASL)


def test_a_node_that_is_killed_loses_nothing(cluster, alone):
    found = []
    worker = Thread(target=lambda: found.append(by_ray(RUNS, MEASURES)))
    worker.start()
    time.sleep(0.3)
    cluster[0].remove_node(cluster[1][0], allow_graceful=False)
    worker.join(timeout=120)
    assert found
    assert_same(found[0], alone)
    until = time.monotonic() + 60  # the cluster takes a while to notice
    while sum(node["Alive"] for node in ray.nodes()) > 2 and time.monotonic() < until:
        time.sleep(0.2)
    assert sum(node["Alive"] for node in ray.nodes()) == 2
