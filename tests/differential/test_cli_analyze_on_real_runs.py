"""The command analyze, on real runs and collections."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from pyterrier_asl.cli import main


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["analyze", *arguments])


def rows(*arguments: str) -> list[dict]:
    result = call(*arguments, "-o", "jsonl")
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_published_ties_of_dl20(data):
    folder = data / "dl20-passage"
    found = rows("ties", str(folder / "qrels.txt"), str(folder / "runs"), "--rel", "2")
    percent = {row["preference"]: row["percent"] for row in found}
    assert percent == pytest.approx({"rrLP, sgnLP": 2.58, "RR": 50.30}, abs=0.005)
