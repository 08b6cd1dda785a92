"""The speed of the command line on files, as ratios to trec_eval (C) on the same files.

    python benchmarks/files.py --trec-eval ./trec_eval                  # a run of 6,980 x 1000
    python benchmarks/files.py --trec-eval ./trec_eval --runs RUNS --qrels QRELS

trec_eval is not on PyPI: build it (https://github.com/usnistgov/trec_eval), or take the binary for
your system from the jar of uk.ac.gla.dcs.terrierteam:jtreceval:0.0.5 on Maven Central. Inputs are
generated from a seed in a temporary folder, except with --runs, a folder of gzipped runs. The table
has the best time of REPEATS alternating calls, and the peak memory of a command with all its
processes in a further call.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.csv as pcsv
from evaluation import DEPTH, generate

OURS = [sys.executable, "-m", "pyterrier_asl", "evaluate"]
STANDARD = "AP RR P@20 nDCG@10 ASL@1000 LexiP"


def seconds_of(command: list[str]) -> float:
    """Seconds of a command."""
    begin = time.perf_counter()
    _wait(_start(command))
    return time.perf_counter() - begin


def memory_of(command: list[str]) -> float:
    """Peak memory in MB of a command and the processes that it starts; measuring slows it."""
    process, peak = _start(command), [0]
    watcher = threading.Thread(target=_watch, args=(process, peak))
    watcher.start()
    _wait(process)
    watcher.join()
    return peak[0] / 1e6


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "PYTHONDONTWRITEBYTECODE": ""
    }  # an installed package writes bytecode
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )


def _wait(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate()
    if process.returncode:
        sys.exit(f"{process.args!r} failed:\n{errors.decode()}")


def _watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    root = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            family = [root, *root.children(recursive=True)]
            peak[0] = max(peak[0], sum(map(_memory, family)))
        except psutil.Error:
            pass  # The process has just ended.
        time.sleep(0.05)


def _memory(process: psutil.Process) -> int:
    """The memory of a process, with its part of shared memory (on Linux)."""
    about = process.memory_full_info()
    return int(getattr(about, "pss", about.rss))


def row(work: str, commands: list[list[str]], repeats: int) -> None:
    """Prints a row: this package, and the other program if there is one."""
    memory = memory_of(commands[0])
    rounds = [[seconds_of(command) for command in commands] for _ in range(repeats)]
    ours, *theirs = map(min, zip(*rounds))
    rival = f"{theirs[0]:.2f} s | {theirs[0] / ours:.1f}x" if theirs else "- | -"
    print(f"| {work} | {ours:.2f} s, {memory:.0f} MB | {rival} |", flush=True)


def write_text(folder: Path, queries: int, seed: int) -> tuple[str, str]:
    """A run and its qrels as text files."""
    run, qrels = generate(queries, seed)
    rank = run.groupby("query_id", sort=False).cumcount() + 1
    plain = pcsv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    tables = {
        "run": [
            run["query_id"],
            ["Q0"] * len(run),
            run["doc_id"],
            rank,
            run["score"].round(6),
            ["bm25"] * len(run),
        ],
        "qrels": [qrels["query_id"], ["0"] * len(qrels), qrels["doc_id"], qrels["relevance"]],
    }
    for name, columns in tables.items():
        table = pa.table({str(number): column for number, column in enumerate(columns)})
        pcsv.write_csv(table, folder / name, plain)
    return str(folder / "qrels"), str(folder / "run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trec-eval", help="path of trec_eval")
    parser.add_argument("--queries", type=int, default=6980, help="queries of the text run")
    parser.add_argument("--runs", help="a folder of gzipped runs, instead of a generated run")
    parser.add_argument("--qrels", help="their qrels")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    trec_eval = arguments.trec_eval
    print("| work | ours | trec_eval -m map -m recip_rank | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.runs:
            measures = f"{STANDARD} AP_Rareness@100"
            commands = [[*OURS, arguments.qrels, arguments.runs, "-m", measures]]
            if trec_eval:
                plain = folder / "run"  # trec_eval seeks in its file, so it cannot read a pipe.
                each = (
                    f"zcat $run > {plain} && "
                    f"{trec_eval} -m map -m recip_rank {arguments.qrels} {plain}"
                )
                commands += [["sh", "-c", f"for run in {arguments.runs}/*; do {each}; done"]]
            row("all runs from gz files, pool included", commands, arguments.repeats)
        else:
            qrels, run = write_text(folder, arguments.queries, arguments.seed)
            commands = [[*OURS, qrels, run, "-m", STANDARD]]
            if trec_eval:
                commands += [[trec_eval, "-m", "map", "-m", "recip_rank", qrels, run]]
            row(f"{arguments.queries * DEPTH:,} rows of text", commands, arguments.repeats)


if __name__ == "__main__":
    main()
