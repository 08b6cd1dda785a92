"""Saved files that are truncated, changed or of another kind, and writing to a full disk.

``test_io.py`` tests damaged text files. Here, pools, lengths and indices are loaded as they were
saved, or an error names the fault. An existing file is replaced completely or not at all. Loading
executes no code.
"""

import multiprocessing
import os
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import small

import pyterrier_asl
from pyterrier_asl import DocLengths, RarenessPool
from pyterrier_asl.retrieval.index import TermIndex

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 8")
PACKAGE = Path(pyterrier_asl.__file__).parent
DOCUMENTS = [{"docno": f"d{i}", "text": f"radio wave {i} " + "scatter " * i} for i in range(20)]


#: Objects that are saved: a pool, and lengths.
SAVED = {
    "pool": lambda: RarenessPool.from_runs(small.TWO_RUNS, groups={"x": "gü"}, depth=5),
    "lengths": lambda: DocLengths.from_dict({f"d{i}": i * 0.5 for i in range(40)}, name="words"),
}


@pytest.fixture(params=SAVED)
def saved(request, tmp_path):
    """The saved objects, their paths, and functions to load and compare them."""
    one, path = SAVED[request.param](), tmp_path / "file"
    one.save(path)

    def same(other):
        groups = [getattr(each, "groups", None) for each in (one, other)]
        return one == other and one.name == other.name and groups[0] == groups[1]

    return path, type(one).load, same


def test_one_changed_bit_is_seen_or_changes_nothing(saved):
    path, load, same = saved
    content, refused = path.read_bytes(), 0
    for place in range(0, len(content), 11):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            loaded = load(path)
        except (ValueError, OSError) as error:
            assert str(path) in str(error), error
            refused += 1
        else:
            assert same(loaded), f"byte {place}"
    assert refused > len(content) // 33


def test_a_file_cut_short_is_refused(saved):
    path, load, _ = saved
    content = path.read_bytes()
    for size in range(0, len(content), 61):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=re.escape(str(path))):
            load(path)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"PAR1", b"q1 Q0 d1 1 0.5 r\n", None])
def test_what_is_no_file_of_ours_is_refused(saved, content):
    path, load, _ = saved
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    error = IsADirectoryError if content is None else ValueError
    with pytest.raises(error, match=re.escape(str(path))):
        load(path)


def test_empty_ones_come_back(tmp_path):
    DocLengths.from_dict({}).save(tmp_path / "none")
    assert len(DocLengths.load(tmp_path / "none")) == 0


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index, which is as before after each test."""
    path = tmp_path_factory.mktemp("of") / "index"
    TermIndex.from_documents(DOCUMENTS, path=path, verbose=False)
    return path


def use(path):
    """Uses all files of an index."""
    made = TermIndex(path)
    made.bm25(num_results=3).search("radio scatter")
    made.document("d3")
    return made.num_docs


@pytest.mark.parametrize("how", ["cut", "empty", "missing", "folder", "text", "shorter"])
def test_a_damaged_index_is_refused_by_the_name_of_the_file(tmp_path, index, how):
    for file in sorted(index.iterdir()):
        path = tmp_path / file.name / file.name
        shutil.copytree(index, path.parent)
        content = path.read_bytes()
        path.unlink()
        if how == "folder":
            path.mkdir()
        elif how == "shorter" and file.suffix == ".npy":
            np.save(path, np.load(file)[:-1])
        elif how != "missing":
            half = content[: len(content) // 2]
            path.write_bytes({"cut": half, "text": b"what is this?\n" * 9}.get(how, b""))
        missing = file.name == "pt_meta.json" and how in ("missing", "folder")
        error = FileNotFoundError if missing else ValueError
        with pytest.raises(error, match=file.name + "|no pt_meta"):
            use(path.parent)
    assert use(index) == 20


def test_one_changed_bit_of_an_index_is_seen(index):
    documents = {docno: TermIndex(index).document(docno) for docno in ("d3", "d19")}
    found = TermIndex(index).bm25().search("radio scatter")
    for file in sorted(index.glob("*.[na]*")):
        content = file.read_bytes()
        for place in range(0, len(content), 61):
            damaged = bytearray(content)
            damaged[place] ^= 1 << place % 8
            file.write_bytes(damaged)
            try:
                made = TermIndex(index)
                assert {docno: made.document(docno) for docno in documents} == documents
                pd.testing.assert_frame_equal(made.bm25().search("radio scatter"), found)
            except ValueError as error:
                assert file.name in str(error), (place, error)
            else:
                raise AssertionError(f"bit {place} of {file.name} is not seen")
        file.write_bytes(content)
    assert use(index) == 20


class Bomb:
    def __reduce__(self):
        return (os._exit, (99,))


def test_a_pickle_is_not_loaded_whatever_its_name(saved, index):
    path, load, _ = saved
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="is not a pyterrier_asl|is a binary file"):
        load(path)
    names = ["posting_docs.npy", "docnos.arrow", "pt_meta.json"]
    bombs = [(index / name, path) for name in names]
    bombs.append((index / names[0], path.with_name("array.npy")))
    np.save(bombs[-1][1], np.array([Bomb()], dtype=object), allow_pickle=True)
    for file, bomb in bombs:
        content = file.read_bytes()
        file.write_bytes(bomb.read_bytes())
        with pytest.raises(ValueError, match=file.name):
            use(index)
        file.write_bytes(content)


LOADING = (
    r"(?<![\w.])((?:(?:cloud)?pickle|joblib|marshal|dill)\.loads?|eval|exec|shelve\.open"
    r"|yaml\.(?:unsafe_)?load|pd\.read_pickle)\("
)


def test_nothing_in_the_package_can_load_code():
    """No call unpickles or executes the content of a file, except one temporary file."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        calls = re.findall(LOADING, text)
        found |= {(path.relative_to(PACKAGE).as_posix(), called) for called in calls}
        assert text.count("allow_pickle") == text.count("allow_pickle=False"), path
    # A file that this process has just written:
    others = [(path, called) for path, called in found if not path.startswith("tuning/")]
    assert {path for path, _ in others} == {"evaluation/workers.py"}


def test_a_full_disk_leaves_no_index(tmp_path, small_files):
    documents = [{"docno": f"d{n:050}", "text": f"word{n}"} for n in range(100)]
    path = tmp_path / "index"
    with small_files(), pytest.raises(OSError, match=f"^cannot write {path}: File too large"):
        TermIndex.from_documents(documents, path=path, verbose=False)
    assert list(tmp_path.iterdir()) == []


def save_often(name: str, path: Path) -> None:
    pool = RarenessPool.from_runs({name: {"q": {f"{name}{i}": i for i in range(3000)}}}, name=name)
    for _ in range(30):
        pool.save(path)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_two_processes_that_write_one_file_leave_one_of_the_two(tmp_path):
    path = tmp_path / "file"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=save_often, args=(name, path)) for name in "ab"]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        if path.exists():  # complete at any time
            assert RarenessPool.load(path).name in "ab"
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert os.listdir(tmp_path) == ["file"]
    pool = RarenessPool.load(path)
    assert pool.runs == [pool.name] and pool.name in "ab"
