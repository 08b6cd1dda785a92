"""The command ``pyterrier-asl``, which calls the library.

\b
Examples:
  pyterrier-asl demo
  pyterrier-asl evaluate qrels.txt bm25.run dense.run
  pyterrier-asl evaluate qrels.txt runs/ -m 'ASL@1000 LexiP AP nDCG@10'
  pyterrier-asl evaluate irds:vaswani bm25.run.gz --lengths irds:vaswani
  pyterrier-asl compare qrels.txt bm25.run dense.run --fail-if 'nASL@1000 worse p<.05'
  pyterrier-asl report qrels.txt runs/ -o report.html
  pyterrier-asl analyze --list

\b
Completion of commands and options with the Tab key, for bash (or zsh, or fish):
  eval "$(_PYTERRIER_ASL_COMPLETE=bash_source pyterrier-asl)"

\b
Exit status: 0, success; 1, one of several runs could not be measured, or the verdict of
'compare --fail-if' is FAIL; 2, an error, such as an invalid argument or file.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from ..io.atomic import FULL

#: The commands in the order of help, with their descriptions. The module of a command is imported
#: when the command is called, so that ``--help`` is quick.
COMMANDS = {
    "evaluate": "Measure run files with qrels.",
    "compare": "Compare runs with a baseline: tests, preferences, queries; guard a build.",
    "explain": "Name the convention by which another program's value was computed.",
    "ranks": "Show which ranks each system could have, and which could be the best.",
    "holes": "Show what unjudged documents could change, and which to judge next.",
    "labels": "Merge labels of unjudged documents with qrels.",
    "judges": "Compare people, crowds and machines that judged the same documents.",
    "audit": "Measure runs with a machine's labels, corrected by people's.",
    "plan-audit": "Draw the queries and documents that people judge for an audit.",
    "report": "Write an HTML report: ranking of systems, differences, missed documents.",
    "analyze": "Make the tables and figures of the papers, by name.",
    "tune": "Tune BM25 with feedback for a measure by random search in stages.",
    "pool": "Make a pool of runs for the rareness measures.",
    "demo": "Retrieve from a small collection and show the measures, without files.",
}


def epilog(documentation: str | None) -> str:
    """The end of the help of a command: the documentation of its module without the title."""
    return (documentation or "").partition("\n\n")[2]


#: The key of the command that is called, which may be a subcommand of another.
COMMAND = "pyterrier_asl.command"


def print_notes(notes: Iterable[str], form: str = "") -> None:
    """Prints what must be known of the inputs on stderr; a table on a terminal has it below."""
    for note in notes if form != "table" else ():
        click.echo(f"Note: {note}", err=True)


class Commands(click.Group):
    """A group whose commands are modules of the same name. Errors are printed in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Any:
        """The command of a name, which is imported here; None: there is none."""
        if cmd_name in COMMANDS:
            return import_module(f".{cmd_name.replace('-', '_')}", __name__).command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; an error is one line on stderr, or with ``--traceback`` several."""
        with _one_line_warnings():
            try:
                try:
                    return super().invoke(ctx)
                finally:
                    _flush_output()
            except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
                raise
            except KeyboardInterrupt:
                click.echo("Interrupted", err=True)
                raise click.exceptions.Exit(130) from None
            except Exception as error:
                if ctx.params["traceback"]:
                    traceback.print_exception(error)
                raise Failure(_name_options(error_line(error), ctx.meta.get(COMMAND))) from error


def _flush_output() -> None:
    """Flushes the standard output; output that cannot be written is not tried again at exit.

    Raises:
        OSError: for a full disk, for instance.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno in FULL:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


class Failure(click.ClickException):
    """An error with its own exit status."""

    exit_code = 2


#: An argument of a function in an error, such as ``pass conflicts='official'``.
_ARGUMENT = re.compile(r"\b(pass|give|is for) (\w+)=(?:'([^']*)'|([\w.]*\w)?)")


def _name_options(text: str, command: click.Command | None) -> str:
    """Replaces the names of function arguments in an error by the options of the command."""
    names = {
        option.name: next((name for name in option.opts if name[:2] == "--"), option.opts[0])
        for option in (command.params if command else [])
        if isinstance(option, click.Option)
    }

    def as_option(argument: re.Match[str]) -> str:
        verb, name, quoted, plain = argument.groups()
        if name not in names:
            return argument[0]
        return " ".join(filter(None, (verb, names[name], quoted or plain)))

    refused, is_for, rest = text.partition(" is for ")
    name, _, value = refused.partition("=")
    if name in names:
        refused = f"{names[name]} {value.strip(chr(39))}".rstrip()
    return _ARGUMENT.sub(as_option, f"{refused}{is_for}{rest}")


def error_line(error: Exception) -> str:
    """The message of an error in one line; for an unexpected error also its type."""
    if isinstance(error, click.ClickException):
        return " ".join(error.format_message().split())
    from ..measures.parsing import measure_named

    # Standard input is read from a file.
    text = re.sub(r"\S*/pyterrier_asl-\w+/stdin", "standard input", " ".join(str(error).split()))
    if isinstance(error, OSError) and error.errno in FULL and not error.filename:
        return f"cannot write the standard output: {error.strerror}"  # files are named
    if isinstance(error, MemoryError):
        remedy = "" if "ulimit" in text else "; give fewer runs or --jobs, or raise 'ulimit -v'"
        return f"not enough memory: {text or 'the system gives no more'}{remedy}"
    if re.search("can't start new thread|Resource temporarily unavailable", text):
        return f"{text}: the system allows no more threads; raise 'ulimit -u', or pass fewer --jobs"
    if isinstance(error, FileNotFoundError) and measure_named(text.rpartition(" ")[2]):
        return (
            f"{text}; write several measures in one argument, such as -m 'AP nDCG@10', or repeat -m"
        )
    if isinstance(error, (ValueError, OSError, ImportError)):
        return text
    return f"{type(error).__name__}: {text} (--traceback shows where)"


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Prints each warning once, without its line of code."""
    printed = set()

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        if text not in printed:
            printed.add(text)
            print("Warning:", text, file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@click.group(
    cls=Commands,
    epilog=epilog(__doc__),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="pyterrier-asl")
@click.option("--traceback", is_flag=True, help="Show the traceback of an error.")
def main(**_: bool) -> None:
    """Atomized search length, lexicographic precision, rareness and time-biased gain, together with
    AP, nDCG and all other measures of ir_measures.
    """
