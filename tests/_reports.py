"""Runs and qrels for reports, with text that would do harm as markup."""

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
from _files import write_qrels, write_run
from click.testing import CliRunner

from pyterrier_asl.cli import main

#: A name, a query and a document that would do harm if they were used as anything but text.
EVIL = "<script>window.hurt=1</script>\"'&\u2028</script><!--"
EVIL_QUERY = "q'\"<img src=x onerror=window.hurt=1>"


def a_run(seed: int, queries: list[str], documents: int = 60, noise: float = 1.0) -> dict:
    random = np.random.default_rng(seed)
    run = {}
    for query in queries:
        scores = noise * random.normal(size=documents) + (np.arange(documents) < 8)
        kept = random.permutation(documents)[:50]
        run[query] = {f"d{at}": float(scores[at]) for at in kept}
    return run


QUERIES = [f"{number}" for number in range(1, 10)] + [EVIL_QUERY]
QRELS = {query: {f"d{at}": 2 if at < 4 else int(at < 8) for at in range(12)} for query in QUERIES}
RUNS = {
    name: a_run(seed, QUERIES, noise=0.3 + seed / 2)
    for seed, name in enumerate(["good", "fair", "poor", "1", EVIL])
}
TWO = {"a": RUNS["1"], "b": RUNS["fair"]}
TEXTS = {query: f"what about {query}" for query in QUERIES}


def data_source(page: str) -> str:
    """The data of a page as text of its file."""
    return re.search(r'id="data">(.*?)</script>', page, re.S).group(1)


def data_of(page: str) -> dict:
    """The data of a page."""
    return json.loads(gzip.decompress(base64.b64decode(data_source(page))))


def unpacked_values(packed: dict, shape: tuple[int, ...]) -> np.ndarray:
    """Values by query, from the distinct values."""
    return np.array(packed["different"], "<f4")[packed["codes"]].reshape(shape)


def write_files(folder: Path) -> list[Path]:
    """Writes qrels and two runs to files."""
    plain = {q: of for q, of in QRELS.items() if q != EVIL_QUERY}
    names = ("good", "fair")
    runs = [write_run({q: RUNS[n][q] for q in plain}, folder / f"{n}.run") for n in names]
    return [write_qrels(plain, folder / "qrels"), *runs]


def command(*arguments) -> str:
    """What a command that succeeds prints."""
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    return result.output
