"""What commands print and save: the form, files, charts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ..common.parameters import OTHER_NAMES
from ..io.atomic import check_replaceable, replacing
from ..printing.table_lines import EVERY_PLACE
from ..printing.tables import FORMS
from . import COMMAND
from .options import Decorator, inputs, switch, together

#: The key of the arguments of the command.
ARGUMENTS = "pyterrier_asl.arguments"


#: Options of other commands -> what to do without them.
_OF_OTHERS = {
    "--repetitions": "only 'compare' takes several runs of one system; give one run per system",
    "--track": "this command takes one collection; 'evaluate', 'ranks', 'report' and 'analyze' "
    "take several",
    "--scores": "this command needs QRELS and RUN...: 'compare' and 'ranks' take scores",
}


class Command(click.Command):
    """A command that refuses empty arguments: a file without a name would be the current folder."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments, and keeps them."""
        ctx.meta[COMMAND], ctx.meta[ARGUMENTS] = self, [*args]
        if "" in args and not ctx.resilient_parsing:
            before = args[max(args.index("") - 1, 0)]
            what = f"the value of {before}" if before.startswith("-") else "an argument"
            raise click.UsageError(
                f"{what} is empty, perhaps a variable without a value: give a value, or leave it "
                "out",
                ctx,
            )
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            other = self._other_name(name)
            if remedy := f"write {other}" if other else _OF_OTHERS.get(name):
                raise click.UsageError(f"no option {name}: {remedy}", ctx) from None
            raise

    def _other_name(self, option: str) -> str:
        """What to write instead of an option of another program; empty: that is not known."""
        names = OTHER_NAMES.get(option.lstrip("-").replace("-", "_"), ())
        known = (
            f"{min(param.opts, key=len)} {value}".strip()
            for name, _, value in (other.partition(" ") for other in names)
            for param in self.params
            if f"--{name}" in param.opts and value in (param.metavar or "")
        )
        return next(known, "")

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; ``-o`` is a file for what it prints, or a form for what it saves."""
        values = ctx.params
        form = values.get("form", "table")
        files = map(values.get, ("output", "chart", "export_to", "out"))
        if values.get("force") and form in FORMS and not any(files):
            raise click.UsageError("--force goes with an option that writes a file")
        if PRINTED in ctx.meta:
            with redirect_stdout(sys.stderr):
                super().invoke(ctx)
            sys.stdout.buffer.write(Path(values["output"]).read_bytes())
            return
        if form in FORMS:
            return super().invoke(ctx)
        check_replaceable(form, inputs=inputs(), force=values["force"])
        values["form"], status = _FormOrFile.endings[Path(form).suffix], 0
        with redirect_stdout(StringIO()) as printed:
            try:
                super().invoke(ctx)
            except click.exceptions.Exit as done:  # an exit status of a whole table
                status = done.exit_code
        with replacing(form, force=True) as path:
            path.write_text(printed.getvalue(), encoding="utf-8")
        click.echo(f"wrote {form}", err=True)
        ctx.exit(status)


class _FormOrFile(click.Choice[str]):
    """The form of a printed table, or a file in the form of its ending."""

    endings = dict(zip((".txt", ".tsv", ".csv", ".jsonl", ".tex", ".md"), FORMS))

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The value, if it is a form or has an ending of a form."""
        if value not in FORMS and Path(value).suffix not in self.endings:
            forms, endings = ", ".join(FORMS), ", ".join(self.endings)
            self.fail(f"{value!r} is no form ({forms}), and no file with an ending of {endings}")
        return value


force = switch("--force", help="Overwrite a file of another kind, but never an input.")


def output(help: str) -> Decorator:
    """``-o`` of a command that prints a table."""
    form = click.option(
        "-o",
        "--output",
        "--output_format",
        "form",
        type=_FormOrFile(FORMS),
        metavar=f"{'|'.join(FORMS)}|FILE",
        default="table",
        show_default=True,
        help=f"The form to print, or a file: {', '.join(_FormOrFile.endings)}. {help}",
    )
    return together(form, force)


#: The key of the temporary folder of a file that is printed.
PRINTED = "pyterrier_asl.printed"


def saved(form: str, help: str, *, required: bool = False) -> Decorator:
    """``-o`` of a command that saves a file, whose content is printed if its form is given."""

    def file_of(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
        if value != form:
            return value
        context.meta[PRINTED] = folder = context.with_resource(TemporaryDirectory())
        return os.path.join(folder, f"output.{form}")

    return click.option(
        "-o",
        "--output",
        callback=file_of,
        required=required,
        metavar=f"{form}|FILE",
        help=f"{help}; {form}: print its content.",
    )


places = click.option(
    "-p",
    "--places",
    type=click.IntRange(min=EVERY_PLACE),
    default=4,
    show_default=True,
    help="Decimal places; -1: all. JSON lines always have all.",
)

#: Size of the table in a terminal.
table_size = switch("--all", "all_rows", help="In a terminal: all rows and columns.")


def show(*tables: str, help: str) -> Decorator:
    """``--show``: which table is printed, and drawn by ``--chart``; the first by default.

    Args:
        tables: their names; ``queries`` can also be shown by ``-q``, ``pairs`` by ``--pairs``.
        help: what else to know of the tables.
    """
    names = {"queries": ("-q", "--by-query", "--by_query"), "pairs": ("--pairs",)}
    return together(
        click.option(
            "--show",
            type=click.Choice(tables),
            help=f"The table to print, which --chart draws. {help} [default: {tables[0]}]",
        ),
        *(
            click.option(*names[table], "show", flag_value=table, help=f"As --show {table}.")
            for table in tables[1:]
            if table in names
        ),
    )


def chart(help: str) -> Decorator:
    """``--chart``, ``--title`` and ``--no-title``."""
    return together(
        click.option(
            "--chart",
            metavar="FILE",
            help=f"{help}, into .html, .svg, .png or .pdf. Needs pip install '.[charts]'.",
        ),
        click.option("--title", metavar="TEXT", help="The heading of the chart."),
        click.option(
            "--no-title", "title", flag_value="", help="A chart without heading and caption."
        ),
    )


def style() -> dict[str, Any]:
    """The values of :data:`places` and :data:`table_size`."""
    values = click.get_current_context().params
    style = {name: values[name] for name in ("places", "all_rows") if name in values}
    return style | {"wide": values.get("all_rows", False)}


def check_chart() -> None:
    """Checks that a chart, if any, can be saved without overwriting an input."""
    values = click.get_current_context().params
    if values["chart"]:
        from ..charts.saving import check_path

        check_path(values["chart"], inputs=inputs(), force=values["force"])
    elif values["title"] is not None:
        raise click.UsageError("--title and --no-title need --chart")


def save_chart(draw: Callable[[], Any]) -> None:
    """Draws and saves the chart of ``--chart``, if any, and prints the name of the file."""
    values = click.get_current_context().params
    if values["chart"]:
        from ..charts.saving import save_chart

        save_chart(draw(), values["chart"], title=values["title"], force=values["force"])
        click.echo(f"wrote {values['chart']}", err=True)
