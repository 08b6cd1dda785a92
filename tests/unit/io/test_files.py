"""Saved files that are truncated, changed or of another kind, and writing to a full disk.

``test_io.py`` tests damaged text files. Here, pools, lengths and indices are loaded as they were
saved, or an error names the fault. An existing file is replaced completely or not at all. Loading
executes no code.
"""

import ast
import os
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
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


def make_pool():
    return RarenessPool.from_runs(small.TWO_RUNS, groups={"x": "gü"}, depth=5)


def same_pool(one, other):
    return one == other and one.name == other.name and one.groups == other.groups


def make_lengths():
    return DocLengths.from_dict({f"d{i}": i * 0.5 for i in range(40)}, name="words")


KINDS = {
    "rareness pool": (make_pool, RarenessPool.save, RarenessPool.load, same_pool),
    "document lengths": (
        make_lengths,
        DocLengths.save,
        DocLengths.load,
        lambda a, b: a == b and a.name == b.name,
    ),
}


@pytest.fixture(params=KINDS)
def saved(request, tmp_path):
    """The saved objects, their paths, and functions to load and compare them."""
    make, save, load, same = KINDS[request.param]
    one, path = make(), tmp_path / "file"
    save(one, path)
    return one, path, load, same


# Damaged


@pytest.mark.slow
def test_one_changed_bit_is_seen_or_changes_nothing(saved):
    one, path, load, same = saved
    content = path.read_bytes()
    refused = 0
    for place in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            loaded = load(path)
        except (ValueError, OSError) as error:
            assert str(path) in str(error), error
            refused += 1
        else:
            assert same(loaded, one), f"byte {place}"
    assert refused > len(content) // 9


def test_a_file_cut_short_is_refused(saved):
    _, path, load, _ = saved
    content = path.read_bytes()
    for size in range(0, len(content), 17):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=re.escape(str(path))):
            load(path)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"PAR1", b"q1 Q0 d1 1 0.5 r\n", None])
def test_what_is_no_file_of_ours_is_refused(saved, content):
    _, path, load, _ = saved
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    error = IsADirectoryError if content is None else ValueError
    with pytest.raises(error, match=re.escape(str(path))):
        load(path)


def test_empty_ones_come_back(tmp_path):
    DocLengths.from_dict({}).save(tmp_path / "none")
    assert len(DocLengths.load(tmp_path / "none")) == 0


# An index


@pytest.fixture
def index(tmp_path):
    TermIndex.from_documents(DOCUMENTS, path=tmp_path / "index", verbose=False)
    return tmp_path / "index"


def use(path):
    """Uses all files of an index."""
    made = TermIndex(path)
    made.bm25(num_results=3).search("radio scatter")
    made.document("d3")
    return made.num_docs


@pytest.mark.parametrize("how", ["cut", "empty", "missing", "folder", "text", "shorter"])
def test_a_damaged_index_is_refused_by_the_name_of_the_file(index, how):
    for file in sorted(index.iterdir()):
        broken = index.with_name("broken")
        shutil.copytree(index, broken)
        path = broken / file.name
        content = path.read_bytes()
        path.unlink()
        if how == "folder":
            path.mkdir()
        elif how == "shorter" and file.suffix == ".npy":
            np.save(path, np.load(file)[:-1])
        elif how != "missing":
            path.write_bytes(
                {"cut": content[: len(content) // 2], "text": b"what is this?\n" * 9}.get(how, b"")
            )
        missing = file.name == "pt_meta.json" and how in ("missing", "folder")
        with pytest.raises(
            FileNotFoundError if missing else ValueError, match=file.name + "|no pt_meta"
        ):
            use(broken)
        shutil.rmtree(broken)
    assert use(index) == 20


def test_one_changed_bit_of_an_index_is_seen(index):
    documents = {docno: TermIndex(index).document(docno) for docno in ("d3", "d19")}
    found = TermIndex(index).bm25().search("radio scatter")
    for file in sorted(index.glob("*.[na]*")):
        content = file.read_bytes()
        for place in range(0, len(content), 29):
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


# Loading executes no code


class Bomb:
    def __reduce__(self):
        return (os._exit, (99,))


def test_a_pickle_is_not_loaded_whatever_its_name(saved, index):
    _, path, load, _ = saved
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="is not a pyterrier_asl|is a binary file"):
        load(path)
    for name in ("posting_docs.npy", "docnos.arrow", "pt_meta.json"):
        content = (index / name).read_bytes()
        (index / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ValueError, match=name):
            use(index)
        (index / name).write_bytes(content)
    np.save(index / "posting_docs.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="posting_docs.npy"):
        use(index)


def test_nothing_in_the_package_can_load_code():
    """No call unpickles or executes the content of a file, except one temporary file."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if re.fullmatch(
                    r"(c?loud)?pickle\.loads?|joblib\.load|marshal\.loads?|eval|exec|dill\.loads?"
                    r"|yaml\.(unsafe_)?load|shelve\.open|pd\.read_pickle",
                    called,
                ):
                    found.add((path.relative_to(PACKAGE).as_posix(), called))
                allowed = [k.value for k in node.keywords if k.arg == "allow_pickle"]
                assert all(ast.unparse(value) == "False" for value in allowed), path
    assert {each for each in found if not each[0].startswith("tuning/")} == {
        ("evaluation/workers.py", "joblib.load")  # a file that this process has just written
    }


# Full disks


def test_a_full_disk_leaves_no_index(tmp_path, small_files):
    documents = [{"docno": f"d{n:050}", "text": f"word{n}"} for n in range(100)]
    path = tmp_path / "index"
    with small_files(), pytest.raises(OSError, match=f"^cannot write {path}: File too large"):
        TermIndex.from_documents(documents, path=path, verbose=False)
    assert list(tmp_path.iterdir()) == []


# Concurrent writers


_TWO = """
    import sys, time, warnings
    warnings.simplefilter("ignore")
    from pyterrier_asl import RarenessPool
    path, mark = sys.argv[1:]
    docs = [f"{mark}{i}" for i in range(3000)]
    pool = RarenessPool.from_runs({mark: {"q": {d: i for i, d in enumerate(docs)}}}, name=mark)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(30):
        pool.save(path)
"""


@pytest.mark.slow
def test_two_processes_that_write_one_file_leave_one_of_the_two(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "file"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(_TWO), str(path), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for mark in "ab"
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n", writer.communicate()[1]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    while any(writer.poll() is None for writer in writers):
        if path.exists():  # complete at any time
            assert RarenessPool.load(path).name in "ab"
    said = [writer.communicate(timeout=120) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], said
    assert [each.name for each in folder.iterdir()] == ["file"]
    mark = RarenessPool.load(path).name
    assert RarenessPool.load(path).runs == [mark]
