"""``pyterrier-asl ranks`` of runs, scores, tracks and judges; machine-readable tables; errors."""

import re

import numpy as np
import pytest
from _calls import call, rows
from _files import write_run

TOPICS = [f"q{number:02}" for number in range(30)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The folder the command is run in: qrels, other (by another judge), and runs/."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    lines = [f"{qid} 0 d{k} {int(k < 3)}\n" for qid in TOPICS for k in range(8)]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "other").write_text("".join(line.replace("1\n", "2\n") for line in lines))
    (tmp_path / "runs").mkdir()
    for name, steep in (("a", 1.0), ("b", 0.9), ("c", 0.1), ("d", -0.5)):
        run = {
            q: {f"d{k}": round(generator.normal(-steep * k), 4) for k in range(8)} for q in TOPICS
        }
        write_run(run, f"runs/{name}.run")
    return tmp_path


@pytest.mark.parametrize("tracks", [False, True])
def test_top_prints_the_first_systems_with_their_ranks_among_all(files, tracks):
    """A system alone could have rank 1 only."""
    of = ["--track", "x", "qrels", "runs", "--track", "y", "other", "runs"]
    given = ["ranks", *(of if tracks else ["qrels", "runs"]), "-m", "AP"]
    whole = rows(call(*given, "-o", "jsonl"))
    assert whole[0]["high"] > 1
    first = [row for row in whole if row["name"] == whole[0]["name"]]
    assert rows(call(*given, "--top", "1", "-o", "jsonl")) == first
    for form in ("table", "latex", "markdown"):
        text, cut, four = (
            call(*given, *n, "-o", form).stdout for n in ([], ["--top", "1"], ["--top", "4"])
        )
        assert four == text and re.findall(r"^\W*([a-d])\b.* 0\.\d{4}", cut, re.M) == ["a"]
        if form != "markdown":
            sentence = "The table has the first 1 of 4 systems."
            assert [sentence in " ".join(text.split()) for text in (cut, four)] == [True, False]


def test_the_example_of_the_help_has_the_ranks_of_its_ordered_pairs():
    """Only the pairs of d are ordered: each system has as many ranks as unordered systems."""
    text = call("ranks", "--help").stdout
    rows = re.findall(r"^ +([a-d]) +0\.\d+ +(\*?) +\d +(\d)-?(\d?) ", text, re.M)
    assert [name for name, star, _, _ in rows if star] == ["d"]
    above = {"a": 0, "b": 0, "c": 0, "d": 3}
    below = {"a": 1, "b": 1, "c": 1, "d": 0}
    for name, _, low, high in rows:
        assert int(low) == 1 + above[name] and int(high or low) == 4 - below[name]
