"""Every reader on files that nobody would write: an error that names the file, or what is in it.

Each target makes files with hypothesis, reads them, and compares with a plain loop where there is
one. Whatever else happens (another exception, another value, a crash, a hang) is a failure, which
hypothesis makes as small as it can. The file that was read last stays in ``--folder``, for a crash
of the process.

    python benchmarks/fuzz_readers.py --list
    python benchmarks/fuzz_readers.py --minutes 20
    python benchmarks/fuzz_readers.py --minutes 5 --target text_runs --target index --seed 7
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import math
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyterrier as pt
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from pyterrier_asl import DocLengths, RarenessPool, evaluate
from pyterrier_asl.evaluation.scores import read_scores
from pyterrier_asl.io.label_files import LabelFile, read_labels
from pyterrier_asl.io.names import read_groups
from pyterrier_asl.io.qrels import read_qrels_table
from pyterrier_asl.io.runs import iter_runs, list_runs, read_run, read_run_table
from pyterrier_asl.io.saved_tables import load_table, save_table
from pyterrier_asl.io.texts import Texts

warnings.filterwarnings("ignore", message=".*fewer than 8")
warnings.filterwarnings("ignore", message="(?s).*the run is read without")

#: By name, what is drawn and what is done with it.
TARGETS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Path, Any], None]]] = {}

#: How often each was tried.
CASES: Counter[str] = Counter()

REFUSED = (ValueError, OSError)
RUNS = {
    f"run{i}": {"q1": {f"d{j}": -j * i % 7 for j in range(5)}, "q2": {"a": 1}} for i in (1, 2, 3)
}
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"a": 1}}


def target(strategy: st.SearchStrategy[Any]) -> Callable[..., Any]:
    """Makes a target of a function that takes a folder and what is drawn."""

    def add(function: Callable[[Path, Any], None]) -> Callable[[Path, Any], None]:
        TARGETS[function.__name__] = strategy, function
        return function

    return add


class Refused(Exception):
    """The reader refused a file, and said which."""


@contextmanager
def errors_name(path: Path) -> Any:
    """Lets pass what refuses the file by name, and nothing else."""
    try:
        yield
    except REFUSED as error:
        assert path.name in str(error), f"an error that does not name the file: {error}"
        assert len(str(error)) < 2000, "an error that is longer than a screen"
        raise Refused from None


# Text

tokens = st.one_of(
    st.sampled_from(
        [b"q1", b"Q0", b"d1", b"1", b"0.5", b"-1e-300", b"inf", b"nan", b"NA", b"1e999", b"0x10"]
        + [b"1_0", b"#", b"#1", b'"', b"'", b",", b"\\", b"\xef\xbb\xbf", b"\xef\xbb\xbfq1"]
        + [b"\xff", b"\xc3\xa9", b"\x01", b"\x1a", b"\xe2\x80\xa8", b"\xc2\xa0", b"\x1f", b"-0"]
    ),
    st.binary(min_size=1, max_size=5),
)
gaps = st.sampled_from([b" ", b"\t", b"  ", b" \t", b"\r", b"\v", b"\f", b""])
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \n", b""])
number = st.floats().map(lambda x: repr(x).encode())


@st.composite
def lines(draw: st.DrawFn, columns: int, at: int) -> bytes:
    """Lines, most of them of a layout with a number in a column, and a few of another kind."""
    content = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"# about: x\n", b"\xff\xfe"]))
    name = draw(tokens)
    for _ in range(draw(st.integers(0, 6))):
        row = [draw(tokens) for _ in range(columns)]
        row[at] = draw(st.one_of(number, tokens))
        if columns == 6:
            row[5] = draw(st.sampled_from([name, name, name, b"other"]))
        if not draw(st.integers(0, 12)):
            row = row[: draw(st.integers(0, columns))]
        content += draw(gaps) + (draw(gaps) or b" ").join(row) + draw(gaps) + draw(ends)
    return content


def plainly(content: bytes, columns: int, at: int, finite: bool) -> list[tuple[str, str, float]]:
    """What a loop makes of lines, by the rules of the reader; ValueError where they do not fit."""
    rows, names = [], set()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise ValueError("binary")
    for line in content.split(b"\n"):
        while line.startswith(b"\xef\xbb\xbf"):
            line = line[3:]
        fields = line.split()
        fits = len(fields) == columns and is_number(fields[at], finite)
        if line.startswith(b"#") and not (fits and fields[0] != b"#"):
            continue
        if not fields:
            continue
        if line.startswith(b"#") or not fits:
            raise ValueError(line)
        rows.append((fields[0].decode(), fields[2].decode(), float(fields[at])))
        names.add(fields[-1])
    if not rows or (columns == 6 and len(names) > 1):
        raise ValueError("no rows, or several runs")
    return rows


def is_number(field: bytes, finite: bool) -> bool:
    try:
        value = math.nan if b"_" in field else float(field)
    except ValueError:
        return False
    return math.isfinite(value) if finite else not math.isnan(value)


def read_text(path: Path, content: bytes, columns: int, at: int, finite: bool) -> None:
    read = read_run_table if columns == 6 else read_qrels_table
    path.write_bytes(content)
    try:
        expected = plainly(content, columns, at, finite)
    except ValueError:
        expected = None
    try:
        with errors_name(path):
            table = read(path)
    except Refused:
        assert expected is None, "what fits was refused"
        return
    found = list(zip(*(column.to_pylist() for column in table.columns)))
    assert expected is not None, f"what does not fit was read: {found}"
    assert found == expected, f"{found} instead of {expected}"


@target(lines(6, 4))
def text_runs(folder: Path, content: bytes) -> None:
    assume(not content.startswith((b"PAR1", b"ARROW1")))
    assume(not content.startswith((b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")))
    read_text(folder / "fuzz.run", content, 6, 4, finite=False)


@target(lines(4, 3))
def text_qrels(folder: Path, content: bytes) -> None:
    assume(not content.startswith((b"PAR1", b"ARROW1", b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")))
    read_text(folder / "fuzz.qrels", content, 4, 3, finite=True)


@target(st.one_of(lines(2, 1), st.binary(max_size=60)))
def text_lengths(folder: Path, content: bytes) -> None:
    path = folder / "fuzz.lengths"
    path.write_bytes(content)
    try:
        with errors_name(path):
            DocLengths.load(path)
    except Refused:
        pass


@target(st.one_of(lines(2, 1), st.text(max_size=40).map(lambda text: text.encode()), tokens))
def tab_separated(folder: Path, content: bytes) -> None:
    path = folder / "fuzz.tsv"
    path.write_bytes(content)
    for read in (read_groups, Texts.of):
        try:
            with errors_name(path):
                read(path)
        except Refused:
            pass


# Damaged files

CONTENT = b"".join(b"q%d Q0 d%d %d %d.5 r\n" % (i // 10, i, i, -i) for i in range(60))


def damage(content: bytes, places: list[tuple[float, int]], cut: float) -> bytes:
    """Some bytes changed, and the rest cut off."""
    damaged = bytearray(content[: round(len(content) * cut)])
    for place, byte in places:
        if damaged:
            damaged[int(place * len(damaged)) % len(damaged)] = byte
    return bytes(damaged)


damages = st.tuples(
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4),
    st.one_of(st.just(1.0), st.floats(0, 1)),
)


@target(st.tuples(st.sampled_from(["gzip", "bz2", "zstd", "lz4"]), damages))
def compressed_runs(folder: Path, drawn: Any) -> None:
    codec, (places, cut) = drawn
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(CONTENT)
    path = folder / "fuzz.gz"
    path.write_bytes(damage(sink.getvalue().to_pybytes(), places, cut))
    try:
        with errors_name(path):
            read_run_table(path)
    except Refused:
        pass


@target(st.tuples(st.sampled_from([".parquet", ".feather", ".arrow"]), damages))
def damaged_columns(folder: Path, drawn: Any) -> None:
    suffix, (places, cut) = drawn
    path = folder / f"fuzz{suffix}"
    table = pa.table({"qid": ["a", "a", "b"], "docno": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path)
    path.write_bytes(damage(path.read_bytes(), places, cut))
    try:
        with errors_name(path):
            read_run_table(path)
    except Refused:
        pass


SCORES = pd.DataFrame(
    [(name, qid, "AP", 0.25) for name in ("a", "b") for qid in ("1", "2")],
    columns=["name", "qid", "measure", "value"],
)
WRITE_SCORES: dict[str, Callable[[Path], None]] = {
    ".parquet": SCORES.to_parquet,
    ".feather": SCORES.to_feather,
    ".csv": lambda path: SCORES.to_csv(path, index=False),
    ".csv.gz": lambda path: SCORES.to_csv(path, index=False),
    ".tsv": lambda path: SCORES.to_csv(path, index=False, sep="\t"),
    ".jsonl": lambda path: SCORES.to_json(path, orient="records", lines=True),
}


@target(st.tuples(st.sampled_from(list(WRITE_SCORES)), damages))
def score_tables(folder: Path, drawn: Any) -> None:
    suffix, (places, cut) = drawn
    path = folder / f"fuzz{suffix}"
    WRITE_SCORES[suffix](path)
    path.write_bytes(damage(path.read_bytes(), places, cut))
    try:
        with errors_name(path):
            read_scores(path)
    except Refused:
        pass


score_cells = st.sampled_from(["a", "1", "AP", "0.25", "name", "qid", "", '"', '"a,b"', "nan", "é"])


@target(
    st.tuples(st.sampled_from(",;\t "), st.lists(st.lists(score_cells, max_size=6), max_size=6))
)
def score_rows(folder: Path, drawn: Any) -> None:
    """Rows of other lengths than the header, in the tables and in what trec_eval prints."""
    separator, rows = drawn
    path = folder / ("fuzz.tsv" if separator == "\t" else "fuzz.csv")
    header = separator.join(["name", "qid", "measure", "value"])
    path.write_text("\n".join([header, *map(separator.join, rows)]) + "\n", "utf-8")
    try:
        with errors_name(path):
            scores = read_scores(path)
    except Refused:
        return
    whole = [row for row in rows if any(cell.strip() for cell in row)]
    assert all(len(row) == 4 or '"' in "".join(row) for row in whole), "a row lost or gained cells"
    assert len(scores.rows) <= len(whole)


# Labels

label_cells = st.sampled_from(
    ["q", "d", "1", "0.5", "-1", "1e400", "nan", "", "null", '"', "é", "\ufeff", "qid", "label"]
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def label_lines(draw: st.DrawFn) -> bytes:
    """Labels as JSON lines or as a table, with lines that are none, the last one cut."""
    if draw(st.booleans()):
        names = st.sampled_from(["qid", "docno", "label", "source", "query_id", "note"])
        rows = draw(st.lists(st.dictionaries(names, st.one_of(label_cells, json_values))))
        usual = [{"qid": "q", "docno": f"d{i}", "label": i % 2} for i in range(3)]
        lines = [json.dumps({**(draw(st.sampled_from(usual))), **row}).encode() for row in rows]
    else:
        separator = draw(st.sampled_from(["\t", ",", ";", " "]))
        rows = [["qid", "docno", "label"], *draw(st.lists(st.lists(label_cells, max_size=5)))]
        lines = [separator.join(row).encode() for row in rows]
    lines += draw(st.lists(st.binary(max_size=4), max_size=1))
    content = b"\n".join(lines) + draw(st.sampled_from([b"", b"\n", b"\r\n"]))
    return content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content


@target(label_lines())
def label_files(folder: Path, content: bytes) -> None:
    """What is read is read again, with the label that is added; nothing before it is lost."""
    path = folder / "fuzz.jsonl"
    path.write_bytes(content)
    new = {"qid": "new", "docno": "new", "label": 1, "source": "me"}
    try:
        with errors_name(path):
            before = read_labels(path)
            LabelFile(path).add([new])
    except Refused:
        assert path.read_bytes() == content or content.startswith(path.read_bytes())
        return
    after = read_labels(path)
    rows = [frame.to_dict("records") for frame in (before, after)]
    assert rows[1] == [*rows[0], {**new, "label": 1.0}], f"{rows[1]} instead of {rows[0]} and one"


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.int8(),
    pa.int64(),
    pa.uint64(),
    pa.float16(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(5, 2),
    pa.bool_(),
    pa.timestamp("s"),
    pa.duration("s"),
    pa.date32(),
    pa.null(),
    pa.list_(pa.int8()),
    pa.struct([("a", pa.int8())]),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int8(), pa.int64()),
]
NAMES = ["qid", "query_id", "docno", "doc_id", "score", "rank", "name", "run", "doc_len", "label"]
cells = st.one_of(
    st.none(), st.integers(-3, 300), st.floats(), st.sampled_from(["", "a", "b", "1", "é", "\t"])
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Columns of any name and type, mostly those of a run."""
    rows = draw(st.integers(0, 4))
    names = ["qid", "docno", "score"] if draw(st.booleans()) else []
    names += draw(st.lists(st.sampled_from(NAMES), max_size=4))
    columns = []
    for name in names:
        usual = pa.float64() if name in ("score", "doc_len", "label") else pa.string()
        kind = draw(st.one_of(st.just(usual), st.sampled_from(KINDS)))
        values = draw(st.lists(cells, min_size=rows, max_size=rows))
        columns.append(as_column(values, kind))
    return pa.table(columns, names=names)


def as_column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """The values as this type, whatever that makes of them; else none."""
    try:
        return pa.array(values).cast(kind)
    except (pa.ArrowException, TypeError, ValueError):
        try:
            return pa.array([str(i) for i in range(len(values))]).cast(kind)
        except (pa.ArrowException, TypeError, ValueError):
            return pa.nulls(len(values), kind)


@target(st.tuples(tables(), st.sampled_from([".parquet", ".feather", ".arrow"])))
def typed_columns(folder: Path, drawn: Any) -> None:
    table, suffix = drawn
    path = folder / f"fuzz{suffix}"
    try:
        if suffix == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as stream:
                stream.write_table(table)
    except (pa.ArrowException, OSError):
        assume(False)
    for read in (read_run_table, read_run, read_qrels_table):
        try:
            with errors_name(path):
                found = read(path)
        except Refused:
            continue
        assert len(found) == len(table)
        frame = found.to_pandas() if isinstance(found, pa.Table) else found
        for name in ("qid", "docno"):
            assert all(isinstance(each, str) for each in frame[name])
        assert not frame["score" if "score" in frame else "label"].isna().any()


# Saved files whose digest is right

SAVED: dict[str, tuple[Callable[[Path], None], Callable[[Path], Any], Callable[[Any], Any]]] = {
    RarenessPool.KIND: (
        lambda path: RarenessPool.from_runs(RUNS, depth=5, groups={"run1": "g"}).save(path),
        RarenessPool.load,
        lambda pool: evaluate(RUNS, QRELS, [f"AP_Rareness(pool='{pool.id}')@1"], progress=False),
    ),
    DocLengths.KIND: (
        lambda path: DocLengths.from_dict({f"d{i}": i * 0.5 for i in range(6)}).save(path),
        DocLengths.load,
        lambda lengths: lengths.look_up(pa.array(["d1", "no"], pa.large_string())),
    ),
}

changes = st.one_of(
    st.tuples(st.just("values"), st.integers(0, 3), st.lists(cells, min_size=1, max_size=4)),
    st.tuples(st.just("type"), st.integers(0, 3), st.sampled_from(KINDS)),
    st.tuples(st.just("rows"), st.integers(0, 30), st.integers(-30, 30)),
    st.tuples(st.just("drop"), st.integers(0, 3), st.none()),
    st.tuples(st.just("name"), st.integers(0, 3), st.sampled_from(NAMES)),
    st.tuples(
        st.just("about"),
        st.sampled_from(["name", "depth", "groups"]),
        st.recursive(cells, lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    ),
    st.tuples(st.just("metadata"), st.integers(0, 1), st.text(max_size=8)),
)


def changed(table: pa.Table, how: str, where: Any, what: Any) -> pa.Table:
    """The table with something in it that is not what was saved."""
    metadata = dict(table.schema.metadata or {})
    if how == "about":
        for key, value in metadata.items():
            if key in (b"pool", b"lengths"):
                metadata[key] = json.dumps({**json.loads(value), where: what}).encode()
        return table.replace_schema_metadata(metadata)
    if how == "metadata":
        return table.replace_schema_metadata({key: what for key in metadata} if where else {})
    if how == "rows":
        return table.slice(where, max(what, 0)) if what >= 0 else pa.concat_tables([table] * 2)
    at = where % table.num_columns
    column, name = table.column(at), table.column_names[at]
    if how == "drop":
        return table.drop_columns(name)
    if how == "name":
        return table.rename_columns(
            [what if i == at else each for i, each in enumerate(table.column_names)]
        )
    if how == "type":
        return table.set_column(at, name, as_column(column.to_pylist(), what))
    values = column.to_pylist()
    values[: len(what)] = what[: len(values)]
    return table.set_column(at, name, as_column(values, column.type))


@target(st.tuples(st.sampled_from(sorted(SAVED)), st.lists(changes, min_size=1, max_size=3)))
def saved_files(folder: Path, drawn: Any) -> None:
    kind, all_changes = drawn
    save, load, use = SAVED[kind]
    path = folder / f"fuzz {kind}"
    path.unlink(missing_ok=True)
    save(path)
    table = load_table(path, kind=kind, version=1)
    try:
        for change in all_changes:
            table = changed(table, *change)
        save_table(table, path, kind=kind, version=1)
    except (pa.ArrowException, IndexError, ZeroDivisionError, KeyError, ValueError, TypeError):
        assume(False)
    try:
        with errors_name(path):
            loaded = load(path)
    except Refused:
        return
    try:
        use(loaded)
    except ValueError as error:  # of queries that it does not know, say
        assert kind == RarenessPool.KIND, error


@target(st.tuples(st.sampled_from(sorted(SAVED)), damages))
def damaged_saved_files(folder: Path, drawn: Any) -> None:
    """What was saved, or an error: the digest notices every byte of the content."""
    kind, (places, cut) = drawn
    save, load, use = SAVED[kind]
    path, whole = folder / f"fuzz {kind}", folder / f"whole {kind}"
    if not whole.exists():
        save(whole)
    path.write_bytes(damage(whole.read_bytes(), places, cut))
    try:
        with errors_name(path):
            loaded = load(path)
    except Refused:
        return
    assert repr(use(loaded)) == repr(use(load(whole))), "other content than was saved"


# Folders

files = st.dictionaries(
    st.text(st.sampled_from("abr.=# é"), min_size=1, max_size=6),
    st.sampled_from(["run", "empty", "link", "folder", "binary"]),
    max_size=4,
)


@target(files)
def folders(folder: Path, names: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        inside = Path(place)
        for name, kind in names.items():
            path = inside / name
            if path.exists() or name in (".", ".."):
                continue
            if kind == "folder":
                path.mkdir()
            elif kind == "link":
                path.symlink_to("nowhere")
            else:
                path.write_bytes({"run": CONTENT, "empty": b"", "binary": b"\0\1"}[kind])
        seen = [p for p in inside.iterdir() if not p.name.startswith(".") and not p.is_dir()]
        try:
            with errors_name(inside):
                found = list_runs(inside)
        except Refused:
            return
        assert len(found) == len(seen)
        try:
            with errors_name(inside):
                read = dict(iter_runs(found))
        except Refused:
            return
        assert all(names[path.name] == "run" for path in seen) and len(read) == len(seen)


# The long run


def run(name: str, folder: Path, examples: int, number: int) -> None:
    """One round of a target."""
    strategy, function = TARGETS[name]

    @with_seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=20_000,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        print_blob=False,
    )
    @given(strategy)
    def case(drawn: Any) -> None:
        CASES[name] += 1
        function(folder, drawn)

    case()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1, help="CPU time per target")
    parser.add_argument("--target", action="append", choices=TARGETS, help="can be given again")
    parser.add_argument("--list", action="store_true", help="the names of the targets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=200, help="of a target before the next")
    parser.add_argument("--folder", type=Path, help="where the files are  [default: a new one]")
    arguments = parser.parse_args()
    if arguments.list:
        print(*TARGETS, sep="\n")
        return 0
    faulthandler.enable()
    pt.tqdm = lambda each, **_: each
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(exist_ok=True)
    names = arguments.target or list(TARGETS)
    failures: Counter[str] = Counter()
    seconds = dict.fromkeys(names, 0.0)
    start, number = time.monotonic(), 0
    while min(seconds.values()) < 60 * arguments.minutes and failures.total() <= 20:
        for name in names:
            before = time.process_time()
            try:
                run(name, folder, arguments.examples, 1_000_003 * arguments.seed + number)
            except Exception:
                failures[name] += 1
                print(f"{name}, round {number}:\n{traceback.format_exc()}", flush=True)
            seconds[name] += time.process_time() - before
        number += 1
    print(f"seed {arguments.seed}, {time.monotonic() - start:.0f} s, files in {folder}")
    for name in names:
        print(
            f"  {name:16} {CASES[name]:8} cases, {seconds[name]:7.0f} s of CPU, "
            f"{failures[name]} failures"
        )
    return 1 if any(failures.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
