"""Tasks keep all workers busy, and results do not wait in memory."""

from __future__ import annotations

import pytest

from pyterrier_asl.evaluation.workers import _results


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("tasks", [0, 1, 2, 7, 50])
def test_results_are_in_order_and_twice_as_many_tasks_as_workers_are_submitted(jobs, tasks):
    submitted = []

    def submit(*task):
        submitted.append(task)
        return task

    results = _results(submit, lambda task: task, ((number,) for number in range(tasks)), jobs)
    for number, result in enumerate(results):
        assert result == (number,)
        assert len(submitted) == min(tasks, 2 * jobs + number + 1)
    assert len(submitted) == tasks
