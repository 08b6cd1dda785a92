"""Damaged indices with correct checksums.

Each case changes one file of a small index at random, corrects the checksums and then uses the
index for BM25, feedback, the sweep and random access. The outcome must be a result or a ValueError
that names a file of the index. ``fuzz_readers.py --target index`` runs the cases.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.io.digests import checksum
from pyterrier_asl.retrieval.format import metadata_checksum

WORDS = ["radio", "wave", "scatter", "voltage", "core", "ferrite", "noise", "maser"]

#: Hostile numbers.
EXTREMES = [0, 1, -1, 2, 7, 40, 10**9, -(10**9), 2**31 - 1, -(2**31), 2**40, 2**62, -(2**62)]


def build(folder: Path) -> Path:
    """An index of 40 short documents, built if it does not exist."""
    if (folder / "index").exists():
        return folder / "index"
    documents = [
        {"docno": f"d{i}", "text": " ".join(WORDS[i * j % 8] for j in range(1, 3 + i % 9))}
        for i in range(40)
    ]
    TermIndex.from_documents(documents, path=folder / "index", verbose=False)
    return folder / "index"


def change(rng: np.random.Generator, original: Path, path: Path) -> str:
    """Copies an index and changes one of its files; returns a description of the change."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(original, path)
    file = path / str(rng.choice(sorted(f.name for f in path.iterdir())))
    if file.name == "pt_meta.json":
        how = _change_metadata(rng, file)
    elif file.suffix == ".npy" and rng.random() < 0.7:
        how = _change_numbers(rng, file)
    else:
        how = _change_bytes(rng, file)
    try:
        metadata = json.loads((path / "pt_meta.json").read_text("utf-8"))
        metadata["crc32"] = {f.name: checksum(f) for f in path.iterdir() if f.suffix != ".json"}
        metadata["crc32"]["pt_meta.json"] = metadata_checksum(metadata)
        (path / "pt_meta.json").write_text(json.dumps(metadata), "utf-8")
    except (ValueError, TypeError, KeyError, AttributeError):
        pass  # the changed text is not JSON
    return f"{file.name}: {how}"


def _change_metadata(rng: np.random.Generator, file: Path) -> str:
    metadata = json.loads(file.read_text("utf-8"))
    values: list[Any] = [*EXTREMES, None, "", "words", [], {}, 0.5, True, float("nan"), ["a", 1]]
    place, key = metadata, str(rng.choice(sorted(metadata)))
    if isinstance(metadata[key], dict) and rng.random() < 0.7:
        place, key = metadata[key], str(rng.choice(sorted(metadata[key])))
    place[key] = values[rng.integers(len(values))]
    file.write_text(json.dumps(metadata), "utf-8")
    return f"{key} = {place[key]!r}"


def _change_numbers(rng: np.random.Generator, file: Path) -> str:
    array = np.load(file)
    how = rng.integers(6)
    if how == 0:
        array = array[: rng.integers(len(array))]
    elif how == 1:
        array = array.astype(rng.choice(["int8", "int64", "float64", ">i4", "S3"]))
    elif how == 2:
        rng.shuffle(array)
    elif how == 3:
        array = -array
    else:
        info = np.iinfo(array.dtype)
        value = int(np.clip(EXTREMES[rng.integers(len(EXTREMES))], info.min, info.max))
        array[rng.integers(len(array), size=rng.integers(1, 4))] = value
    np.save(file, array)
    return f"numbers, way {how}"


def _change_bytes(rng: np.random.Generator, file: Path) -> str:
    content = bytearray(file.read_bytes())
    if rng.random() < 0.2:
        del content[rng.integers(len(content)) :]
        how = "cut"
    else:
        for _ in range(rng.integers(1, 5)):
            content[rng.integers(len(content))] = rng.integers(256)
        how = "bytes"
    file.write_bytes(content)
    return how


def use(path: Path) -> str:
    """Uses an index in all ways; ``fine`` or ``refused``."""
    topics = pd.DataFrame({"qid": ["1", "2"], "query": ["radio wave", "noise core maser"]})
    qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["d1", "d2"], "label": [1, 1]})
    try:
        index = TermIndex(path)
        for num_results in (1, 1000):
            bm25 = index.bm25(num_results=num_results)
            found = bm25(topics)
            assert np.isfinite(found["score"]).all(), "a score is not a number"
            (bm25 >> RobertsonPRF(index, fb_docs=3) >> bm25)(topics)
        _sweep(index, topics, qrels)
        assert len(index.docnos) == index.num_docs
        for docno in index.docnos[:3]:
            index.document(docno)
        for term in index.terms(np.arange(index.num_terms)):
            index.postings(term)
        repr(index)
    except ValueError as error:
        if str(path) not in str(error):
            raise
        return "refused"
    return "fine"


def _sweep(index: TermIndex, topics: pd.DataFrame, qrels: pd.DataFrame) -> None:
    from pyterrier_asl.tuning import bm25_stages
    from pyterrier_asl.tuning.objective import make_task
    from pyterrier_asl.tuning.space import Space
    from pyterrier_asl.tuning.sweep import Sweep

    stage = bm25_stages(index)[-1]
    space = Space(stage.params)
    Sweep(stage.pipeline, space, make_task(topics, qrels, "AP"))(space.current())
