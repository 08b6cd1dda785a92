"""Plain and compiled loops: which one is used, and the messages."""

import subprocess
import sys
import textwrap
from types import ModuleType

import pytest

from pyterrier_asl.retrieval import _kernels, compiled


def test_loops_that_cannot_be_kept_are_compiled(monkeypatch):
    """Numba keeps no functions without a file."""
    module = ModuleType("loops_without_a_file")
    exec("def twice(x):\n    return 2 * x", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    twice = compiled.compile_loops(module.__name__).twice
    assert twice(21) == 42 and twice.py_func(21) == 42


FEW_LOOPS = """
def twice(x):
    return 2 * x

def fourfold(x):
    return twice(twice(x))
"""
LITTLE_AND_MUCH = """
import sys
from pyterrier_asl.retrieval.compiled import loop
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
    from pyterrier_asl.retrieval.compiled import compile_loops
    sys.setswitchinterval(1e-6)
    start, modules = threading.Barrier(6), []
    def load():
        start.wait()
        modules.append(compile_loops("pyterrier_asl.retrieval._kernels"))
    threads = [threading.Thread(target=load) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(len(modules), len({id(module) for module in modules}))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["6", "1"], done.stderr


def test_without_numba_loops_are_plain_and_a_warning_says_so(monkeypatch):
    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    compiled._has_numba.cache_clear()
    try:
        with pytest.warns(UserWarning, match="pip install numba"):
            assert compiled.loop(_kernels.length_norm, compiled.ENOUGH) is _kernels.length_norm
    finally:
        compiled._has_numba.cache_clear()
