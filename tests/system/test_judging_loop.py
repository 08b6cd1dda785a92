"""The judging loop over a real collection, with a transformer that judges, killed and resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

#: Half of the judgements are hidden, and the judge knows all of them. The last argument says
#: whether it is killed at its third batch. A file lists the requested documents.
_PROGRAM = """
import os, signal, sys
import ir_datasets, numpy as np, pyterrier as pt
from pyterrier_asl import holes
from pyterrier_asl.io.texts import Texts
from pyterrier_asl import merge_labels
from pyterrier_asl.io.label_files import LabelFile
from pyterrier_asl.unjudged.loop import judge_until_settled

labels, asked, kill = sys.argv[1], sys.argv[2], sys.argv[3] == "kill"
dataset = ir_datasets.load("vaswani")
truth = {(one.query_id, one.doc_id): one.relevance for one in dataset.qrels_iter()}
docnos = [one.doc_id for one in dataset.docs_iter()]
rng = np.random.default_rng(0)
shown = [key for key in truth if rng.random() < 0.5]
qrels = {}
for qid, docno in truth:
    qrels.setdefault(qid, {})
for qid, docno in shown:
    qrels[qid][docno] = truth[qid, docno]


def run(noise):
    found = {}
    for qid in qrels:
        relevant = [docno for other, docno in truth if other == qid]
        others = rng.choice(docnos, 40, replace=False).tolist()
        scores = {docno: rng.normal() for docno in others}
        scores.update({docno: 1.3 - noise + rng.normal() for docno in relevant})
        found[qid] = scores
    return found


class Judge(pt.Transformer):
    batches = 0

    def transform(self, frame):
        Judge.batches += 1
        with open(asked, "a") as file:
            for qid, docno in zip(frame["qid"], frame["docno"]):
                print(qid, docno, file=file)
        assert frame["text"].str.len().min() > 0 and frame["query"].str.len().min() > 0
        if kill and Judge.batches == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        keys = zip(frame["qid"], frame["docno"])
        return frame.assign(label=[float(truth.get(key, 0)) for key in keys])


a, b = run(0.0), run(0.9)
merged = merge_labels(qrels, LabelFile(labels).read())
found = holes({"A": a, "B": b}, merged[["qid", "docno", "label"]], "ASL@20")
done = judge_until_settled(
    found, Judge(), labels=labels, batch=50, source="qrels",
    texts=lambda docnos: Texts.of(dataset="vaswani", docnos=docnos, whole=True),
)
print(done.ended, done.holes.verdict, f"{done.holes.difference.low:.12f}", len(done.labels))
"""


def loop(folder: Path, kill: bool) -> subprocess.CompletedProcess[str]:
    program = folder / "loop.py"
    program.write_text(_PROGRAM)
    arguments = [folder / "labels.jsonl", folder / "asked.txt", "kill" if kill else "finish"]
    command = [sys.executable, program, *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)


@pytest.mark.usefixtures("vaswani")
def test_killed_and_resumed(tmp_path):
    once, twice = tmp_path / "once", tmp_path / "twice"
    once.mkdir()
    twice.mkdir()
    whole = loop(once, kill=False)
    assert whole.returncode == 0, whole.stderr
    ended, verdict, _, number = whole.stdout.split()
    assert (ended, verdict) == ("settled", "A") and int(number) > 150

    killed = loop(twice, kill=True)
    assert killed.returncode == -signal.SIGKILL
    kept = (twice / "labels.jsonl").read_text().splitlines()
    assert len(kept) == 100
    resumed = loop(twice, kill=False)
    assert resumed.returncode == 0, resumed.stderr
    labels = [json.loads(line) for line in (twice / "labels.jsonl").read_text().splitlines()]
    keys = [(label["qid"], label["docno"]) for label in labels]
    assert len(set(keys)) == len(keys) and {label["source"] for label in labels} == {"qrels"}
    assert resumed.stdout.split()[:3] == whole.stdout.split()[:3]
    # earlier answers were not requested again
    asked = (twice / "asked.txt").read_text().splitlines()
    assert len(asked) == len(keys) + 50
