"""Each option changes the result or is refused by its name, in Python and on the command line.

The options come from the signatures and from click, so that a new one without a row fails. Each row
is tried with one collection, with several and with a table of scores, by the function; and all rows
that fit together by its command, whose files hold runs, queries and documents in another order.
"""

import inspect
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import zip_longest
from typing import Any

import _analyses
import _options
import _small
import pandas as pd
import pytest
from _calls import call
from _files import write_qrels
from _options import OF_QRELS, SETTINGS, SETTINGS_OF_QRELS, Setting, of, saved_in
from pandas.io.formats.style import Styler

import pyterrier_asl as asl

pytestmark = pytest.mark.filterwarnings("ignore")

CALLS = _options.CALLS | _analyses.CALLS
ROWS = _options.ROWS | _analyses.ROWS

#: Functions that match runs with qrels.
WITH_QRELS = (
    "evaluate bounds ties compare ranks report holes judges audit plan_audit search_lengths "
    "preferences preference_matrix Experiment"
).split()


def function_of(name: str) -> str:
    return re.split(" (of|without) ", name)[0]


def options_of(function: str) -> list[str]:
    """The options of a function: its keyword-only arguments, and options of pt.Experiment."""
    parameters = list(inspect.signature(getattr(asl, function)).parameters.values())
    data = 4 if function == "Experiment" else 0
    named = parameters[data:] if data else [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    options = [option.name for option in named if option.kind is not option.VAR_KEYWORD]
    return [*options, *(OF_QRELS if function in WITH_QRELS else ())]


def test_every_option_has_a_row():
    functions = [name for name in asl.__all__ if inspect.isfunction(getattr(asl, name))]
    assert {*map(function_of, _options.ROWS), *_options.ELSEWHERE} == set(functions)
    for name, rows in _options.ROWS.items():
        assert set(rows) == set(options_of(function_of(name))), name


def are_alike(one: Any, other: Any) -> bool:
    """Whether the visible content of two results is the same: tables with 13 digits, then text."""
    return all(a == b for a, b in zip_longest(_parts(one), _parts(other)))


def _parts(result: Any) -> Iterator[str]:
    if isinstance(result, pd.DataFrame | pd.Series):
        yield result.to_csv(float_format="%.13g")
        yield str(result.attrs)
    elif isinstance(result, list | tuple):
        for part in result:
            yield from _parts(part)
    elif isinstance(result, Styler):
        yield result.to_latex()
    elif hasattr(result, "html"):
        yield result.html
    else:
        if isinstance(table := getattr(result, "table", None), pd.DataFrame):
            yield from _parts(table)
        if is_dataclass(result):
            values = [getattr(result, field.name) for field in fields(result)]
            yield from _parts([value for value in values if isinstance(value, pd.DataFrame)])
        yield str(getattr(result, "verdicts", ""))
        yield str(result)


def attempt(name: str, setting: Setting, data: str, options: dict[str, Any]) -> Any:
    """The result of a call with the inputs in another order than in the files, or its error."""
    try:
        return CALLS[name].result(setting, data, options)
    except ValueError as error:
        return error


@cache
def with_option(name: str, setting: Setting, option: str) -> Any:
    """The result with the value of a row, or its error."""
    row = ROWS[name][option]
    options = {**of(row.given, setting), option: of(row.value, setting)}
    return attempt(name, setting, row.data, options)


BEFORE: dict[Any, Any] = {}


def without_option(name: str, setting: Setting, option: str) -> Any:
    """The result without the value of a row, or its error; once for rows that give the same."""
    row = ROWS[name][option]
    key = name, setting, row.data, str(row.given)
    if key not in BEFORE:
        BEFORE[key] = attempt(name, setting, row.data, of(row.given, setting))
    return BEFORE[key]


def words(name: str, setting: Setting, data: str, options: Mapping[str, Any]) -> list[str]:
    """A command with its inputs and these options."""
    call_ = CALLS[name]
    if name in _analyses.CALLS:
        return call_.words(setting, data, options)
    command, given = _options.command_of(call_.command), dict(options)
    inputs = _options.words_of_inputs(setting, data)
    if name == "compare" and setting.source == "scores":
        inputs += list(_small.QUALITY)
    if name == "holes of two":
        inputs = [inputs[0], *(str(_options.files(data)[0][run]) for run in ("bravo", "alpha"))]
    if name == "judges":
        given = {"judges": _options.judges_of(0.7, 0.5)(setting), "draws": 30} | given
    if name == "ranks":
        given.setdefault("draws", 300)
    if name in ("audit", "plan_audit"):
        inputs[0] = str(write_qrels(_options.people(), _small.folder() / "people"))
        given["machine"] = {"m": _options.judged_by(0.7)}
    if name == "merge_labels":
        added = given.pop("added", _small.labels())
        inputs = [inputs[0], str(write_qrels(added, _small.folder() / "added"))]
        return ["labels", *inputs, *call_.always, *_options.words_of(command, given)]
    measure = "measures" if any(p.name == "measures" for p in command.params) else "measure"
    always = [*call_.always, *["-q"] * given.pop("by_query", False)]
    words = _options.words_of(command, {measure: setting.measure, **given})
    return [call_.command, *inputs, *always, *words]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(table.reset_index(drop=True).to_json(orient="records", double_precision=15))


def assert_same_rows(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Asserts that two tables have the same rows, in any order; 1 is 1.0, and null is NaN."""

    def parts(row: dict[str, Any]) -> tuple[str, list[float]]:
        texts = {name: v for name, v in row.items() if isinstance(v, str | bool | list)}
        numbers = [
            math.nan if row[name] is None else row[name] for name in row if name not in texts
        ]
        return json.dumps([list(row), texts]), numbers

    assert len(found) == len(expected)
    for one, other in zip(*(sorted(map(parts, rows), key=str) for rows in (found, expected))):
        assert one[0] == other[0]
        assert one[1] == pytest.approx(other[1], rel=1e-9, abs=1e-9, nan_ok=True)


def printed(name: str, setting: Setting, data: str, options: Mapping[str, Any]) -> Any:
    """What the command prints, or its error."""
    done = call(*words(name, setting, data, options))
    if done.exit_code == 2:
        return ValueError(done.stderr)
    assert not done.exit_code or "Guard: FAIL" in done.stderr, done.exc_info
    return done.stdout


def assert_printed(name: str, text: Any, result: Any) -> None:
    """Asserts that a command prints the table of the function's result."""
    assert not isinstance(text, ValueError), text
    expected = CALLS[name].printed(result)
    if isinstance(expected, str):
        assert text.rstrip() == expected.rstrip()
        return
    rows = [json.loads(line) for line in text.splitlines()]
    if name == "compare":  # after the table, each verdict and that of all
        outcomes = [verdict.outcome.name for verdict in result.verdicts]
        assert sorted(row["outcome"] for row in rows if "outcome" in row) == sorted(outcomes)
        rows = rows[: len(expected)]
    assert_same_rows(rows, rows_of(expected))


#: Options that only Python has, or that a command gives itself, such as the name of a machine.
UNSAID = {
    "evaluate": ("long", "backend", "jobs", "progress"),
    "compare": ("baseline",),
    "ranks": ("depth", "highest"),
    "judges": ("test",),
    "audit": ("labels", "name"),
    "plan_audit": ("labels",),
    "merge_labels": ("add_queries",),
}


#: Function -> options that change no result, by themselves and with every other option.
UNSEEN: dict[str, dict[str, Any]] = {
    "evaluate": {"jobs": 2, "backend": "threading", "progress": False},
    "Experiment": {"save_dir": saved_in(SETTINGS[0]), "save_mode": "overwrite", "batch_size": 5},
}

#: Searches, whose trials do not depend on how they are made.
SEARCHES = ("RandomSearch", "KFoldRandomSearch", "StagedSearch")
#: Options that do not fit together with others of their function, or do not show among these.
ALONE = {
    "Experiment": ("perquery", "dataframe"),
    "audit": ("all_pairs",),
    "compare": ("alpha",),
    "holes": ("alpha",),
    "holes of two": ("alpha",),
    "judges": ("labels",),
    "plan_audit": ("rel",),
    "ranks": ("draws", "simultaneous"),
}


def setting_of(name: str, option: str, setting: Setting) -> Setting:
    return setting._replace(measure=ROWS[name][option].measure or setting.measure)


def is_possible(name: str, option: str, setting: Setting) -> bool:
    """Whether an option can be given in a setting: what matches runs is not for scores."""
    is_matching = setting.source == "scores" and option in OF_QRELS
    return setting.source in CALLS[name].sources and not is_matching


def fits(name: str, option: str, setting: Setting) -> bool:
    """Whether an option can be tried with others: it is about the same runs and measure."""
    row = ROWS[name][option]
    is_plain = row.data == "plain" and not of(row.given, setting) and not row.measure
    about = row.about(setting)
    alone = ALONE.get(name, ("as_published",))
    is_alone = option in alone or about["refused"]
    return is_plain and not is_alone


def is_said(name: str, option: str) -> bool:
    return bool(CALLS[name].command) and option not in UNSAID.get(name, ())


def cases() -> Iterator[Any]:
    for name, rows in ROWS.items():
        for option in rows:
            for setting in SETTINGS:
                if is_possible(name, option, setting):
                    marks = [pytest.mark.slow] if is_elsewhere(name, option, setting) else []
                    test = f"{name}-{option}-{setting.source}"
                    yield pytest.param(name, option, setting, id=test, marks=marks)


def is_elsewhere(name: str, option: str, setting: Setting) -> bool:
    """Whether other quick tests try what an option does in a setting.

    All analyses match runs in one way, and do of several tracks what they do of one. A page takes
    half a second: pages are those of changed inputs by unit/reporting/test_report_options.py, and
    the command of test_commands.py has their texts. What says how runs are matched is one mapping,
    of which ``drop_self`` is tried everywhere. Tables of values over several collections are made
    as those of one. How a result is made is tried with all other options, or in unit/tuning.
    """
    if name in _analyses.CALLS:
        is_refused = ROWS[name][option].about(setting)["refused"]
        return option in SETTINGS_OF_QRELS or (setting.source == "several" and not is_refused)
    if name == "report" and not ROWS[name][option].about(setting)["refused"]:
        return setting.source != "frames" or option not in ("judges", "alpha")
    if ROWS[name][option].same and (name in SEARCHES or option in UNSEEN.get(name, ())):
        return not ROWS[name][option].alone
    if option in ("duplicates", "collapse"):
        return name not in ("evaluate", "compare", "Experiment")
    refused = ROWS[name][option].about(SETTINGS[1])["refused"]
    of_one = setting.source == "frames" and name in ("evaluate", "bounds", "ties")
    return of_one and not refused and is_possible(name, option, SETTINGS[1])


@pytest.mark.parametrize(("name", "option", "setting"), list(cases()))
def test_an_option_changes_the_result_or_is_refused(name, option, setting):
    row, setting = ROWS[name][option], setting_of(name, option, setting)
    options = {**of(row.given, setting), option: of(row.value, setting)}
    refused, same = row.about(setting).values()
    after = with_option(name, setting, option)
    if is_said(name, option) and not fits(name, option, setting):
        text = printed(name, setting, row.data, options)
        if refused:
            assert isinstance(text, ValueError) and re.search(refused, str(text))
        else:
            assert_printed(name, text, after)
    if refused:
        assert isinstance(after, ValueError) and re.search(refused, str(after))
        return
    assert not isinstance(after, ValueError), after
    before = without_option(name, setting, option)
    is_needed = row.data in ("repeated", "lacking", "unusable")
    assert isinstance(before, ValueError) == is_needed, before
    assert are_alike(before, after) == bool(same)
    if row.alone:
        alone = attempt(name, setting, "plain", {option: options[option]})
        assert isinstance(alone, ValueError) and re.search(row.alone, str(alone))


def together(name: str, setting: Setting) -> dict[str, Any]:
    """The options of a command that can be tried at once."""
    return {
        option: of(row.value, setting)
        for option, row in ROWS[name].items()
        if is_possible(name, option, setting)
        and is_said(name, option)
        and fits(name, option, setting)
    }


SOURCES = [(name, setting) for name in CALLS for setting in SETTINGS]
OF_COMMANDS = [(n, s) for n, s in SOURCES if CALLS[n].command and s.source in CALLS[n].sources]


@pytest.mark.parametrize(("name", "setting"), OF_COMMANDS)
def test_a_command_prints_the_result_with_all_options(name, setting):
    options = together(name, setting)
    text, result = (made(name, setting, "plain", options) for made in (printed, attempt))
    assert_printed(name, text, result)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting"), [c for c in OF_COMMANDS if c[0] in _options.CALLS])
def test_each_of_all_options_shows(name, setting):
    options = together(name, setting)
    whole = attempt(name, setting, "plain", options)
    for left in options:
        fewer = {option: value for option, value in options.items() if option != left}
        assert not are_alike(attempt(name, setting, "plain", fewer), whole), left


@pytest.mark.parametrize(
    ("name", "alone"), [(name, one) for name in UNSEEN for one in ("", *ALONE.get(name, ()))]
)
def test_how_a_result_is_made_does_not_change_what_other_options_give(name, alone):
    setting, options, measures = SETTINGS[0], {}, {}
    for option, row in ROWS[name].items():
        is_other = row.data != "plain" or row.same or row.about(setting)["refused"]
        others = (*UNSEEN[name], *ALONE.get(name, ()))
        if not is_other and (option == alone if alone else option not in others):
            options = of(row.given, setting) | options | {option: of(row.value, setting)}
            measures[setting_of(name, option, setting).measure] = None
    setting = setting._replace(measure=" ".join(measures))
    expected = attempt(name, setting, "plain", options)
    assert not isinstance(expected, ValueError), expected
    found = attempt(name, setting, "plain", options | UNSEEN[name])
    assert are_alike(found, expected)


@pytest.mark.parametrize("simultaneous", [False, True])
def test_scores_of_collections_give_what_their_runs_give(simultaneous):
    measure, tracks = "ASL@10", _options.several()
    tables = {track: asl.evaluate(*pair, measure, long=True) for track, pair in tracks.items()}
    scores = asl.read_scores(pd.concat(tables, names=["track"]).reset_index("track"))
    options = {"simultaneous": simultaneous, "alpha": 0.4}
    found, expected = (asl.ranks(given, None, measure, **options) for given in (scores, tracks))
    assert_same_rows(rows_of(found.table), rows_of(expected.table))
