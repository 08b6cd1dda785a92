"""Inputs and parameters of the commands, from the signatures of the library."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Any, TypeAlias

import click

from ..common.parameters import one_or_more
from ..evaluation.sources import NOT_FOR_SCORES, refuse
from ..io.runs import declared_runs
from ..judging.qrels import Qrels
from .option_table import OPTIONS

#: Adds an option to a command.
Decorator: TypeAlias = Callable[[Any], Any]

#: The type of an option that is a whole number from 1 on.
NUMBER = click.IntRange(min=1)

#: An option without a value.
switch = partial(click.option, is_flag=True)

#: An option that can be given several times.
repeated = partial(click.option, multiple=True)


def instead(name: str, remedy: str) -> Decorator:
    """An option of another program or release, and what to write instead."""

    def refuse_it(context: click.Context, parameter: Any, value: str | None) -> None:
        if value is not None:
            raise click.UsageError(f"there is no {name}: {remedy}", context)

    return click.option(
        name, hidden=True, expose_value=False, is_flag=False, flag_value="", callback=refuse_it
    )


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, in the order of help."""
    return lambda command: reduce(lambda done, add: add(done), reversed(decorators), command)


# Options of the parameters of a function


class Option(click.Option):
    """An option of a parameter; its value is read when the function is called."""

    def __init__(self, *names: Any, read: Callable[[Any], Any] = lambda value: value, **more: Any):
        """An option with the function that reads its value."""
        super().__init__(*names, **more)
        self.read = read


#: The parameters of :class:`~pyterrier_asl.Qrels` that commands take.
OF_QRELS = ("labels", "duplicates", "drop_self", "collapse", "columns", "grades")

#: Parameters in Python only, or given by arguments of the commands.
PYTHON_ONLY = frozenset(
    "runs qrels collection backend progress verbose long command queries edges following tests "
    "documents options".split()
)


def of(function: Callable[..., Any], *only: str, **own: Any) -> Decorator:
    """The options of a function's parameters: names, types, defaults, and what is required.

    Args:
        function: the function, whose defaults help shows and values are left to.
        only: the parameters; by default those of ``own`` and all but :data:`PYTHON_ONLY`.
        own: parameter -> what differs from its common option, as its help, which is otherwise the
            first sentence on the parameter in the docstring; None: the command gives it.
    """
    parameters, documented = inspect.signature(function).parameters, descriptions(function)
    names = only or [name for name in parameters if name not in PYTHON_ONLY or own.get(name)]
    return together(
        *(
            option_of(parameters[name], documented.get(name, ""), **own.get(name, {}))
            for name in names
            if own.get(name, {}) is not None
        )
    )


def descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """The first sentence of the docstring on each parameter, without what None means.

    >>> from pyterrier_asl import ranks
    >>> descriptions(ranks)["draws"]
    'Number of random sign vectors; all 2^Q if these are not more.'
    """
    _, _, arguments = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    help = {}
    for name, text in re.findall(r"^    (\w+): ((?:.*\n?)(?:^     .*\n?)*)", arguments, re.M):
        plain = re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", " ".join(text.split())).replace("``", "")
        first = re.split(r"; None: |\. ", re.sub("^whether (to )?", "", plain))[0].rstrip(".")
        help[name] = f"{first[:1].upper()}{first[1:]}."
    return help


#: Arguments of options by the annotation of the parameter; functions get a text for the last ones.
_TYPED: dict[str, dict[str, Any]] = {
    "bool": {"is_flag": True},
    "int": {"type": NUMBER},
    "float": {"type": float},
    **dict.fromkeys(("str", "Any", "Measures", "QrelsLike", "IndexedCollection"), {}),
}


def option_of(parameter: inspect.Parameter, documented: str, **own: Any) -> Decorator:
    """The option of a parameter, whose help is the documentation if nothing else is given."""
    name, annotation = parameter.name, str(parameter.annotation)
    required, default = parameter.default is parameter.empty, parameter.default
    kind = annotation.partition(" |")[0]
    how = {
        "help": documented,
        "required": required,
        **_TYPED.get(kind, {}),
        **(OPTIONS.get(f"{name}: {annotation}") or OPTIONS.get(name, {})),
        **own,
    }
    if kind not in _TYPED and not how.keys() & {"type", "read", "multiple"}:
        raise TypeError(
            f"{name}: {annotation} is not a text: say in cli/option_table.py how it is read"
        )
    none = how.pop("none", None)
    if default in (None, ()) and none is not None and "default" not in how:
        how["help"] += f"  [default: {none}]"
    elif not (required or default in (None, (), "") or default is False):
        is_list = isinstance(default, tuple) and "multiple" not in how
        how.setdefault("default", ",".join(map(str, default)) if is_list else default)
    names = how.pop("names", ()) or (f"--{name.replace('_', '-')}",)
    return click.option(*names, name, cls=Option, show_default="default" in how, **how)


def given(*others: str) -> dict[str, Any]:
    """The values of parameters that the user gave, as the function takes them.

    Args:
        others: parameters that the command gives itself; those of :class:`Qrels` are left out.
    """
    return _given(click.get_current_context().params.keys() - {*others, *OF_QRELS})


def _given(names: Container[str | None]) -> dict[str, Any]:
    context = click.get_current_context()
    return {
        option.name: option.read(context.params[option.name])
        for option in context.command.params
        if isinstance(option, Option) and option.name in names and is_given(option.name)
    }


def is_given(name: str | None) -> bool:
    """Whether the user gave the option of a parameter."""
    source = click.core.ParameterSource
    given = click.get_current_context().get_parameter_source(name or "")
    return given in (source.COMMANDLINE, source.ENVIRONMENT)


def take(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Removes these options from the settings, and returns those that were given."""
    return {name: settings.pop(name) for name in names if name in settings}


# Inputs

#: Options of :class:`~pyterrier_asl.Qrels`.
matching = of(Qrels, *OF_QRELS)


def qrels_of(qrels: Any) -> Any:
    """The qrels, with labels and how runs are matched, if the user gave any of these."""
    settings = _given(OF_QRELS)
    return Qrels(qrels, **settings) if settings else qrels


def runs_of(files: Any) -> Any:
    """The runs, their files with the names of columns that the user gave."""
    columns = click.get_current_context().params.get("columns")
    return declared_runs(files, columns) if columns and files else files


qrels = click.argument("qrels")
runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")

#: QRELS and RUN... of commands that also take tracks or scores instead.
qrels_if_any = click.argument("qrels", required=False)
runs_if_any = click.argument("runs", nargs=-1, metavar="[RUN...]")

#: Several collections.
tracks = repeated(
    "-t",
    "--track",
    "tracks",
    nargs=3,
    metavar="NAME QRELS RUNS",
    help="Instead of QRELS and RUN...: the name, the qrels, and the folder of the runs of a track; "
    "can be given again for another track.",
)


#: Scores by query that were computed before, what they hold, and what to do about missing ones.
scores = together(
    repeated(
        "--scores",
        metavar="FILE",
        help="Instead of QRELS and RUN...: values by query, a CSV, TSV or Parquet table, JSON "
        "lines, or what trec_eval -q and ir_measures -q print; can be given again.",
    ),
    click.option(
        "--wide",
        type=click.Choice(["systems", "queries"]),
        help="What the other columns of --scores are, if not measures.",
    ),
    click.option(
        "--missing",
        metavar="common|VALUE",
        help="Missing scores: common compares only queries with all values; a number is their "
        "value.",
    ),
    repeated("--lower-is-better", metavar="NAME", help="Lower scores are better by this measure."),
    repeated(
        "--higher-is-better", metavar="NAME", help="Higher scores are better by this measure."
    ),
    instead("--wide-systems", "write --wide systems"),
    instead("--fill", "write --missing VALUE"),
)
_NOT_OF_QRELS = ("wide", "missing", "lower_is_better", "higher_is_better")
_OF_SCORES = ("columns", *_NOT_OF_QRELS)
_NOT_OF_SCORES = [name for name in OF_QRELS if name != "columns"]


def sources(names: Sequence[str] | None = None) -> tuple[Any, Any]:
    """Runs and qrels, scores, or several tracks of the current command, for the library.

    Args:
        names: the qrels and the runs; None: the arguments QRELS and RUN.
    """
    values = click.get_current_context().params
    tracks, scores = values.get("tracks"), values.get("scores")
    if names is None:
        names = [values["qrels"], *values.get("runs", ())]
    qrels, *files = names or [""]
    if sum(map(bool, (qrels, tracks, scores))) != 1:
        or_scores = ", or --scores" if "scores" in values else ""
        raise click.UsageError(f"give QRELS and RUN..., or --track for each track{or_scores}")
    of_scores = {name: values[name] for name in _OF_SCORES if name in values and "scores" in values}
    if scores or tracks:
        unused = dict.fromkeys(filter(is_given, _NOT_OF_SCORES if scores else ["labels"]), True)
        refuse(NOT_FOR_SCORES if scores else "belong to QRELS, not to tracks", **unused)
    if scores:
        from ..evaluation.scores import read_scores

        with suppress(ValueError, TypeError):
            of_scores["missing"] = float(of_scores["missing"])
        return read_scores(scores, **of_scores), None
    for name in of_scores:
        if is_given(name) and name in _NOT_OF_QRELS:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --scores")
    if tracks:
        from ..evaluation.sources import tracks_by_name

        return {
            name: (runs_of(runs), qrels_of(own))
            for name, (runs, own) in tracks_by_name(tracks).items()
        }, None
    if not files:
        raise click.UsageError("Missing argument 'RUN...'")
    return runs_of(files), qrels_of(qrels)


#: Arguments and options that are names of inputs.
_INPUTS = (
    "qrels names runs files scores labels topics docs lengths groups pool pools run_types"
).split()


def inputs() -> list[str]:
    """The files and folders that the current command reads."""
    values = click.get_current_context().params
    tracks = values.get("tracks", ())
    judges = [*values.get("judges", ()), *values.get("machine", ())]
    return [
        *(judge.split("=", 2 if tracks else 1)[-1] for judge in judges),
        *(path for track in tracks for path in track[1:]),
        *(name for value in filter(None, map(values.get, _INPUTS)) for name in one_or_more(value)),
    ]


#: Texts of queries, where a command lists queries.
topics = click.option("--topics", metavar="FILE", help=OPTIONS["topics"]["help"])
docs = click.option("--docs", metavar="FILE", help=OPTIONS["docs"]["help"])
