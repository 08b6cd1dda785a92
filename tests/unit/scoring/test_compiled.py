"""Plain and compiled loops: which one is used, the messages, and that they agree."""

import subprocess
import sys
import textwrap
from importlib import import_module
from types import FunctionType, ModuleType

import numpy as np
import pytest

from pyterrier_asl.scoring import compiled
from pyterrier_asl.scoring.bounds import PairDocuments, RunDocuments

GENERATOR = np.random.default_rng(3)


def ranks(size, depth=40):
    """Ascending ranks."""
    return np.sort(GENERATOR.choice(np.arange(1, depth + 1), size, replace=False))


def runs():
    """Runs of two queries; the first query may be empty."""
    for first, second in ((0, 3), (4, 7)):
        both = [ranks(size) for size in (2 * first, 2 * second)]
        known = np.concatenate([of[::2] for of in both])
        unjudged = np.concatenate([of[1::2] for of in both])
        offsets = np.array([0, first, first + second])
        total = np.array([first, second + 2])
        yield RunDocuments(known, offsets, total, unjudged, offsets, np.array([0, 3]))


def plain_and_compiled(kernel, *arguments, filled=None):
    """What the loops of a kernel, ``MODULE.NAME``, fill: plain, and compiled."""
    module, name = kernel.split(".")
    module = f"pyterrier_asl.scoring.{module}"
    for loops in (import_module(module), compiled.compile_loops(module)):
        arrays = [np.empty(2), np.empty(2)] if filled is None else [filled.copy()]
        getattr(loops, name)(*arguments, *arrays)
        yield arrays


@pytest.mark.parametrize(
    ("kernel", "more"),
    [
        ("bound_average_precision", []),
        ("bound_search_length", [np.array([50, 50]), 0]),
        ("bound_search_length", [np.array([50, 50]), 2]),
        ("bound_lexip", [50]),
    ],
)
def test_bounds_of_a_run_are_the_same_to_the_last_bit(kernel, more):
    for run in runs():
        plain, quick = plain_and_compiled(f"_kernels.{kernel}", *vars(run).values(), *more)
        np.testing.assert_array_equal(plain, quick)


def test_bounds_of_a_difference_are_the_same():
    """Two equal queries, in which two runs have common documents."""
    places = np.array([[1, 0, 4, 9], [0, 2, 3, 0]]), np.array([[2, 5, 0, 7], [6, 0, 1, 8]])
    (known_a, known_b), (a, b) = (np.tile(of, 2) for of in places)
    offsets, missing = np.array([0, 4, 8]), np.array([30, 30])
    total, others = np.array([5, 5]), np.array([2, 2])
    pair = PairDocuments(known_a, known_b, offsets, total, a, b, offsets, others)
    ratio = (
        np.array([0.5, 0.0]),
        np.array([-0.5, 0.0, 0.125, 0.25] * 2),
        offsets,
        others,
        np.array([[2, 1], [1, 0]]),
        np.array([1.0, 2.0]),
        2,
        np.sqrt(np.arange(9.0)),
    )
    for kernel, arguments, filled in (
        ("layered", ratio, None),
        ("bound_search_length_difference", (*vars(pair).values(), missing, missing), None),
        (
            "lexicographic_verdicts",
            (known_a, known_b, offsets, a, b, offsets),
            np.zeros((2, 3), bool),
        ),
    ):
        found = plain_and_compiled(f"_pair_kernels.{kernel}", *arguments, filled=filled)
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("module", "by_numpy"),
    [
        ("scoring._kernels", set()),
        ("scoring._pair_kernels", {"precision_bounds", "_highest_ratio", "_ratio"}),
        ("retrieval._kernels", set()),
        ("retrieval._feedback_kernels", set()),
    ],
)
def test_all_functions_of_a_module_of_loops_are_compiled_except_numpy_ones(module, by_numpy):
    """Without the decorator a loop is slow, and loops that call it fail."""
    loops = import_module(f"pyterrier_asl.{module}")
    plain = {
        name
        for name, function in vars(loops).items()
        if isinstance(function, FunctionType) and function.__module__ == loops.__name__
        if not hasattr(function, "is_loop")
    }
    assert plain == by_numpy


def test_loops_that_cannot_be_kept_are_compiled(monkeypatch):
    """Numba keeps no functions without a file."""
    module = ModuleType("loops_without_a_file")
    exec("def twice(x):\n    return 2 * x", vars(module))
    compiled.compiled(module.twice)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert compiled.compile_loops(module.__name__).twice(21) == 42


FEW_LOOPS = """
from pyterrier_asl.scoring.compiled import compiled

@compiled
def twice(x):
    return 2 * x

@compiled
def fourfold(x):
    return twice(twice(x))
"""
LITTLE_AND_MUCH = """
import sys
from pyterrier_asl.scoring.compiled import loop
sys.path.insert(0, sys.argv[1])
from few_loops import fourfold
print([(loop(fourfold, steps)(5), "numba" in sys.modules) for steps in (10, 10**9)])
"""


@pytest.mark.slow
def test_a_little_is_done_without_numba_and_much_is_announced_once(tmp_path):
    """In the second process the loops have been compiled by the first one."""
    (tmp_path / "few_loops.py").write_text(FEW_LOOPS)
    environment = {"PATH": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in ("Compiling (a few seconds, once per machine)\n", ""):
        command = [sys.executable, "-c", LITTLE_AND_MUCH, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert (done.stdout, done.stderr) == ("[(20, False), (20, True)]\n", expected)


@pytest.mark.slow
def test_threads_that_need_loops_at_once_get_the_same():
    code = """
    import sys, threading
    from pyterrier_asl.scoring.compiled import compile_loops
    sys.setswitchinterval(1e-6)
    start, modules = threading.Barrier(6), []
    names = ["scoring._kernels", "retrieval._kernels", "scoring._pair_kernels"] * 2
    def load(name):
        start.wait()
        modules.append((name, compile_loops("pyterrier_asl." + name)))
    threads = [threading.Thread(target=load, args=(name,)) for name in names]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(len(modules), len({id(module) for _, module in modules}))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["6", "3"], done.stderr


def test_without_numba_loops_are_plain_and_a_warning_says_so(monkeypatch):
    from pyterrier_asl.scoring._pair_kernels import merge

    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    compiled._has_numba.cache_clear()
    try:
        with pytest.warns(UserWarning, match="pip install numba"):
            assert compiled.loop(merge, compiled.ENOUGH) is merge
    finally:
        compiled._has_numba.cache_clear()
