"""The command line, on real collections."""

import json

import pandas as pd
from _calls import call, tune, values


def test_vaswani_by_id(vaswani, tmp_path):
    qrels = pd.DataFrame(vaswani.qrels_iter())
    run = tmp_path / "perfect"
    run.write_text("".join(f"{q} Q0 {d} 0 1 tag\n" for q, d in zip(qrels.query_id, qrels.doc_id)))
    lengths = ["--lengths", "irds:vaswani"]
    found = values(call("evaluate", "vaswani", str(run), "-o", "jsonl", *lengths))
    assert found["ASL@1000",] == found["LexiP",] == found["AP",] == 1
    assert found["TBG",] > 0
    tuned = tune("irds:vaswani", "-m", "AP", "-o", "jsonl")
    assert tuned.exit_code == 0, tuned.output
    assert json.loads(tuned.stdout.splitlines()[0])["stage"] == "initial retrieval"
