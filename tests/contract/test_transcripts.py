"""Screens: each file of ``tests/transcripts`` holds commands and what they print.

A person has read them. ``pytest tests/contract/test_transcripts.py --renew`` writes them again:
read the difference before you commit it. Numbers are compared with an independent source elsewhere.

``$ cat > NAME`` writes the lines below it to a file. The collection of ``small.py`` is in the files
``qrels`` and ``judge`` and the folder ``runs``.
"""

import re
import shlex
from pathlib import Path

import pytest
from _calls import call
from small import JUDGE, QRELS, RUNS

FILES = sorted((Path(__file__).parents[1] / "transcripts").glob("*.txt"))


def screen(command: str) -> str:
    """What a command prints, on both streams, and its exit status if it is not 0."""
    program, *arguments = shlex.split(command)
    assert program == "pyterrier-asl", command
    result = call(*arguments)
    status = f"[exit status {result.exit_code}]\n" if result.exit_code else ""
    text = re.sub(r"^Usage: .*\nTry .*\n\n", "", result.output).replace(f"{Path.cwd()}/", "")
    return re.sub(r"[ ]+$", "", text, flags=re.M) + status


def play(text: str) -> str:
    """A transcript with what its commands print now."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.M)
    for number in range(1, len(parts), 2):
        command, output = parts[number : number + 2]
        if name := re.fullmatch(r"cat > (\S+)", command):
            Path(name[1]).write_text(output.rstrip("\n") + "\n", encoding="utf-8")
        else:
            parts[number + 1] = screen(command) + "\n"
        parts[number] = f"$ {command}\n"
    return "".join(parts).rstrip("\n") + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    tables = {"qrels": (QRELS, "{} 0 {} {}\n"), "judge": (JUDGE, "{} 0 {} {}\n")}
    tables |= {f"runs/{name}.run": (run, "{} Q0 {} 0 {} x\n") for name, run in RUNS.items()}
    for path, (table, line) in tables.items():
        rows = [(q, d, v) for q, values in table.items() for d, v in values.items()]
        Path(path).write_text("".join(line.format(*row) for row in rows), encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_screen_is_as_it_was_read(path, folder, request):
    text = path.read_text(encoding="utf-8")
    now = play(text)
    if request.config.getoption("--renew"):
        path.write_text(now, encoding="utf-8")
    else:
        assert now == text
