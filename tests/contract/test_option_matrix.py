"""Each option of each public function changes the result or is refused by its name.

The options come from the signatures, so that a new one without a row fails. Each row is tried with
frames and files (which must give the same), several collections and tables of scores, with a
measure of which higher and one of which lower values are better, and with runs in two orders.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import pandas as pd
import pytest
from _options import (
    CALLS,
    ELSEWHERE,
    OF_QRELS,
    ROWS,
    SETTINGS,
    SETTINGS_OF_QRELS,
    SOURCES,
    Row,
    Setting,
    of,
)
from test_command_matrix import SHARED, row_of
from test_command_matrix import options_of as options_of_command

import pyterrier_asl as asl

pytestmark = pytest.mark.filterwarnings("ignore")

#: The number of settings in the quick suite for each option; 1 for options of other functions, and
#: none for options of searches that only change how a search runs.
QUICK = {"evaluate": 2, "compare": 2, "ranks": 2, "bounds": 2}


#: Functions that match runs with qrels.
WITH_QRELS = (
    "evaluate bounds ties compare ranks report holes judges audit plan_audit search_lengths "
    "preferences preference_matrix Experiment"
).split()


def function_of(call: str) -> str:
    return re.split(" (of|without) ", call)[0]


def options_of(function: str) -> list[str]:
    """The options of a function: its keyword-only arguments, and options of pt.Experiment."""
    parameters = list(inspect.signature(getattr(asl, function)).parameters.values())
    data = 4 if function == "Experiment" else 0
    named = parameters[data:] if data else [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    options = [option.name for option in named if option.kind is not option.VAR_KEYWORD]
    return [*options, *(SETTINGS_OF_QRELS if function in WITH_QRELS else ())]


def test_every_option_has_a_row():
    functions = [name for name in asl.__all__ if inspect.isfunction(getattr(asl, name))]
    assert {*map(function_of, ROWS), *ELSEWHERE} == set(functions)
    for call, rows in ROWS.items():
        assert set(rows) == set(options_of(function_of(call))), call


def shown(result: Any) -> str:
    """The visible content of a result: text, and tables with all decimals."""
    return "\n".join(_parts(result))


def _parts(result: Any) -> Iterator[str]:
    if isinstance(result, pd.DataFrame | pd.Series):
        yield result.to_csv(float_format="%.13g")
        yield str(result.attrs)
    elif isinstance(result, list | tuple):
        for part in result:
            yield from _parts(part)
    elif hasattr(result, "html"):
        yield result.html
    else:
        yield str(result)
        if is_dataclass(result):
            values = [getattr(result, field.name) for field in fields(result)]
            yield from _parts([value for value in values if isinstance(value, pd.DataFrame)])
        yield str(getattr(result, "verdicts", ""))
        if isinstance(table := getattr(result, "table", None), pd.DataFrame):
            yield from _parts(table)


@cache
def _plain(call: str, setting: Setting) -> str:
    return _attempt(call, setting, "plain")


def _attempt(call: str, setting: Setting, data: str, **options: Any) -> str:
    """The visible result of a call, or the error after a mark."""
    of_qrels = SETTINGS_OF_QRELS if function_of(call) in WITH_QRELS else ()
    mine = [name for name in options if name in of_qrels]
    OF_QRELS.update({name: options.pop(name) for name in mine})
    try:
        return shown(CALLS[call](setting, data, options))
    except ValueError as error:
        return f"!{error}"
    finally:
        OF_QRELS.clear()


def problem(call: str, option: str, setting: Setting) -> tuple[str, str]:
    """A fault of the option ('' for none), and the visible result with it."""
    row: Row = ROWS[call][option]
    value, given = of(row.value, setting), of(row.given, setting)
    if row.given or row.data != "plain":
        without = _attempt(call, setting, row.data, **given)
    else:
        without = _plain(call, setting)
    after = _attempt(call, setting, row.data, **given, **{option: value})
    if refusal := row.refusal(setting):
        refused = after.startswith("!") and re.search(refusal, after)
        return "" if refused else f"is not refused: {after[:300]}", after
    if after.startswith("!"):
        return f"is refused: {after}", after
    if without.startswith("!") != row.is_needed:
        return f"without it: {without[:300]}", after
    if (without == after) != row.is_same(setting):
        return "changes nothing" if without == after else "changes the result", after
    if row.alone and not re.search(row.alone, _attempt(call, setting, "plain", **{option: value})):
        return "is not refused alone", after
    return "", after


def is_tried_by_a_command(call: str, option: str) -> bool:
    """Whether the quick suite tries the option by the function's command, with files."""
    options = options_of_command(call) if call in ("compare", "ranks", "judges") else []
    if option not in options or option in SHARED:
        return False
    row = row_of(call, option)
    return not {"always", "files"} & {*row.same, *row.refused}


def cases() -> Iterator[Any]:
    for call, rows in ROWS.items():
        sources = SOURCES.get(call, ("frames", "files"))
        for option in rows:
            without = ("scores",) if option in SETTINGS_OF_QRELS else ()
            settings = [s for s in SETTINGS if s.source in sources and s.source not in without]
            first = settings[: QUICK.get(call, 1)]
            if call.endswith("Search") and "always" in rows[option].same:
                first = []
            if is_tried_by_a_command(call, option):
                first = [setting for setting in first if setting.source != "frames"]
            rest = [setting for setting in settings if setting not in first]
            for part, chosen, marks in (("", first, []), ("-more", rest, [pytest.mark.slow])):
                if chosen:
                    name = f"{call}-{option}{part}"
                    yield pytest.param(call, option, chosen, id=name, marks=marks)


@pytest.mark.parametrize(("call", "option", "settings"), list(cases()))
def test_option_changes_the_result_or_is_refused(call, option, settings):
    row, shown_by = ROWS[call][option], {}
    problems = []
    for setting in settings:
        if row.measure:
            setting = setting._replace(measure=row.measure)
        wrong, after = problem(call, option, setting)
        problems += [f"{setting}: {wrong}"] if wrong else []
        if setting.source in ("frames", "files"):
            same = shown_by.setdefault(setting._replace(source=""), after) == after
            problems += [] if same else [f"{setting}: not as with frames"]
    assert not problems
