"""Compares generated cases with plain loops, and reads generated and damaged files.

* ``values``: a run, qrels and measures give the value of the loops, or the expected error
  (``tests/_cases.py``);
* ``text``: lines of a run or of qrels are read as by a loop, or are an error that names the file;
* ``tables``: rows of a run, qrels, labels or scores come back from every format;
* ``damaged``: a file of any kind with changed bytes, or cut off, is read, or is such an error.

Each case follows from the seed and its number. Prints the counts, and the number of each failure.

    python tests/tools/fuzz.py --cases 100000 --seed 1
    python tests/tools/fuzz.py --target damaged --cases 20000 --seconds 500
    python tests/tools/fuzz.py --target values --seed 1 --only 4711
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import math
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _cases import check, make_case  # noqa: E402

import pyterrier_asl as asl  # noqa: E402
from pyterrier_asl import DocLengths, RarenessPool, read_labels, read_scores  # noqa: E402
from pyterrier_asl.io.groups import read_groups  # noqa: E402
from pyterrier_asl.io.qrels import read_qrels_table  # noqa: E402
from pyterrier_asl.io.runs import read_run_table  # noqa: E402

FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))
MAGIC = (b"PAR1", b"ARRO", b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
TOKENS = [b"q1", b"Q0", b"d1", b"1", b"0.5", b"-1e-300", b"inf", b"nan", b"NA", b"1e999", b"0x10"]
TOKENS += [b"1_0", b"#", b"#1", b'"', b"'", b",", b"\\", b"\xef\xbb\xbf", b"\xff", b"\xc3\xa9"]
TOKENS += [b"\x01", b"\x1a", b"\xe2\x80\xa8", b"\xc2\xa0", b"\x1f", b"-0", b"\0"]
GAPS = [b" ", b"\t", b"  ", b" \t", b"\r", b"\v", b"\f"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \n", b""]


def read(reader: Callable[[Path], Any], path: Path) -> Any:
    """What a reader returns; None if it refuses the file by name."""
    try:
        return reader(path)
    except (ValueError, OSError) as error:
        assert path.name in str(error), f"an error that does not name the file: {error}"
        assert len(str(error)) < 2000, "an error that is longer than a screen"
        return None


def values(random: Random) -> str:
    return check(make_case(random))


def text(random: Random) -> str:
    columns, at, reader = random.choice([(6, 4, read_run_table), (4, 3, read_qrels_table)])
    content = random.choice([b"", b"", b"\xef\xbb\xbf", b"# about: x\n", b"\xff\xfe"])
    name = random.choice(TOKENS)
    for _ in range(random.randrange(7)):
        row = [random.choice(TOKENS) for _ in range(columns)]
        if random.random() < 0.9:
            row[at] = repr(random.choice([1, -1e300, 1e-9]) * random.random()).encode()
        row[-1] = name if columns == 6 and random.random() < 0.9 else row[-1]
        row = row[: random.randrange(columns)] if random.random() < 0.05 else row
        content += random.choice(GAPS).join(row) + random.choice(ENDS)
    path = FOLDER / "fuzz.txt"
    path.write_bytes(content)
    if content.startswith(MAGIC):
        return "binary"
    try:
        expected = by_loop(content, columns, at)
    except ValueError:
        expected = None
    table = read(reader, path)
    if expected is None and table is not None and columns == 6 and table[2].type == "double":
        lines = [line.split() for line in content.split(b"\n")]
        if {len(fields) for fields in lines if fields and fields[0][:1] != b"#"} == {3}:
            return "three columns"
    found = table and list(zip(*(table[c].to_pylist() for c in table.column_names[:3])))
    assert found == expected, f"{content!r}: {found} instead of {expected}"
    return "refused" if found is None else "read"


def by_loop(content: bytes, columns: int, at: int) -> list[tuple[str, str, float]]:
    """The rows of lines, by the rules of the reader; ValueError where they do not fit."""
    rows, names = [], set()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise ValueError("binary")
    for line in content.split(b"\n"):
        while line.startswith(b"\xef\xbb\xbf"):
            line = line[3:]
        fields = line.split()
        if columns == 6 and len(fields) > 6 and is_scored(fields, 4) and not is_scored(fields, -2):
            fields = line.split(None, 5)
        fits = len(fields) == columns and is_number(fields[at], finite=columns == 4)
        if not fields or (line.startswith(b"#") and not (fits and fields[0] != b"#")):
            continue
        if line.startswith(b"#") or not fits:
            raise ValueError(line)
        fields[1].decode() if columns == 4 else ""  # subtopics are text, too
        rows.append((fields[0].decode(), fields[2].decode(), float(fields[at])))
        names.add(fields[-1])
    if not rows or (columns == 6 and len(names) > 1):
        raise ValueError("no rows, or several runs")
    return rows


def is_scored(fields: list[bytes], at: int) -> bool:
    """Whether a score follows a rank."""
    return fields[at - 1].removeprefix(b"-").isdigit() and is_number(fields[at], finite=False)


def is_number(field: bytes, finite: bool) -> bool:
    try:
        value = math.nan if b"_" in field else float(field)
    except ValueError:
        return False
    return math.isfinite(value) if finite else not math.isnan(value)


#: Names of the columns of a document's row, and ids that a table has to quote.
HEADERS = ["qid docno {}", "query-id corpus-id {}", "Query_ID,PID,{}", "topic document_id {}"]
IDS = ["q1", "007", "star wars", 'a "b"', "C:\\new", "é", "NA", "1.0", "x,y", "a;b", "'=1", "#1"]


def tables(random: Random) -> str:
    """A table in some format, with its rows in some order."""
    kind, read_rows = random.choice([("score", asl.read_run), ("label", asl.read_qrels)])
    header = random.choice(HEADERS).format(random.choice([kind, kind.upper(), f" {kind} "]))
    names = header.split("," if "," in header else None)
    rows = {(random.choice(IDS), f"{random.choice(IDS)}{n}") for n in range(random.randrange(1, 9))}
    values = [(q, d, random.choice([0, 1, 2.5, -3, 1e-9])) for q, d in sorted(rows)]
    random.shuffle(values)
    frame = pd.DataFrame(values, columns=[name.strip() for name in names]).assign(notes="a b")
    frame = frame[random.sample([*frame], 4)]
    form = random.choice(["json", "jsonl", "parquet", ",", ";", "|"])
    path = FOLDER / f"table.{form if form.isalnum() else 'csv'}{random.choice(['', '.gz'])}"
    if form in ("json", "jsonl"):
        frame.to_json(path, orient="records", lines=form == "jsonl")
    elif form == "parquet":
        frame.to_parquet(path := path.with_suffix(".parquet"))
    else:
        frame.to_csv(path, sep=form, index=False, encoding=random.choice(["utf-8", "utf-8-sig"]),
                     lineterminator=random.choice(["\n", "\r\n"]))  # fmt: skip
    found = [*read_rows(path)[["qid", "docno", kind]].itertuples(index=False, name=None)]
    assert found == values, f"{path}: {found} instead of {values}"
    return form


RUN = b"".join(b"q%d Q0 d%d %d %d.5 r\n" % (i // 10, i, i, -i) for i in range(60))
TABLE = pd.DataFrame({"qid": ["a", "a", "b"], "docno": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
LABELS = pd.DataFrame({"qid": ["a", "b"], "docno": ["x", "y"], "label": [1, 0]})
SCORES = pd.DataFrame({"name": ["a", "a"], "qid": ["1", "2"], "AP": [0.25, 0.5]})
POOL = {f"r{i}": {"q": {f"d{j}": -j * i % 7 for j in range(5)}} for i in range(9)}


def compressed(codec: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with pa.CompressedOutputStream(str(path), codec) as stream:
            stream.write(RUN)

    return write


#: The name of a file of each kind -> how it is written, and its reader.
TO_LINES = {"orient": "records", "lines": True}
FILES: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    **{f"run.{c}": (compressed(c), read_run_table) for c in ("gzip", "bz2", "zstd", "lz4")},
    "run.parquet": (TABLE.to_parquet, read_run_table),
    "run.feather": (TABLE.to_feather, read_run_table),
    "tagged.run": (lambda path: path.write_bytes(RUN.replace(b" r\n", b" a b\n")), read_run_table),
    "ranked.run": (lambda path: path.write_text("q a 1\nq b 2\np c 7\n"), read_run_table),
    "run.csv": (lambda path: TABLE.to_csv(path, index=False), read_run_table),
    "run.json": (lambda path: path.write_text('{"q": {"a": 2, "b": 1}}'), read_run_table),
    "qrels.tsv": (lambda path: LABELS.to_csv(path, index=False, sep="\t"), read_qrels_table),
    "qrels.jsonl": (lambda path: LABELS.to_json(path, **TO_LINES), read_qrels_table),
    "scores.jsonl": (lambda path: SCORES.to_json(path, **TO_LINES), read_scores),
    "scores.eval": (lambda path: path.write_text("x\nmap\t1\t0.5\nruns\t1\tx\n"), read_scores),
    "wide.csv": (lambda path: path.write_text("Model;Average;A;B\nx;2;1;3\n"), read_scores),
    "scores.csv": (lambda path: SCORES.to_csv(path, index=False), read_scores),
    "scores.parquet": (SCORES.to_parquet, read_scores),
    "labels.csv": (lambda path: LABELS.to_csv(path, index=False), read_labels),
    "labels.jsonl": (lambda path: LABELS.to_json(path, **TO_LINES), read_labels),
    "groups.tsv": (lambda path: path.write_text("a\tx\nb\ty\n"), read_groups),
    "pool": (lambda path: RarenessPool.from_runs(POOL).save(path), RarenessPool.load),
    "lengths": (lambda path: DocLengths.from_dict({"d": 1, "e": 2}).save(path), DocLengths.load),
}


def damaged(random: Random) -> str:
    name = random.choice(list(FILES))
    write, reader = FILES[name]
    whole, path = FOLDER / f"whole-{name}", FOLDER / name
    if not whole.exists():
        write(whole)
    content = bytearray(whole.read_bytes())
    for _ in range(random.randrange(5)):
        content[random.randrange(len(content))] = random.randrange(256)
    path.write_bytes(content[: random.choice([len(content), random.randrange(len(content))])])
    return f"{name} {'refused' if read(reader, path) is None else 'read'}"


TARGETS = {"values": values, "text": text, "tables": tables, "damaged": damaged}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=TARGETS, help="[default: all in turn]")
    parser.add_argument("--cases", type=int, default=1000, help="number of the last case, plus 1")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="only this case")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    arguments = parser.parse_args()
    logging.getLogger("pyterrier_asl").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    faulthandler.enable()
    numbers = range(arguments.first, arguments.cases)
    if arguments.only is not None:
        numbers = range(arguments.only, arguments.only + 1)
    outcomes: Counter[str] = Counter()
    start = time.monotonic()
    for number in numbers:
        if time.monotonic() - start > arguments.seconds or outcomes["failed"] >= 20:
            break
        target = arguments.target or list(TARGETS)[number % len(TARGETS)]
        try:
            outcomes[f"{target}: {TARGETS[target](Random(f'{arguments.seed}-{number}'))}"] += 1
        except Exception:
            outcomes["failed"] += 1
            print(f"case {number}, {target}:\n{traceback.format_exc()}", flush=True)
    seconds = time.monotonic() - start
    print(f"{outcomes.total()} cases, seed {arguments.seed}, {seconds:.0f} s, files in {FOLDER}")
    for outcome, count in outcomes.most_common():
        print(f"  {count:7}  {outcome}")
    return 1 if outcomes["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
