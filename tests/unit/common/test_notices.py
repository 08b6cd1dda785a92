"""When progress bars are shown."""

import io
import sys

import pytest

from pyterrier_asl.common.notices import progress_bar


@pytest.mark.parametrize(
    ("on_terminal", "shown", "is_bar"),
    [(True, None, True), (False, None, False), (False, True, True), (True, False, False)]
    + [(None, None, False)],  # a windowed program has no stderr
)
def test_a_bar_is_for_terminals_or_where_it_is_asked_for(monkeypatch, on_terminal, shown, is_bar):
    stderr = io.StringIO()
    stderr.isatty = lambda: on_terminal
    monkeypatch.setattr(sys, "stderr", None if on_terminal is None else stderr)
    items = [1, 2]
    assert list(progress_bar(items, desc="measuring", shown=shown)) == items
    assert ("measuring: 100%" in stderr.getvalue()) == is_bar
