"""Transcripts: each file of ``tests/transcripts`` holds commands and calls, and what they say.

A person has read them. ``pytest tests/contract/test_transcripts.py --renew`` writes them again:
read the difference before you commit it. Numbers are compared with an independent source elsewhere.

``$ cat > NAME`` writes the lines below it to a file, ``$ pyterrier-asl`` runs the command, and
``>>>`` runs Python, with this package as ``asl`` and all of ``small.py``. Below it is
the error, or the warnings and the value. The collection of ``small.py`` is in the files ``qrels``
and ``judge`` and the folder ``runs``.
"""

import ast
import os
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
import small
from _calls import call
from _files import write_qrels, write_run

import pyterrier_asl as asl

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.txt"))


def screen(command: str) -> str:
    """What a command prints, on both streams, and its exit status if it is not 0."""
    program, *arguments = shlex.split(command)
    assert program == "pyterrier-asl", command
    result = call(*arguments)
    status = f"[exit status {result.exit_code}]\n" if result.exit_code else ""
    return re.sub(r"^Usage: .*\nTry .*\n\n", "", result.output) + status


def answer(source: str, names: dict[str, Any]) -> str:
    """The error of Python statements, or their warnings and the value of the last one."""
    *statements, last = ast.parse(source).body
    statements += [] if isinstance(last, ast.Expr) else [last]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", "You passed a .narwhals")  # by Altair 5.4
        try:
            exec(compile(ast.Module(statements, []), "transcript", "exec"), names)
            value = eval(ast.unparse(last), names) if isinstance(last, ast.Expr) else None
        except Exception as error:
            return f"{type(error).__name__}: {error}\n"
    lines = [f"Warning: {warning.message}" for warning in caught]
    return "".join(f"{line}\n" for line in (*lines, value) if line is not None)


def play(text: str) -> str:
    """A transcript with what its commands and calls say now."""
    names = {"asl": asl, "ir_measures": ir_measures, "np": np, "pd": pd, "pt": pt, "Path": Path}
    names |= {name: value for name, value in vars(small).items() if name[0] != "_"}
    parts = re.split(r"^(\$ .*\n|>>> .*\n(?:\.\.\. .*\n)*)", text, flags=re.M)
    for number in range(1, len(parts), 2):
        command, said = parts[number : number + 2]
        if name := re.fullmatch(r"\$ cat > (\S+)\n", command):
            Path(name[1]).parent.mkdir(exist_ok=True)
            Path(name[1]).write_text(said.rstrip("\n") + "\n", encoding="utf-8")
            continue
        if command[0] == "$":
            said = screen(command[1:]) + "\n"
        else:
            said = answer("".join(line[4:] for line in command.splitlines(True)), names)
        said = said.replace(f"{Path.cwd()}{os.sep}", "")
        said = re.sub("in this process [(].*;", "in this process (...;", said)  # of other tests
        parts[number + 1] = re.sub(r"[ ]+$", "", said, flags=re.M)
    return "".join(parts).rstrip("\n") + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    write_qrels(small.QRELS, "qrels")
    write_qrels(small.JUDGE, "judge")
    for name, run in small.RUNS.items():
        write_run(run, f"runs/{name}.run")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_transcript_is_as_it_was_read(path, folder, request):
    text = path.read_text(encoding="utf-8")
    now = play(text)
    if request.config.getoption("--renew"):
        path.write_text(now, encoding="utf-8")
    else:
        assert now == text
