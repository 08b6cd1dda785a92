"""Labelling at a terminal: a killed round that is continued, and two processes with one file."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from pyterrier_asl.io.label_files import read_labels

pty = pytest.importorskip("pty")  # POSIX only

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n"
RUNS = {"bm25": ["1 d1 d4 d5", "2 d6 d3"], "dense": ["1 d7 d4 d1", "2 d8 d9 d3"]}
TRUTH = {"d7": "1", "d8": "0", "d9": "0", "d6": "1", "d4": "1", "d5": "0"}
TOPICS = {"1": "whistlers in the ionosphere", "2": "transistor noise"}
TEXTS = {
    "d4": "Dispersion of whistlers at night.",
    "d5": "A survey of aerials for short waves.",
    "d6": "Noise of junction transistors at low frequencies.",
    "d7": "Whistlers and the density of electrons.",
    "d8": "Transistors as switches in computers.",
    "d9": "Measuring the noise of receivers.",
}
PAGE = Path(__file__).parents[2] / "pyterrier_asl" / "pt_docs" / "unjudged.rst"


class Terminal:
    """A process with a new terminal."""

    def __init__(self, *arguments: object, python: Sequence[str] = ("-m", "pyterrier_asl")) -> None:
        ours, theirs = pty.openpty()
        self.terminal, self.text, self.place = ours, "", 0
        self.process = subprocess.Popen(
            [sys.executable, *python, *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
        )
        os.close(theirs)

    def wait_for(self, pattern: str, seconds: float = 180) -> re.Match[str]:
        """Reads further output until it matches the pattern."""
        end = time.monotonic() + seconds
        while not (match := re.compile(pattern).search(self.text, self.place)):
            assert time.monotonic() < end, self.text
            if select.select([self.terminal], [], [], 1)[0]:
                try:
                    self.text += os.read(self.terminal, 10_000).decode()
                except OSError:  # the process has ended
                    raise AssertionError(self.text) from None
        self.place = match.end()
        return match

    def press(self, key: str) -> None:
        os.write(self.terminal, key.encode())

    def asked(self) -> str:
        """The shown document, after waiting for the prompt."""
        document = self.wait_for(r"Document (\S+)")[1]
        self.wait_for(r", q\? ")
        return document

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        os.close(self.terminal)

    def end(self) -> str:
        """The remaining output."""
        while True:
            try:
                block = os.read(self.terminal, 10_000)
            except OSError:
                break
            if not block:
                break
            self.text += block.decode()
        assert self.process.wait(timeout=60) == 0, self.text
        os.close(self.terminal)
        return self.text


@pytest.fixture
def call(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, lines in RUNS.items():
        rows = [(line.split()[0], line.split()[1:]) for line in lines]
        text = "".join(
            f"{qid} Q0 {doc} {rank} {-rank} {name}\n"
            for qid, docs in rows
            for rank, doc in enumerate(docs, 1)
        )
        (tmp_path / f"{name}.run").write_text(text)
    documents = [{"docno": docno, "text": text} for docno, text in TEXTS.items()]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (tmp_path / "topics.tsv").write_text("".join(f"{q}\t{text}\n" for q, text in TOPICS.items()))
    files = [tmp_path / name for name in ("qrels.txt", "bm25.run", "dense.run")]
    texts = ["--docs", tmp_path / "docs.jsonl", "--topics", tmp_path / "topics.tsv"]
    return ["holes", *files, "-m", "AP", *texts, "--labels", tmp_path / "mine.jsonl", "--judge"]


def answer_until_settled(terminal: Terminal) -> list[str]:
    asked = []
    while True:
        match = terminal.wait_for(r"Document (\S+)|any other key: end")
        if match[1] is None:
            return asked
        asked.append(match[1])
        terminal.wait_for(r", q\? ")
        terminal.press(TRUTH[match[1]])


def test_a_round_that_is_killed_is_finished_and_nothing_is_asked_twice(call, tmp_path):
    labels = tmp_path / "mine.jsonl"
    whole = Terminal(*call)
    in_order = answer_until_settled(whole)
    whole.press("q")
    final = whole.end().rpartition("(settled)")[2]  # the answer and its table
    assert len(in_order) >= 3 and "settled for bm25" in final
    labels.unlink()

    killed = Terminal(*call)
    first = killed.asked()
    assert TEXTS[first] in killed.text and any(text in killed.text for text in TOPICS.values())
    killed.press(TRUTH[first])
    second = killed.asked()
    # the answer was on disk, and the verdict was shown, before the next document
    assert read_labels(labels)["docno"].tolist() == [first]
    assert killed.text.count("AP: bm25 - dense") == 2
    killed.kill()

    resumed = Terminal(*call)
    rest = answer_until_settled(resumed)
    resumed.press("q")
    end = resumed.end()
    assert end.rpartition("(settled)")[2] == final
    assert [first, *rest] == in_order and rest[0] == second
    written = [json.loads(line)["docno"] for line in labels.read_text().splitlines()]
    assert written == in_order
    # the guide shows the beginning of this round
    _, _, block = PAGE.read_text().partition("At the terminal\n~~~~")
    _, _, block = block.partition(".. code-block:: console\n")
    lines = [line.strip() for line in block.partition("\nEach answer")[0].splitlines()]
    shown = [line for line in lines if line and not line.startswith(("$", "--"))]
    wanted = [line.strip() for line in whole.text.splitlines() if line.strip()]
    assert shown == wanted[: len(shown)] and len(shown) > 10


#: The command in a process that the system ends when the file of labels grows beyond a size.
_ENDED = """
import os, resource, signal, sys
from pyterrier_asl.cli import main
path, size = sys.argv[1], int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

def limit(event, arguments):
    if event == "open" and str(arguments[0]) == path and arguments[2] & os.O_APPEND:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

sys.addaudithook(limit)
main(sys.argv[3:])
"""


def test_a_round_that_is_ended_inside_the_write_of_a_label_is_finished(call, tmp_path):
    labels = tmp_path / "mine.jsonl"
    before = '{"qid": "1", "docno": "d4", "label": 1.0, "source": "before"}'  # without a line feed
    labels.write_text(before)
    for number in (1, 20, 63):  # of 65 bytes with the line feeds before and after
        size = len(before) + number
        ended = Terminal(*call, python=("-c", _ENDED, str(labels), str(size)))
        document = ended.asked()
        ended.press(TRUTH[document])
        with pytest.raises(AssertionError):  # there is no further output
            ended.wait_for("grade")
        assert ended.process.wait(timeout=60) == -signal.SIGXFSZ
        os.close(ended.terminal)
        assert labels.read_text().startswith(before) and labels.stat().st_size == size
        assert read_labels(labels)["docno"].tolist() == ["d4"]
    resumed = Terminal(*call)
    asked = answer_until_settled(resumed)
    resumed.press("q")
    assert "settled for" in resumed.end()
    assert asked[0] == document and "d4" not in asked
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    assert [row["docno"] for row in rows] == ["d4", *asked] and rows[0] == json.loads(before)


def test_undo_skip_and_quit(call, tmp_path):
    terminal = Terminal(*call)
    first = terminal.asked()
    terminal.press("1")
    assert terminal.asked() != first
    terminal.press("u")  # the first document is shown again
    assert terminal.asked() == first
    terminal.press("s")
    second = terminal.asked()
    assert second != first
    terminal.press("0")
    terminal.asked()
    terminal.press("q")
    assert "1 label added (quit)" in terminal.end()
    found = read_labels(tmp_path / "mine.jsonl")
    assert found[["docno", "label"]].values.tolist() == [[second, 0.0]]


def test_two_rounds_at_the_same_time_lose_no_label(call, tmp_path):
    one, two = Terminal(*call), Terminal(*call)
    first = one.asked()
    assert two.asked() == first
    for terminal in (one, two):  # both give the same label
        terminal.press(TRUTH[first])
    second = one.asked()
    assert two.asked() == second
    one.press("u")
    assert one.asked() == first
    two.press("1")
    two.asked()
    one.press("q")
    assert "0 labels added (quit)" in one.end()
    two.press("q")
    assert "2 labels added (quit)" in two.end()
    found = dict(zip(*read_labels(tmp_path / "mine.jsonl")[["docno", "label"]].values.T))
    assert found == {first: float(TRUTH[first]), second: 1.0}


_WRITER = """
import sys
from pyterrier_asl.io.label_files import LabelFile
path, who, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
file = LabelFile(path)
for i in range(number):
    file.add([{"qid": "q", "docno": f"{who}{i}", "label": 1, "source": who}])
"""


def test_processes_that_label_into_one_file_lose_nothing(tmp_path):
    path = tmp_path / "labels.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), who, "200"]) for who in "ab"
    ]
    assert [writer.wait(timeout=300) for writer in writers] == [0, 0]
    docnos = set(read_labels(path)["docno"])
    assert docnos == {f"{who}{i}" for who in "ab" for i in range(200)}
    assert len(Path(path).read_text().splitlines()) == 400
