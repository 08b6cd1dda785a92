"""Manipulated indices with correct checksums raise errors and do not crash."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.io.digests import checksum
from pyterrier_asl.retrieval.format import ARRAYS, metadata_checksum

WORDS = ["radio", "wave", "scatter", "voltage", "core"]
TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["radio wave", "core"]})


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "index"
    texts = [" ".join(WORDS[i * j % 5] for j in range(1, 3 + i % 4)) for i in range(20)]
    documents = [{"docno": f"d{i}", "text": text} for i, text in enumerate(texts)]
    TermIndex.from_documents(documents, path=path, verbose=False)
    return path


@pytest.fixture
def path(honest, tmp_path):
    return shutil.copytree(honest, tmp_path / "index")


def fit_checksums(path, **changed):
    """Changes the metadata, and corrects all checksums."""
    file = path / "pt_meta.json"
    metadata = json.loads(file.read_text("utf-8")) | changed
    metadata["crc32"] = {f.name: checksum(f) for f in path.iterdir() if f != file}
    metadata["crc32"]["pt_meta.json"] = metadata_checksum(metadata)
    file.write_text(json.dumps(metadata), "utf-8")


def write(path, name, array):
    np.save(path / f"{name}.npy", array)
    fit_checksums(path)


def use(path):
    index = TermIndex(path)
    found = index.bm25()(TOPICS)
    assert np.isfinite(found["score"]).all()
    RobertsonPRF(index, fb_docs=3)(found)
    return index


def test_an_honest_index_passes(path):
    fit_checksums(path)
    use(path)


def at(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def swap(array):
    array[[0, 1]] = array[[1, 0]]
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("posting_docs", at(3, 10**9), "its ids are from 0 to 1000000000, of 20"),
        ("posting_docs", at(3, -(10**9)), "its ids are from -1000000000"),
        ("posting_docs", swap, r"posting_docs\.npy\b.* the ids of a term do not ascend"),
        ("posting_docs", at(1, 0), "do not ascend"),
        ("doc_lengths", lambda array: -array, "it counts -"),
        ("doc_lengths", at(2, 9), "tokens, not"),
        ("doc_lengths", swap, "does not agree with doc_lengths.npy"),
        ("posting_tfs", at(0, 0), "it counts 0"),
        ("posting_tfs", at(0, 7), "tokens, not"),
        ("term_offsets", at(1, 10**9), "its offsets do not rise from 0"),
        ("term_offsets", at(0, -5), "its offsets do not rise from 0"),
        ("term_offsets", at(-1, 10**12), "its offsets do not rise from 0"),
        ("term_offsets", at(1, 1), "do not ascend|do not agree"),
        ("doc_offsets", at(4, 10**9), "its offsets do not rise from 0"),
        ("doc_offsets", at(1, 0), "do not agree with doc_offsets.npy"),
        ("doc_term_ids", at(0, 5), "its ids are from 0 to 5, of 5"),
        ("doc_term_ids", at(0, -1), "its ids are from -1"),
        ("doc_term_tfs", at(0, 9), "tokens, not"),
        (
            "doc_term_tfs",
            lambda array: array[::-1],
            r"term_tfs\.npy\b.* agree with doc_lengths\.npy",
        ),
        ("posting_docs", lambda array: array[:-1], r"it holds \(\d+,\) int32, not"),
        ("posting_docs", lambda array: array.astype(float), "float64, not"),
    ],
)
def test_an_array_that_cannot_be_is_refused_by_its_name(path, name, change, message):
    file = path / f"{name}.npy"
    write(path, name, change(np.load(file)))
    with pytest.raises(ValueError, match=message) as error:
        use(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("name", "strings", "message"),
    [
        ("terms", ["b", "a", "c", "d", "e"], "not in ascending order"),
        ("terms", ["a", "a", "c", "d", "e"], "not in ascending order"),
        ("terms", ["a", "b", "c", "d", None], "it holds 5 large_string"),
        ("docnos", ["d1"] * 20, "a docno occurs twice"),
        ("docnos", ["d1"] * 19, "it holds 19"),
    ],
)
def test_strings_that_cannot_be(path, name, strings, message):
    table = pa.table({name: pa.array(strings, pa.large_string())})
    with pa.ipc.new_file(str(path / f"{name}.arrow"), table.schema) as writer:
        writer.write_table(table)
    fit_checksums(path)
    with pytest.raises(ValueError, match=message):
        use(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"num_docs": 0},
        {"num_docs": -1},
        {"num_docs": 2**31},
        {"num_docs": "20"},
        {"num_terms": 10**9},
        {"num_postings": 10**12},
        {"num_tokens": 1},
        {"num_tokens": True},
        {"tokeniser": None},
        {"tokeniser": {"name": "words"}},
        {"tokeniser": {"name": "words", "stemmer": 5, "stopwords": [1]}},
    ],
)
def test_metadata_that_cannot_be(path, changed):
    fit_checksums(path, **changed)
    with pytest.raises(ValueError, match=r"pt_meta\.json is damaged"):
        use(path)


def test_a_pipe_for_a_file_does_not_hang(path):
    import os

    (path / "doc_lengths.npy").unlink()
    os.mkfifo(path / "doc_lengths.npy")
    with pytest.raises(ValueError, match="the file is missing"):
        use(path)


@pytest.mark.slow
@seed(20261121)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from([*(f"{name}.npy" for name in ARRAYS), "docnos.arrow", "terms.arrow"]),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_bytes_at_random_end_in_results_or_an_error_that_names_a_file(honest, path, file, changes):
    shutil.copytree(honest, path, dirs_exist_ok=True)
    content = bytearray((path / file).read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    (path / file).write_bytes(content)
    fit_checksums(path)
    try:
        use(path)
    except ValueError as error:
        assert str(path) in str(error)
