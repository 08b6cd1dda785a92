"""Plain and compiled loops: which one is used, the messages, and that they agree."""

import subprocess
import sys
import textwrap
from importlib import import_module
from types import FunctionType

import numba
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
        ("scoring._pair_kernels", {"precision_bounds", "_highest_ratio", "_of_best", "_ratio"}),
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


@pytest.mark.parametrize("has_file", [True, False])
def test_loops_leave_the_interpreters_lock_also_where_they_cannot_be_kept(has_file, monkeypatch):
    """Numba caches no functions without a file. ``NUMBA_DISABLE_JIT`` may be set."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", False)
    namespace = {}
    exec("def twice(x):\n    return 2 * x", namespace)
    loop = compiled._jit(ranks if has_file else namespace["twice"])
    assert loop.targetoptions["nogil"]
    assert has_file or loop(21) == 42


def in_a_new_process(steps: int, cache) -> tuple[str, str]:
    """Whether Numba is loaded for this number of steps, and the text on stderr."""
    program = (
        "import sys\nimport numpy as np\n"
        "from pyterrier_asl.scoring.compiled import loops\n"
        f"kernels = loops('pyterrier_asl.scoring._pair_kernels', {steps})\n"
        "one, work = (np.array([0, 1]), np.array([0])), np.zeros(1, dtype=np.int64)\n"
        "kernels.merge(*one, *one, work)\n"
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={"PATH": "", "NUMBA_CACHE_DIR": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_a_little_is_done_without_numba_and_much_is_announced_once(tmp_path):
    assert in_a_new_process(10, tmp_path) == ("False", "")
    loaded, said = in_a_new_process(10**9, tmp_path)
    assert loaded == "True" and said == "Compiling (a few seconds, once per machine)\n"
    assert in_a_new_process(10**9, tmp_path) == ("True", "")


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
