"""Reading runs and judgements, against plain loops and the readers of PyTerrier and ir_measures.
Tests of runs.py, qrels.py, groups.py, trec_text.py, columns.py, values.py, saved_tables.py."""

import gzip
import io
import math
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyterrier as pt
import pytest
from _users import own_folder
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import Qrel, ScoredDoc

from pyterrier_asl import compare, evaluate, ties
from pyterrier_asl.io import qrels, runs, trec_text
from pyterrier_asl.io.atomic import replacing
from pyterrier_asl.io.columns import run_columns
from pyterrier_asl.io.groups import read_groups
from pyterrier_asl.io.opening import open_text
from pyterrier_asl.io.runs import run_name
from pyterrier_asl.io.saved_tables import load_table, save_table
from pyterrier_asl.io.texts import Texts

LINE = b"q1 Q0 d1 1 0.5 r\n"
SIX = "expected 6 columns (qid Q0 docno rank score name)"
A_RUN = {"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0]}


@pytest.fixture
def write(tmp_path):
    def write(content: bytes | str, name: str = "a.run") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 4 KiB, so that files of some 50 KB have several, read on threads."""
    monkeypatch.setattr(trec_text, "_BLOCK", 1 << 12)
    monkeypatch.setattr(trec_text, "_SMALL", 1 << 14)


def plainly(content: bytes) -> list[tuple[str, str, float]]:
    """A run read by a loop over lines."""
    lines = [line.split() for line in content.split(b"\n") if line.strip()]
    return [(qid.decode(), d.decode(), float(score)) for qid, _, d, _, score, _ in lines]


def refused(source: Any, *parts: str) -> None:
    """Reading a run is an error with these parts."""
    with pytest.raises(ValueError) as caught:
        runs.read_run_table(source)
    for part in parts:
        assert part in str(caught.value)
    assert len(str(caught.value)) < 400


def rows(table: pa.Table) -> list[tuple]:
    names = [name for name in table.column_names if name != "rank"]
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def compressed(content: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


blanks = st.text(" \t\r\v\f", min_size=1, max_size=4)
ids = st.sampled_from(
    ["NA", "null", "nan", "None", "", "007", "1", "1.0", '"q', "a,b", "#1", "'", "-"]
) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
ids = ids.map(lambda text: "".join(text.split()) or "x")


@st.composite
def messy_runs(draw: st.DrawFn) -> tuple[bytes, list[tuple[str, str, float]]]:
    """A run with all white space characters of C, and its rows."""
    content, expected = draw(st.sampled_from(["", "\ufeff"])), []
    name = draw(ids)
    for _ in range(draw(st.integers(1, 8))):
        # These are a comment and a byte order mark at the beginning of a line.
        qid = draw(ids.map(lambda text: text.lstrip("#\ufeff") or "x"))
        docno, rank, score = draw(ids), draw(ids), draw(st.floats(allow_nan=False))
        expected.append((qid, docno, score))
        line = "".join(part + draw(blanks) for part in (qid, "Q0", docno, rank, repr(score)))
        content += draw(blanks | st.just("")) + line + name + draw(blanks | st.just(""))
        content += "\n" * draw(st.integers(1, 3))
    return content.removesuffix("\n").encode(), expected


@given(messy_runs())
@settings(max_examples=settings().max_examples // 2)  # tests/tools/fuzz.py makes many more
def test_any_ids_and_any_white_space(tmp_path_factory, run):
    content, expected = run
    path = tmp_path_factory.mktemp("messy") / "a"
    path.write_bytes(content)
    assert rows(runs.read_run_table(path)) == expected
    assert runs.read_run(path)["docno"].tolist() == [docno for _, docno, _ in expected]


words = st.sampled_from(b'q 1 -2.5 nan inf 1_0 0x1 NA \xe9 " \xef\xbb\xbf \x01'.split())
gaps = st.sampled_from([b" ", b"\t", b"  ", b" \r", b"\x0c", b"\xc2\xa0", b",", b"\x1f"])


def read_lines(path, layout):
    with open_text(path) as stream:
        return trec_text.read_columns(path, stream, layout, ["qid", "docno", layout.number])


@given(
    st.lists(st.lists(st.tuples(words, gaps), min_size=4, max_size=6), min_size=1, max_size=4),
    st.sampled_from([trec_text.RUN, trec_text.QRELS]),
)
def test_lines_are_accepted_alone_and_before_a_wrong_line(tmp_path_factory, lines, layout):
    """A file with a wrong line is read by another reader, which finds the first wrong line."""
    content = b"\n".join(b"".join(word + gap for word, gap in line) for line in lines)
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(content + b"\nwrong")
    with pytest.raises(ValueError) as wrong:
        read_lines(path, layout)
    path.write_bytes(content)
    found, error = [], ""
    try:
        found = rows(read_lines(path, layout))
    except ValueError as raised:
        error = str(raised)
    if error and "several runs" not in error:
        assert str(wrong.value).partition("; give")[0] == error.partition("; give")[0]
        return
    assert f"a, line {len(lines) + 1}: expected {layout}, found 1" in str(wrong.value)
    at = layout.columns.index(layout.number)
    split = [line.split() for line in re.sub(rb"(?m)^(\xef\xbb\xbf)+", b"", content).split(b"\n")]
    expected = [(line[0].decode(), line[2].decode(), float(line[at])) for line in split]
    assert error or found == expected


def test_lines_across_blocks(write, small_blocks):
    """Blocks end within lines, at line feeds and between columns."""
    content = b"".join(b" q%d  Q0\td%d 1 %d.5 r \r\n\n" % (i, i * i, i) for i in range(1_200))
    assert len(content) > 6 * trec_text._BLOCK
    expected = plainly(content)
    for path in (write(content), write(b" " + content), write(b"\n  " + content)):
        assert rows(runs.read_run_table(path)) == expected


@pytest.mark.parametrize(
    ("text", "score"),
    [("1e-5", 1e-5), ("-3", -3.0), ("+2", 2.0), (".5", 0.5), ("5.", 5.0), ("1E3", 1000.0)]
    + [("inf", math.inf), ("-Infinity", -math.inf), ("1e999", math.inf), ("5e-324", 5e-324)]
    + [("0.1" + "0" * 300, 0.1), ("136.90608242222712000000000000000000", 136.90608242222712)],
)
def test_scores(write, text, score):
    path = write(f"q Q0 d 1 {text} r\n")
    assert runs.read_run_table(path)["score"].to_pylist() == [score]


def test_byte_order_marks_of_files_put_together_are_no_part_of_a_query(write):
    mark = b"\xef\xbb\xbf"
    for content in (mark + LINE, mark + mark + LINE, LINE + mark + LINE, mark + LINE + mark + LINE):
        assert set(runs.read_run_table(write(content))["qid"].to_pylist()) == {"q1"}
    assert runs.read_run_table(write(b" " + mark + LINE))["qid"].to_pylist() == ["\ufeffq1"]


@pytest.mark.parametrize("number", [50, 900])
def test_comments_are_left_out(write, small_blocks, number):
    """Also behind the first block."""
    head = "# head\n# platform:\n#   os: a b c 1 d\n"
    lines = [f"q{i} Q0 d#{i} {i} {i}.5 r\n" for i in range(number)]
    path = write(head + "".join(lines[:-25]) + "#last\n" + "".join(lines[-25:]))
    assert rows(runs.read_run_table(path)) == [(f"q{i}", f"d#{i}", i + 0.5) for i in range(number)]
    path = write("# of topics 50\nq 0 d 1\n")
    assert rows(qrels.read_qrels_table(path)) == [("q", "d", 1)]


def test_a_query_that_looks_like_a_comment_is_refused(write):
    """trec_eval would ignore it."""
    for number, content in enumerate((b"#1 Q0 d1 1 0.5 r\n", LINE + b"#1 Q0 d1 1 0.5 r\n"), 1):
        refused(write(content), f"a.run, line {number}: a line that begins with '#'")
    refused(write(b"# a\n# b\nq Q0 d1 1\n"), "a.run, line 3: expected 6 columns")


def test_a_file_of_two_runs_is_refused(write):
    one, other = (LINE.replace(b" r\n", b" %s\n" % name) for name in (b"7", b"07"))
    for content in (one + other, one * 500 + other * 500, (one + other) * 500):
        with pytest.raises(ValueError, match=r"a\.run holds several runs .*'7' and '07'"):
            runs.read_run(write(content))


@pytest.mark.parametrize("line", [1, 999])
@pytest.mark.parametrize("space", [b" ", b"\t", b"  "], ids=["blank", "tab", "blanks"])
def test_one_line_of_another_run_is_found_wherever_it_stands(write, small_blocks, line, space):
    lines = [b"q1 Q0 d%06d 1 0.5 r\n" % number for number in range(1_000)]
    same = b"".join(lines).replace(b" ", space).replace(b"r\n", b"\xff\n")
    assert len(runs.read_run_table(write(same))) == 1_000  # a name need not be UTF-8
    lines[line] = lines[line].replace(b" r\n", b" \xff\n")
    content = b"".join(lines).replace(b" ", space)
    with pytest.raises(ValueError, match=r"a\.run holds several runs .*'r' and '.*xff'"):
        runs.read_run_table(write(content))


def test_an_arrow_file_of_two_runs_is_refused(tmp_path):
    for column in ("name", "run"):
        table = pa.table(A_RUN | {column: ["a", "b"]})
        for suffix in (".arrow", ".parquet"):
            path = saved(table, tmp_path / f"a{suffix}")
            refused(path, f"holds several runs (its column {column}")
            with pytest.raises(ValueError, match=f"holds several runs .its column {column}"):
                runs.read_run(path)
            assert len(runs.read_run_table(saved(table.slice(0, 1), path))) == 1


def test_a_line_without_an_end_is_refused_before_it_is_read(write, monkeypatch):
    """A compressed megabyte can contain a line of a gigabyte: reading stops after about 4 MiB."""
    monkeypatch.setattr(trec_text, "_LONGEST_LINE", 1 << 22)
    whole = gzip.compress(b"q" * 20_000_000, 1, mtime=0)
    path = write(whole[: len(whole) * 13 // 20], "a.gz")  # damaged after 13 MB, where no one reads
    refused(path, "a.gz has a line of more than 4 MiB, beginning with 'qq")
    with pytest.raises(OSError, match="cannot be read to its end"):
        runs.read_run_table(write(whole[: len(whole) // 8], "a.gz"))


def test_standard_input(monkeypatch):
    for content in (LINE, gzip.compress(LINE)):
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
        assert rows(runs.read_run_table("-")) == plainly(LINE)
        sys.stdin.buffer.seek(0)
        assert list(runs.read_runs(["-"])) == ["stdin"]


def test_a_line_longer_than_a_block(write, small_blocks):
    content = LINE + b"q Q0 " + b"d" * 50_000 + b" 1 1 r\n" + LINE
    assert rows(runs.read_run_table(write(content))) == plainly(content)


@pytest.mark.parametrize("name", ["a.run", "a.gz", "a.bin"])
@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd", "lz4"])
def test_compression_is_recognised_by_content(write, name, codec):
    content = LINE * 1000
    assert rows(runs.read_run_table(write(compressed(content, codec), name))) == plainly(content)


MANY = b"".join(b"q%d Q0 d%08d %d 1.5 r\n" % (i // 99, i, i) for i in range(1_500))


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd", "lz4"])
def test_pieces_that_are_larger_than_blocks(write, small_blocks, codec):
    """Files of several compressed pieces, with empty, truncated and uncompressed pieces."""
    pieces = [compressed(part, codec) for part in (MANY[:3], MANY[3:19_999], MANY[19_999:])]
    nothing = compressed(b"", codec)
    together = b"".join(pieces)
    short = [b"".join(pieces[:2])[:-9], *(together[:-size] for size in (1, 9, 30))]
    whole, damaged = [together], [*short, together + b"what?"]
    # Arrow stops after an empty piece of bzip2.
    (damaged if codec == "bz2" else whole).append(nothing.join(pieces))
    for content in whole:
        table = runs.read_run_table(write(content))
        assert table["docno"].to_pylist() == [f"d{i:08}" for i in range(1_500)]
    for content in damaged:
        with pytest.raises(OSError, match=r"a\.run cannot be read to its end.*cut short"):
            runs.read_run_table(write(content))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(b"\n", b"\r\n"), None),
        (lambda text: b"\xef\xbb\xbf" + text, None),
        (lambda text: text[:-1], None),
        (lambda text: text[:30_000] + b"\0" + text[30_000:], "is a binary file"),
        (lambda text: text + b"\0", "is a binary file .*: give text, or text compressed with gzip"),
        (lambda text: text.decode().encode("utf-16"), "is UTF-16"),
        (lambda text: 2 * text.replace(b"\n", b"\n\n") + b"q Q0 d 1\n" + text, f"line 6001: {SIX}"),
        (lambda text: text + b"\x1a", "line 1501: expected 6 columns .*found 1: '\\x1a'"),
    ],
)
def test_files_of_several_blocks(write, small_blocks, change, message):
    path = write(change(MANY))
    assert path.stat().st_size > 2 * trec_text._BLOCK
    if message:
        return refused(path, "a.run", *message.split(" .*"))
    assert rows(runs.read_run_table(path)) == plainly(MANY)


def test_a_missing_subtopic_is_subtopic_0():
    rows = pd.DataFrame({"qid": "q", "docno": ["a", "b"], "label": 1, "iteration": ["0", None]})
    assert "iteration" not in qrels.read_qrels(rows)


def test_frame_has_pyterriers_columns(write):
    frame = runs.read_run(write("01 Q0 NA 3 1 r\n01 Q0 null 2 2 r\n", "input.x.txt"))
    assert list(frame.columns) == ["qid", "docno", "rank", "score", "name"]
    assert frame.values.tolist() == [["01", "NA", 3, 1.0, "r"], ["01", "null", 2, 2.0, "r"]]
    assert (frame["rank"].dtype, frame["score"].dtype) == (np.int64, np.float64)
    # Ranks that are no numbers are replaced.
    frame = runs.read_run(write("b Q0 x - 1 r\na Q0 x - 1 r\nb Q0 y 7 1 r\n"))
    assert frame["rank"].tolist() == [0, 0, 1]


@pytest.fixture(params=["isal", "Arrow"])
def unpacked_by(request, monkeypatch):
    if request.param == "isal":
        pytest.importorskip("isal", reason="isal is not installed: pip install '.[gzip]'")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)


@pytest.mark.parametrize("damage", ["flipped", "checksum", "length", "more"])
def test_a_damaged_gzip_file_is_an_error_whatever_unpacks_it(write, unpacked_by, damage):
    content = bytearray(gzip.compress(MANY) + b"more" * (damage == "more"))
    if damage != "more":
        content[{"flipped": 2000, "checksum": -7, "length": -1}[damage]] ^= 255
    with pytest.raises((OSError, ValueError), match=r"a\.run"):
        runs.read_run_table(write(bytes(content)))


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_file_without_permission(write):
    runs.read_run(write(LINE))  # imports the modules that reading needs
    with own_folder() as folder:
        path = folder / "a.run"
        path.write_bytes(LINE)
        path.chmod(0)
        with pytest.raises(PermissionError, match="a.run cannot be read: Permission denied"):
            runs.read_run(path)


@pytest.mark.parametrize(
    ("grades", "kind", "expected"),
    [("1 0 -2", int, [1, 0, -2]), ("1 1.7 -0.5", float, [1, 1.7, -0.5]), ("1.0 2", int, [1, 2])],
)
def test_grades(write, grades, kind, expected):
    frame = qrels.read_qrels(write("".join(f"q\t0  d {g}\n" for g in grades.split())))
    assert (frame["label"].dtype, frame["label"].tolist()) == (kind, expected)
    assert [*frame] == ["qid", "docno", "label"]


OFFLINE = """
from pyterrier_asl import DocLengths, TermIndex, read_qrels
from pyterrier_asl.io.texts import Texts
calls = [read_qrels, DocLengths.from_irds, TermIndex.from_irds, lambda name: Texts.of(None, name)]
for call in calls:
    try:
        call("irds:vaswani")
    except OSError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_dataset_that_cannot_be_downloaded_is_one_sentence_with_what_to_do(tmp_path):
    env = dict.fromkeys(["http_proxy", "https_proxy"], "http://127.0.0.1:9")
    env |= {"IR_DATASETS_HOME": str(tmp_path), "IR_DATASETS_DL_TRIES": "1"}
    command = [sys.executable, "-c", OFFLINE]
    done = subprocess.run(command, env=os.environ | env, capture_output=True)
    expected = (
        "vaswani of ir_datasets is not on this machine and could not be downloaded (ProxyError): "
        f"connect to the internet, copy its files into {tmp_path}, or give files instead\n"
    )
    assert done.stdout.decode() == expected * 4


def test_names_and_ranks_in_a_frame():
    frame = pd.DataFrame(A_RUN | {"rank": [4.0, 1.0], "name": [7, 7]})
    for name in (frame["name"], frame["name"].astype("category")):
        run = runs.read_run(frame.assign(name=name))
        assert run[["rank", "name"]].values.tolist() == [[4, "7"], [1, "7"]]
    empty = pd.DataFrame({"qid": [], "docno": [], "score": []})
    assert rows(runs.read_run_table(empty)) == []
    assert list(runs.read_run(empty).columns) == ["qid", "docno", "rank", "score", "name"]


def test_the_advice_for_ids_that_are_fractions_works():
    """A column of whole numbers that has or had missing values is one of fractions."""
    frame = pd.DataFrame({"qid": [1.0, 20.0], "docno": ["a", "b"], "score": [1, 2]})
    for read in (runs.read_run, lambda run: runs.read_run(pa.Table.from_pandas(run))):
        with pytest.raises(ValueError) as caught:
            read(frame)
        advice = re.search(r"\.astype\(\S+'\)(?=,)", str(caught.value))[0]
        ids = eval(f"column{advice}", {"column": frame["qid"]})
        assert read(frame.assign(qid=ids))["qid"].tolist() == ["1", "20"]
    missing = eval(f"column{advice}", {"column": pd.Series([1.0, None])})
    with pytest.raises(ValueError, match="missing in row 1"):
        runs.read_run(frame.assign(qid=missing))


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ""])
@pytest.mark.parametrize("names", [("qid", "docno"), ("query_id", "doc_id")])
def test_parquet_and_arrow_files(tmp_path, suffix, names):
    table = pa.table({names[0]: [7, 8], names[1]: ["a b", "NA"], "score": [2, 1], "extra": [0, 0]})
    path = tmp_path / f"input.x{suffix}"
    (pq.write_table if suffix in (".parquet", "") else pyarrow.feather.write_feather)(table, path)
    assert rows(runs.read_run_table(path)) == [("7", "a b", 2.0), ("8", "NA", 1.0)]
    assert runs.read_run(path)["name"].tolist() == ["x", "x"]


@pytest.mark.parametrize(("suffix", "form"), [(".parquet", "Parquet"), (".feather", "Arrow")])
def test_a_damaged_parquet_file(write, suffix, form):
    refused(write(LINE, f"a{suffix}"), f"cannot be read as {form}: ")
    refused(write(b"PAR1" + bytes(100), f"a{suffix}"), "cannot be read as Parquet: ")


def test_query_ids_beyond_64_bits_are_text_as_well():
    run = pd.DataFrame({"qid": [2**70] * 8, "docno": list("abcdefgh"), "score": range(8)})
    assert rows(runs.read_run_table(run.astype({"qid": object})))[0] == (str(2**70), "a", 0.0)


def test_bytes_of_an_arrow_file_may_be_zero(tmp_path):
    path = tmp_path / "run.arrow"
    whole = saved(pa.table(A_RUN), path).read_bytes()
    errors = []
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + b"\0" + whole[place + 1 :])
        try:
            runs.read_run_table(path)
        except ValueError as error:
            errors.append(str(error))
    assert errors and all(path.name in error for error in errors)


def saved(table: pa.Table, path: Path, **options: Any) -> Path:
    """A Parquet file, or an Arrow file, which keeps the types of its columns."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, **options)
        return path
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as stream:
        stream.write_table(table)
    return path


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
def test_text_of_other_kinds_in_an_arrow_file(tmp_path, kind):
    """Polars writes views."""
    changed = {name: pa.array(A_RUN[name], kind) for name in ("qid", "docno")}
    path = saved(pa.table(A_RUN | changed | {"name": changed["qid"]}), tmp_path / "a.arrow")
    assert rows(runs.read_run_table(path)) == [("q", "a", 2.0), ("q", "b", 1.0)]
    assert runs.read_run(path)["name"].tolist() == ["q", "q"]


@pytest.mark.parametrize(
    "scores",
    [pa.array([2**53 + 1, 2**63 - 1]), pa.array([2**64 - 1, 0], pa.uint64())]
    + [pa.array([2**53 + 1, 7]).dictionary_encode(), pa.array([2, 1], pa.decimal128(5, 2))]
    + [pa.array(np.array([0.1, 7], np.float16))],
    ids=lambda scores: str(scores.type)[:10],
)
def test_numbers_of_other_kinds_in_a_parquet_file(tmp_path, scores):
    """They become the nearest 64-bit floats, as in a frame."""
    expected = [float(score) for score in scores.to_pylist()]
    for name, read in (("score", runs.read_run_table), ("label", qrels.read_qrels_table)):
        pq.write_table(pa.table(A_RUN | {name: scores}), tmp_path / "a.parquet")
        assert read(tmp_path / "a.parquet")[name].to_pylist() == expected


def test_times_are_no_numbers(tmp_path):
    for kind in (pa.timestamp("s"), pa.duration("s")):
        pq.write_table(pa.table(A_RUN | {"score": pa.array([0, 1], kind)}), tmp_path / "a.parquet")
        refused(tmp_path / "a.parquet", "column score of ", "a.parquet must be numbers, but")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_ids_in_a_file_that_are_no_utf8(tmp_path, suffix):
    """Arrow does not check the encoding of ids."""
    _, offsets, text = pa.array([b"a", b"\xff\xfe"]).buffers()
    docnos = pa.Array.from_buffers(pa.string(), 2, [None, offsets, text])
    path = saved(pa.table(A_RUN | {"docno": docnos}), tmp_path / f"a{suffix}")
    refused(path, "column docno of ", f"a{suffix} must be UTF-8")


@pytest.mark.parametrize(("suffix", "form"), [(".parquet", "Parquet"), (".arrow", "Arrow")])
def test_names_of_columns_that_are_no_utf8(tmp_path, suffix, form):
    table = pa.table(A_RUN | {"notes": ["x", "y"]})
    path = saved(table, tmp_path / f"a{suffix}", store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"notes", b"\xffotes"))
    refused(path, f"a{suffix} cannot be read as {form}: 'utf-8")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_columns_that_could_be_either(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    for name, which in (("docno", "2 columns called 'docno'"), ("doc_id", "both docno and doc_id")):
        saved(pa.table([*A_RUN.values(), ["x", "y"]], names=[*A_RUN, name]), path)
        refused(path, path.name, f"there are {which}")
    table = pa.table([*A_RUN.values(), ["x", "x"], ["x", "x"]], names=[*A_RUN, "name", "name"])
    with pytest.raises(ValueError, match="a.arrow: there are 2 columns called 'name'"):
        runs.read_run(saved(table, tmp_path / "a.arrow"))


def test_what_is_neither_file_nor_frame():
    with pytest.raises(TypeError, match="expected a run file or frame, not list"):
        runs.read_run_table([1])
    rows = [ScoredDoc("q", "d", 1.0), Qrel("q", "d", 1)]
    names = re.escape("['query_id', 'doc_id', 'score']")
    with pytest.raises(TypeError, match=f"^rows of the run need {names}, but row 1 is .*Qrel"):
        run_columns(iter(rows))
    for path in ("a.run", b"a.run"):
        with pytest.raises(TypeError, match=f"not {type(path).__name__} 'a.run'; read a file"):
            run_columns(path)
    pipeline = pt.apply.generic(lambda frame: frame)
    for call in (evaluate, ties, compare):
        for systems in ({"a": pipeline, "b": pipeline}, [pipeline, pipeline]):
            with pytest.raises(TypeError, match="apply the pipeline to topics, or use pt.asl.Exp"):
                call(systems, {"q": {"d": 1}}, "AP")


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/input.bm25.gz", "bm25"), ("1", "1"), ("input.1.gz", "1"), ("x.v1.2.run.zst", "x.v1.2")]
    + [("BM25.TXT", "BM25"), ("input.", "input."), (".run", ".run"), ("a.res.tsv.bz2", "a")]
    + [("input.gz", "gz"), ("bm25.tuned", "bm25.tuned")],
)
def test_run_names(path, name):
    assert run_name(path) == name


@pytest.fixture
def folder(write):
    for number in (3, 1, 2):
        write(b"q Q0 d%d 1 1 r\n" % number, f"input.{number}.txt")
    path = write(b"not a run", ".hidden").parent
    (path / "inner").mkdir()
    return path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes and links here")
def test_nothing_in_a_folder_is_left_out_silently(folder):
    """A file that cannot be read is an error, because a missing run would not be noticed."""
    os.mkfifo(folder / "4.run")
    with pytest.raises(OSError, match="4.run is not a regular file"):
        runs.read_runs(folder)
    (folder / "4.run").unlink()
    for target in ("nowhere", "4.run"):
        (folder / "4.run").symlink_to(target)
        with pytest.raises(FileNotFoundError, match="there is no file .*4.run"):
            runs.read_runs(folder)
        (folder / "4.run").unlink()
    assert list(runs.read_runs(folder)) == ["1", "2", "3"]


def test_a_folder(folder):
    read = runs.read_runs(folder)
    expected = {"1": ["d1"], "2": ["d2"], "3": ["d3"]}
    assert [(n, [*run["docno"]]) for n, run in read.items()] == [*expected.items()]
    tables = runs.iter_runs(folder)
    assert [(n, table["docno"].to_pylist()) for n, table in tables] == [*expected.items()]
    done = runs.iter_runs(folder, then=lambda name, run: (name, len(run)))
    assert [*done] == [(name, (name, 1)) for name in "123"]


def test_files_keep_their_order(folder):
    paths = [folder / "input.2.txt", str(folder / "input.1.txt")]
    assert list(runs.read_runs(paths)) == ["2", "1"]
    assert list(runs.read_runs(paths[0])) == ["2"]
    mixed = {"x": paths[0], "y": runs.read_run(paths[1])}
    assert [run["docno"].tolist() for run in runs.read_runs(mixed).values()] == [["d2"], ["d1"]]


def test_reading_ahead_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "cores", lambda: 2)
    for number in range(20):
        (tmp_path / f"{number}.run").write_bytes(LINE)
    read = []
    tables = runs.iter_runs(tmp_path, then=lambda name, _: read.append(name))
    next(tables)
    tables.close()
    assert 1 <= len(read) <= 3


def test_errors_of_folders(folder):
    (folder / "3.gz").write_bytes(LINE)
    with pytest.raises(ValueError, match=r"3\.gz and .*input\.3\.txt are both named '3'"):
        runs.iter_runs(folder)
    with pytest.raises(ValueError, match="two runs have one name as text: 1, '1'"):
        runs.list_runs({1: "a.run", "1": "b.run"})
    (folder / "3.gz").write_bytes(b"README\n")
    with pytest.raises(ValueError, match=r"3\.gz, line 1"):
        runs.read_runs([folder / "input.1.txt", folder / "3.gz"])


def test_other_files_are_refused(tmp_path, write):
    save_table(pa.table({"a": [1]}), tmp_path / "t", kind="doc_lengths", version=2)
    with pytest.raises(ValueError, match="is a pyterrier_asl doc_lengths file, not a pool file"):
        load_table(tmp_path / "t", kind="pool", version=2)
    with pytest.raises(ValueError, match="of format version 2, this pyterrier_asl reads version 1"):
        load_table(tmp_path / "t", kind="doc_lengths", version=1)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t")
    with pytest.raises(ValueError, match="is a Parquet file, not a pool file"):
        load_table(tmp_path / "t", kind="pool", version=1)
    with pytest.raises(ValueError, match="is not a pyterrier_asl pool file"):
        load_table(write(LINE), kind="pool", version=1)
    with pytest.raises(FileNotFoundError):
        load_table(tmp_path / "nothing", kind="pool", version=1)


def test_a_failed_save_leaves_the_old_file(tmp_path, small_files):
    path = tmp_path / "t"
    save_table(pa.table({"a": [1]}), path, kind="pool", version=1)
    with small_files(), pytest.raises(OSError, match=f"^cannot write {path}: File too large$"):
        save_table(pa.table({"a": np.random.random(2000)}), path, kind="pool", version=1)
    assert load_table(path, kind="pool", version=1)["a"].to_pylist() == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_replacing_follows_links(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as beside:
        beside.write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        pass


def test_small_text_files_that_are_not_utf8_are_named(write):
    path = write(b"run\t\x80\n", "groups.tsv")
    for read in (read_groups, Texts.of):
        with pytest.raises(ValueError, match="groups.tsv is not UTF-8"):
            read(path)
    assert read_groups(write(b"\xef\xbb\xbfa.run\tg\r\n", "groups.tsv")) == {"a": "g"}


@pytest.mark.parametrize("rows", [0, 2])
def test_a_parquet_file_with_wrong_numbers_of_rows_is_refused(tmp_path, rows):
    """The footer has the number of all rows and the number of rows in its only part, as 6."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"qid": [*"qqq"], "docno": [*"xyz"], "score": [3.0, 2, 1]}), path)
    content = path.read_bytes()
    footer, errors = len(content) - 8 - int.from_bytes(content[-8:-4], "little"), ""
    for place in (at for at in range(footer, len(content)) if content[at] == 2 * 3):
        changed = bytearray(content)
        changed[place] = 2 * rows  # as Thrift encodes integers
        path.write_bytes(changed)
        try:
            assert len(runs.read_run_table(path)) in (3, rows)
        except (ValueError, OSError) as error:
            assert "a.parquet" in str(error)
            errors += str(error)
    assert f"should have 3 rows, not {rows}" in errors or f"have {rows} rows, not 3" in errors


@pytest.mark.slow
@pytest.mark.parametrize("target", ["text", "damaged"])
def test_generated_files_are_read_as_by_a_loop_or_refused(target):
    fuzz = Path(__file__).parents[2] / "tools" / "fuzz.py"
    command = [sys.executable, fuzz, "--target", target, "--cases", "300"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "300 cases" in done.stdout, done.stdout + done.stderr


def test_a_frame_is_recognised_while_another_thread_imports_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", types.ModuleType("pandas"))
    assert rows(runs.read_run_table(pa.table(A_RUN))) == [("q", "a", 2.0), ("q", "b", 1.0)]
