"""Labelling at a terminal: a round that is killed and finished, and two processes at one file."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyterrier_asl.unjudged.labels import read_labels

pty = pytest.importorskip("pty")  # of POSIX

QRELS = "q 0 a 1\nq 0 n 0\np 0 b 1\n"
RUNS = {"one": ["q a x y", "p u b"], "two": ["q z x a", "p v w b"]}
TRUTH = {"z": "1", "v": "0", "w": "0", "u": "1", "x": "1", "y": "0"}


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, *arguments: object) -> None:
        ours, theirs = pty.openpty()
        self.terminal, self.text, self.place = ours, "", 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pyterrier_asl", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
        )
        os.close(theirs)

    def wait_for(self, pattern: str, seconds: float = 180) -> re.Match[str]:
        """Reads until the pattern comes, after what was read before."""
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
        """The document that is asked for, once it waits for a key."""
        document = self.wait_for(r"Document (\S+)")[1]
        self.wait_for(r", q\? ")
        return document

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        os.close(self.terminal)

    def end(self) -> str:
        """What came until it ended."""
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
    documents = [{"docno": doc, "text": f"the text of {doc}"} for doc in TRUTH]
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (tmp_path / "topics.tsv").write_text("q\twhat is q\np\twhat is p\n")
    files = [tmp_path / name for name in ("qrels.txt", "one.run", "two.run")]
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
    final = whole.end().rstrip().splitlines()[-1]
    assert len(in_order) >= 3 and "settled" in final
    labels.unlink()

    killed = Terminal(*call)
    first = killed.asked()
    assert f"the text of {first}" in killed.text and "what is " in killed.text
    killed.press(TRUTH[first])
    second = killed.asked()
    # the answer was on the disk, and the verdict shown, before the next document was
    assert read_labels(labels)["docno"].tolist() == [first]
    assert killed.text.count("AP: one - two") == 2
    killed.kill()

    resumed = Terminal(*call)
    rest = answer_until_settled(resumed)
    resumed.press("q")
    assert resumed.end().rstrip().splitlines()[-1] == final
    assert [first, *rest] == in_order and rest[0] == second
    written = [json.loads(line)["docno"] for line in labels.read_text().splitlines()]
    assert written == in_order


def test_undo_skip_and_quit(call, tmp_path):
    terminal = Terminal(*call)
    first = terminal.asked()
    terminal.press("1")
    assert terminal.asked() != first
    terminal.press("u")  # the first is asked for again
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


_WRITER = """
import sys
from pyterrier_asl.unjudged.labels import LabelFile
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
