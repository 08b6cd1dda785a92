"""Helpers that call commands as the command line does, and parse their output."""

import io
import json
import os
import subprocess
import sys

from click.testing import CliRunner, Result

from pyterrier_asl.cli import main


class Terminal(io.StringIO):
    """What a command takes for a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def python(code: str, **environment: str) -> str:
    """The output of code in a new interpreter."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    env = os.environ | environment
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def evaluate(*arguments: str) -> Result:
    return call("evaluate", "qrels", *arguments)


def analyze(*arguments: str) -> Result:
    return call("analyze", *arguments)


def rows(result: Result) -> list[dict]:
    """The output of a command as JSON lines, parsed."""
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def analyzed(*arguments: str) -> list[dict]:
    """The table of an analysis."""
    return rows(analyze(*arguments, "-o", "jsonl"))


def values(result: Result) -> dict[tuple[str, ...], float]:
    """The parsed JSON lines by run, query (if there is one) and measure."""
    names = ("run", "query_id", "measure")
    return {tuple(row[n] for n in names if n in row): row["value"] for row in rows(result)}
