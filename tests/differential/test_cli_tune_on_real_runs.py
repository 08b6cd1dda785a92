"""The command tune, on real runs and collections."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from pyterrier_asl.cli import main


def tune(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["tune", *arguments, "--trials", "6"])


def test_an_ir_datasets_id(vaswani):
    result = tune("irds:vaswani", "--metric", "AP", "-o", "jsonl")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[0])["stage"] == "initial retrieval"
