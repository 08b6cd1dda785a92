"""Each option of an analysis changes its table or is refused; the command prints the same table.

The command has files in another order than the inputs of the function.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import _small
import click
import pandas as pd
import pytest
from _calls import call
from _options import (
    GROUPS,
    PAIRS,
    SETTINGS,
    SETTINGS_OF_QRELS,
    Row,
    Setting,
    inputs,
    judges_of,
    lengths,
    of,
    words_of,
    words_of_inputs,
)
from test_options import are_alike, assert_same_rows, command_of, rows_of

from pyterrier_asl.analysis.registry import Analysis, analyses

pytestmark = pytest.mark.filterwarnings("ignore")

ANALYSES = {analysis.name: analysis for analysis in analyses()}
RUNS = list(_small.QUALITY)
TYPES = dict(zip(RUNS, ("manual", "automatic") * 2))

#: A value for each option that an analysis cannot do without, or is always given.
GIVEN: dict[str, Any] = {
    "old": "charlie",
    "new": "bravo",
    "n": 30,
    "relevant": [5, 10],
    "ranks": [1, 3],
    "qid": "q3",
}
RARENESS = "agreement-by-alpha agreement-by-number-of-systems".split()

#: Options on how files are read, which are tested with the readers.
OF_FILES = ("columns", "grades")

#: Rows of the options of several analyses.
COMMON: dict[str, Row] = {
    "rel": Row(3),
    "cutoff": Row(5),
    "missing": Row("after"),
    "as_published": Row(True),
    "preferences": Row(["rrLP"]),
    "preference": Row("rrLP"),
    "correction": Row("none"),
    "alpha": Row(0.002),
    "test": Row("sign"),
    "levels": Row(3),
    "following": Row(2),
    "draws": Row(20),
    "seed": Row(7),
    "fuzz": Row(0.3),
    "few": Row(1),
    "depth": Row(3),
    "groups": Row(GROUPS),
    "a": Row("bravo"),
    "b": Row("charlie"),
    "run": Row("delta"),
    "fractions": Row([0.5, 1.0]),
    "deepest": Row(3),
    "margin": Row(0.5),
    "each": Row(True),
    "standardized": Row(True),
    "alphas": Row([0.0, 1.0]),
    "normalized": Row(True),
    "sizes": Row([2]),
    "measures": Row(["P@5"]),
    "measure": Row("P_Rareness@5"),
    "system": Row("delta"),
    "run_types": Row(TYPES),
    "both_ways": Row(True),
    "judge_rel": Row({"x": 2}, refused={"several": "none of the"}),
    "lengths": Row(lambda s: lengths()),
    "judges": Row(judges_of(0.3), refused={"several": "one track only"}),
    **SETTINGS_OF_QRELS,
}
OTHER_RARENESS = {"measures": Row(["P_Rareness@5"])}
RANDOM = {
    "draws": Row(20, {"test": "randomization"}, alone="draws"),
    "seed": Row(
        7,
        lambda s: {"test": "randomization", "draws": 20 if s.source == "frames" else 90},
        alone="seed",
    ),
}
DOUBLE = Row(True, data="narrow")
#: Labels change a note on their scale.
SAME = {
    "drop_self": replace(
        SETTINGS_OF_QRELS["drop_self"], same={"always": "no order of two runs changes"}
    ),
    "labels": SETTINGS_OF_QRELS["labels"],
}
RAREST = {"measures": ["P_Rareness(alpha=1.0)@5"]}
#: Rows of the options of single analyses.
OWN: dict[str, dict[str, Row]] = {
    "agreement-by-alpha": {
        "labels": SAME["labels"],
        **OTHER_RARENESS,
        "as_published": DOUBLE,
        "drop_self": SAME["drop_self"],
    },
    "agreement-by-number-of-systems": {
        "labels": SAME["labels"],
        **OTHER_RARENESS,
        "as_published": Row(True, {**RAREST, "draws": 200}, data="narrow"),
        "seed": Row(7, {**RAREST, "draws": 40}, data="uncommon"),
        "drop_self": SAME["drop_self"],
    },
    "discriminative-power": {
        "levels": Row([0.3]),
        "draws": Row(20, {"levels": [0.1, 0.3, 0.5, 0.7], "test": "randomization"}, alone="draws"),
        "seed": Row(
            7, {"test": "randomization"}, same={"always": "all sign vectors"}, alone="seed"
        ),
        "drop_self": SAME["drop_self"],
    },
    "stability": {"as_published": replace(DOUBLE, given={"draws": 200})},
    "compare-techniques": RANDOM
    | {
        option: replace(COMMON[option], refused={"always": "is for the default measures"})
        for option in ("rel", "cutoff", "missing")
    }
    | {
        "correction": Row("none", {"measures": ["P@5"]}),
        "as_published": Row(True, {"measures": ["P@5"]}),
    },
    "compare-with-assessors": RANDOM,
    "preference-discrimination": {
        "levels": Row([0.3]),
        "drop_self": SAME["drop_self"],
        **{
            option: Row(value, {"levels": [0.5], "draws": 20}, data="close")
            for option, value in {"rel": 3, "cutoff": 2, "draws": 500, "seed": 7}.items()
        },
    },
    "cycles": {
        "labels": SAME["labels"],
        "preference": Row("rrLP", data="circular"),
        "rel": Row(2, data="circular"),
        "cutoff": Row(5, data="circular"),
        "drop_self": SAME["drop_self"],
    },
    "reordering": {"correction": Row("bonferroni", {"alpha": 0.05})},
    "rare-finds": {"drop_self": SAME["drop_self"]},
    "synthetic-systems": {"drop_self": SAME["drop_self"]},
    "human-range": {"judges": Row(judges_of(0.3))},
}
OWN["compare-techniques"]["measures"] = COMMON["measures"]

#: Analyses whose pairs, lists of runs or ties follow the order of the runs.
OF_NAMES = "compare-techniques system-preferences reordering rare-documents".split()
#: Analyses that draw queries, documents or pairs in the order of the input.
DRAWN = (
    "stability missing-labels missing-queries ties-with-missing-labels preference-discrimination "
    "agreement-by-number-of-systems"
).split()


def options_of(analysis: Analysis) -> list[str]:
    """The options that a command has."""
    command = command_for(analysis)
    names = dict.fromkeys(p.name for p in command.params if isinstance(p, click.Option))
    return [name for name in names if name not in OF_FILES]


def command_for(analysis: Analysis) -> click.Command:
    group: Any = command_of("analyze")
    return group.get_command(click.Context(group), analysis.name)


def row_of(name: str, option: str) -> Row:
    return OWN.get(name, {}).get(option) or COMMON[option]


def rows_for(analysis: Analysis) -> dict[str, Row]:
    """The rows of an analysis; what it is always given has none."""
    printing = "tracks places wide all_rows form force chart title".split()
    names = [name for name in options_of(analysis) if name not in (*printing, *GIVEN)]
    return {name: row_of(analysis.name, name) for name in names}


def always(analysis: Analysis, setting: Setting) -> dict[str, Any]:
    """Options that an analysis cannot do without."""
    found = {name: GIVEN[name] for name in GIVEN if name in analysis.parameters}
    name, rareness = analysis.name, "AP_Rareness@10"
    if "measures" in analysis.parameters:
        found["measures"] = [rareness if name in RARENESS else setting.measure]
    if name in DRAWN:
        found["draws"] = 4
    if "fractions" in analysis.parameters:
        found["fractions"] = [0.3, 0.6]
    if "judges" in analysis.parameters and setting.source == "frames":
        found["judges"] = judges_of(0.7, 0.5)(setting)
    return found


def table_of(
    analysis: Analysis, setting: Setting, data: str, options: dict[str, Any]
) -> pd.DataFrame | ValueError:
    """The table of the function, with inputs in another order than in the files."""
    options = always(analysis, setting) | options
    is_drawn = analysis.name in DRAWN or "draws" in options or "seed" in options
    names = analysis.name not in OF_NAMES and not is_drawn
    runs, qrels = inputs(setting, data, options, names=names, keep=PAIRS if is_drawn else ())
    given = {
        name: v for name, v in (("runs", runs), ("qrels", qrels)) if name in analysis.parameters
    }
    if analysis.name == "assessor-scores":
        given = {"qrels": qrels}
    try:
        return analysis.function(**given, **options)
    except ValueError as error:
        return error


@cache
def plain(name: str, setting: Setting) -> pd.DataFrame | ValueError:
    return table_of(ANALYSES[name], setting, "plain", {})


def printed(analysis: Analysis, setting: Setting, data: str, options: dict[str, Any]) -> Any:
    """The rows that the command prints, or its error."""
    given = words_of_inputs(setting, data)
    if "runs" not in analysis.takes:
        given = given[:1] if analysis.takes else []
    words = words_of(command_for(analysis), always(analysis, setting) | options)
    done = call("analyze", analysis.name, *given, *words, "-o", "jsonl")
    if done.exit_code == 2:
        return ValueError(done.stderr)
    assert done.exit_code == 0, done.exc_info
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_printed(
    analysis: Analysis, setting: Setting, data: str, options: dict[str, Any]
) -> None:
    table = table_of(analysis, setting, data, options)
    found = printed(analysis, setting, data, options)
    assert not isinstance(table, ValueError) and not isinstance(found, ValueError), (table, found)
    if "track" in table and setting.source != "several":
        table = table.drop(columns="track")
    assert_same_rows(found, rows_of(table))


def settings_of(analysis: Analysis) -> list[Setting]:
    return SETTINGS[: 2 if analysis.tracks else 1]


def cases() -> Iterator[Any]:
    for name, analysis in ANALYSES.items():
        for option in rows_for(analysis):
            for setting in settings_of(analysis):
                # All analyses match runs in one way, which the quick part tries with all options;
                # of several tracks they do what they do of one.
                is_refused = row_of(name, option).about(setting)["refused"]
                is_again = setting.source == "several" and not is_refused
                marks = [pytest.mark.slow] if option in SETTINGS_OF_QRELS or is_again else []
                test = f"{name}-{option}-{setting.source}"
                yield pytest.param(name, option, setting, id=test, marks=marks)


@pytest.mark.parametrize(("name", "option", "setting"), list(cases()))
def test_an_option_changes_the_table_or_is_refused(name, option, setting):
    analysis, row = ANALYSES[name], row_of(name, option)
    given = of(row.given, setting)
    options = {**given, option: of(row.value, setting)}
    refused, same, _ = row.about(setting).values()
    is_plain = row.data == "plain" and not given
    after = table_of(analysis, setting, row.data, options)
    if refused:
        for error in (after, printed(analysis, setting, row.data, options)):
            assert isinstance(error, ValueError) and re.search(refused, str(error))
        return
    assert not isinstance(after, ValueError), after
    before = plain(name, setting) if is_plain else table_of(analysis, setting, row.data, given)
    assert isinstance(before, ValueError) == (row.data == "repeated"), before
    if not isinstance(before, ValueError):
        assert are_alike(before, after) == bool(same)
    if row.alone:
        alone = table_of(analysis, setting, "plain", {option: options[option]})
        assert isinstance(alone, ValueError) and row.alone in str(alone)
    if not is_plain:
        assert_printed(analysis, setting, row.data, options)


@pytest.mark.parametrize("name", ANALYSES)
def test_a_command_prints_the_table_of_the_function_with_all_options(name):
    analysis = ANALYSES[name]
    setting = settings_of(analysis)[-1]
    options = {
        option: of(row.value, setting)
        for option, row in rows_for(analysis).items()
        if not (row.about(setting)["refused"] or row.given or row.data != "plain")
    }
    published = {option: options.pop(option) for option in ["as_published"] if option in options}
    for given in (options, published)[: 1 + bool(published)]:
        assert_printed(analysis, setting, "plain", given)
