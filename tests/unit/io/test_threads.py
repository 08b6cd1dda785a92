"""Threads that are shared: order, bounds, errors, and that nothing waits for itself."""

from __future__ import annotations

import os
import threading

import pytest

from pyterrier_asl.io.threads import cores, map_ahead


def test_results_keep_the_order_and_are_bounded():
    asked = []

    def items():
        for number in range(20):
            asked.append(number)
            yield number

    for threads in (None, 2):
        asked.clear()
        results = map_ahead(lambda number: -number, items(), ahead=3, threads=threads)
        assert next(results) == (0, 0)
        assert len(asked) == 4
        assert list(results) == [(number, -number) for number in range(1, 20)]


@pytest.mark.parametrize("threads", [None, 2])
def test_an_error_is_raised_where_the_result_would_come(threads):
    results = map_ahead(lambda number: 1 // number, [1, 0, 1], ahead=2, threads=threads)
    assert next(results) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_there_are_as_many_shared_threads_as_cores():
    names = {name for _, name in map_ahead(lambda _: threading.get_ident(), range(100), ahead=50)}
    assert 1 <= len(names) <= cores() and threading.get_ident() not in names


def test_what_a_shared_thread_maps_it_does_itself():
    """Else all of them could wait for what none is left to do."""

    def inner(_):
        return {thread for _, thread in map_ahead(lambda _: threading.get_ident(), "ab", ahead=2)}

    def outer(item):
        return threading.get_ident(), inner(item)

    for _, (thread, threads) in map_ahead(outer, range(4 * cores()), ahead=4 * cores()):
        assert threads == {thread}


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
    list(map_ahead(str, range(100), ahead=100))  # what was running has ended
    assert len(done) <= 1 + cores()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own():
    list(map_ahead(str, "ab", ahead=1))
    child = os.fork()
    if not child:
        os._exit(0 if [done for _, done in map_ahead(ord, "ab", ahead=1)] == [97, 98] else 1)
    assert os.waitpid(child, 0)[1] == 0
