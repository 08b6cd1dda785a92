"""The speed of reading a run, compared with PyTerrier, pandas and trec_eval.

Generates a run of QUERIES x DEPTH lines from a seed in a temporary folder, a copy with several
blanks and tabs between the columns, and a gzipped copy. Reads each in a new process, and prints the
best time of REPEAT readings and the peak memory.

    python benchmarks/reading.py                            # a tenth of MS MARCO's dev queries
    python benchmarks/reading.py --queries 6980             # all of them: 7 million lines, 350 MB
    python benchmarks/reading.py --trec-eval ./trec_eval    # compares with trec_eval, too

trec_eval cannot read without evaluating; it gets one judgement and one measure.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Reads the file argv[1] argv[2] times; prints the best time and the peak memory.
_TIMED = """
import json, resource, sys, time
{setup}
times = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    result = {read}
    times.append(time.perf_counter() - start)
    del result
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps([min(times), peak]))
"""
_PANDAS = (
    "pandas.read_csv(sys.argv[1], sep=r'\\s+', header=None, usecols=[0, 2, 4], "
    "dtype={0: str, 2: str, 4: float}, na_filter=False, quoting=3)"
)
READERS = {
    "read_run_table": (
        "from pyterrier_asl.io.runs import read_run_table",
        "read_run_table(sys.argv[1])",
    ),
    "read_run": ("from pyterrier_asl.io.runs import read_run", "read_run(sys.argv[1])"),
    "pandas.read_csv": ("import pandas", _PANDAS),
    "pt.io.read_results": ("import pyterrier as pt", "pt.io.read_results(sys.argv[1])"),
}


def write_run(path: Path, queries: int, depth: int, seed: int) -> None:
    """Writes a run such as a BM25 run over MS MARCO passages, by a seed."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for query in range(queries):
            docnos = rng.integers(0, 8_841_823, depth).tolist()
            scores = np.sort(rng.uniform(0, 30, depth))[::-1].tolist()
            file.writelines(
                f"{query * 150} Q0 {docno} {rank} {score:.6f} anserini-bm25-tuned\n"
                for rank, (docno, score) in enumerate(zip(docnos, scores, strict=True), start=1)
            )


def write_variants(path: Path) -> list[Path]:
    """Writes the same run with messy white space, and compressed."""
    messy, zipped = path.with_name("messy.run"), path.with_name("plain.run.gz")
    with path.open("rb") as source, messy.open("wb") as target:
        target.writelines(line.replace(b" ", b"  \t") for line in source)
    with path.open("rb") as source, gzip.open(zipped, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target)
    return [path, messy, zipped]


def timed(reader: str, path: Path, repeat: int) -> tuple[float, float]:
    """The best time in seconds and the peak memory in MB of a reader, in a new process."""
    setup, read = READERS[reader]
    code = _TIMED.format(setup=setup, read=read)
    command = [sys.executable, "-c", code, str(path), str(repeat)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, peak = json.loads(output.splitlines()[-1])
    return seconds, peak


def timed_trec_eval(program: str, path: Path, repeat: int) -> tuple[float, float]:
    """The best time and the peak memory of trec_eval."""
    qrels = path.with_name("qrels")
    qrels.write_text("0 0 1 1\n")
    code = _TIMED.format(
        setup="import subprocess",
        read="subprocess.run(sys.argv[3:], check=True, capture_output=True)",
    ).replace("RUSAGE_SELF", "RUSAGE_CHILDREN")
    command = [program, "-m", "recip_rank", str(qrels), str(path)]
    output = subprocess.run(
        [sys.executable, "-c", code, str(path), str(repeat), *command],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds, peak = json.loads(output)
    return seconds, peak


def report(name: str, file: Path, seconds: float, peak: float, ours: float) -> None:
    ratio = f"{seconds / ours:6.1f} x"
    print(f"{file.name:14} {name:20} {seconds:8.2f} s {ratio} {peak:8.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=698)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trec-eval", metavar="PATH", help="a trec_eval program to compare with")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plain.run")
        write_run(path, options.queries, options.depth, options.seed)
        lines, size = options.queries * options.depth, path.stat().st_size / 1e6
        print(f"{lines:,} lines, {size:.0f} MB; ratios are to read_run_table of the same file")
        for file in write_variants(path):
            ours, peak = timed("read_run_table", file, options.repeat)
            report("read_run_table", file, ours, peak, ours)
            for reader in list(READERS)[1:]:
                report(reader, file, *timed(reader, file, options.repeat), ours)
            if options.trec_eval and file.suffix != ".gz":
                measured = timed_trec_eval(options.trec_eval, file, options.repeat)
                report("trec_eval", file, *measured, ours)


if __name__ == "__main__":
    main()
