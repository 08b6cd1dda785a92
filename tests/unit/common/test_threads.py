"""Shared threads: order, limits, errors, and no deadlocks."""

import os
import sys
import threading
from collections.abc import Callable

import pytest

from pyterrier_asl.common.threads import cores, map_ahead


def test_results_keep_the_order_and_are_bounded():
    for threads in (None, 2):
        asked = []
        items = (asked.append(number) or number for number in range(20))
        results = map_ahead(lambda n: -n, items, ahead=3, threads=threads)
        assert next(results) == (0, 0)
        assert len(asked) == 4
        assert list(results) == [(number, -number) for number in range(1, 20)]


@pytest.mark.parametrize("threads", [None, 2])
def test_an_error_is_raised_where_the_result_would_come(threads):
    results = map_ahead(lambda number: 1 // number, [1, 0, 1], ahead=2, threads=threads)
    assert next(results) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no such call on this system")
def test_cores_are_those_that_the_process_may_use():
    allowed = os.sched_getaffinity(0)
    try:
        for few in ({min(allowed)}, {min(allowed), max(allowed)}):
            os.sched_setaffinity(0, few)
            assert cores() == len(few)
    finally:
        os.sched_setaffinity(0, allowed)


def test_there_are_as_many_shared_threads_as_cores():
    names = {name for _, name in map_ahead(lambda _: threading.get_ident(), range(100), ahead=50)}
    assert 1 <= len(names) <= cores() and threading.get_ident() not in names


def test_a_shared_thread_runs_its_own_tasks():
    """Otherwise all threads could wait for a task that no free thread can run."""

    def threads(_):
        inner = map_ahead(lambda _: threading.get_ident(), "ab", ahead=2)
        return {threading.get_ident(), *(thread for _, thread in inner)}

    for _, different in map_ahead(threads, range(4 * cores()), ahead=4 * cores()):
        assert len(different) == 1


def test_what_is_not_wanted_any_more_is_not_done():
    gate, done = threading.Event(), []

    def work(number):
        if number:
            gate.wait(60)
        done.append(number)

    results = map_ahead(work, range(50), ahead=40)
    next(results)
    results.close()
    gate.set()
    list(map_ahead(str, range(100), ahead=100))  # the running tasks have ended
    assert len(done) <= 1 + cores()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own():
    list(map_ahead(str, "ab", ahead=1))
    child = os.fork()
    if not child:
        os._exit(0 if [done for _, done in map_ahead(ord, "ab", ahead=1)] == [97, 98] else 1)
    assert os.waitpid(child, 0)[1] == 0


def is_interrupted(call: Callable[[], object], step: int) -> bool:
    """Makes a call, and raises KeyboardInterrupt at one step of its Python code, as Ctrl-C does.

    A step is the beginning or the end of a function. Returns whether the call reached this step.
    """
    steps = iter(range(step))

    def trace(frame, event, _):
        if event in ("call", "return") and next(steps, None) is None:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except (KeyboardInterrupt, RuntimeError):  # a lock may turn it into this error
        return True
    finally:
        sys.settrace(before)
    return False


def ends(call: Callable[[], object]) -> bool:
    """Whether a call ends within a minute."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(60)
    return not thread.is_alive()


def test_an_interruption_at_any_step_leaves_threads_that_work():
    """Later calls in a notebook use them again."""
    step, numbers = 0, range(2 * cores())
    while is_interrupted(lambda: list(map_ahead(str, numbers, ahead=2)), step):
        assert ends(lambda: list(map_ahead(str, numbers, ahead=2))), f"step {step}"
        step += 1
    assert step > 20
