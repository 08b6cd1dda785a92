"""The command tune, on real runs and collections."""

import json

from _calls import tune


def test_an_ir_datasets_id(vaswani):
    result = tune("irds:vaswani", "-m", "AP", "-o", "jsonl")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[0])["stage"] == "initial retrieval"
