"""The time of short commands, as ratios to importing PyArrow and pandas.

    python benchmarks/start.py              # everything is compiled and cached already
    python benchmarks/start.py --new        # also the first call on a new machine, nothing cached

Commands and the two imports are run in turn, so that other load on the machine slows them alike.
The table has medians. Inputs are a run of two lines and two runs of 50 queries, generated from a
seed in a temporary folder. A first call compiles all modules to bytecode.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

OURS = [sys.executable, "-m", "pyterrier_asl"]
IMPORTS = {
    "click, ir_measures": "import click, ir_measures",
    "pyarrow": "import pyarrow",
    "pandas": "import pandas",
}
PAIR = "qrels first.run second.run"
COMMANDS = {
    "--version": "--version",
    "--help": "--help",
    "evaluate, two lines": "evaluate small.qrels small.run",
    "evaluate, 50 queries": "evaluate qrels first.run",
    "analyze --list": "analyze --list",
    "compare": f"compare {PAIR}",
    "holes": f"holes {PAIR}",
    "demo": "demo",
}


def write_inputs(folder: Path, seed: int = 1, queries: int = 50, depth: int = 1000) -> None:
    """Qrels, and runs that retrieve half of the relevant documents."""
    (folder / "small.qrels").write_text("q 0 d 1\n")
    (folder / "small.run").write_text("q Q0 d 1 2 x\nq Q0 e 2 1 x\n")
    generator = random.Random(seed)
    with (folder / "qrels").open("w") as qrels:
        for query in range(queries):
            qrels.writelines(f"{query} 0 d{doc} {doc % 3 // 2}\n" for doc in range(0, 2000, 10))
    for name in ("first", "second"):
        with (folder / f"{name}.run").open("w") as run:
            for query in range(queries):
                documents = generator.sample(range(2000), depth)
                run.writelines(
                    f"{query} Q0 d{doc} {rank} {-rank} {name}\n"
                    for rank, doc in enumerate(documents, 1)
                )


def seconds(command: list[str], folder: Path, cache: str | None = None) -> float:
    """The time of a command."""
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment = os.environ | bytecode | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--new", action="store_true", help="also the first call on a new machine")
    parser.add_argument(
        "commands", nargs="*", help="beginnings of the names of commands; default: all"
    )
    arguments = parser.parse_args()
    wanted = {
        name: command.split()
        for name, command in COMMANDS.items()
        if not arguments.commands or name.startswith(tuple(arguments.commands))
    }
    print("| command | seconds | " + " | ".join(f"/ import {name}" for name in IMPORTS) + " |")
    print("|---" * (len(IMPORTS) + 2) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        for title, command in wanted.items():
            taken: dict[str, list[float]] = {each: [] for each in (title, *IMPORTS)}
            for code in IMPORTS.values():  # so that files are in the cache of the system
                seconds([sys.executable, "-c", code], folder)
            seconds([*OURS, *command], folder)
            for _ in range(arguments.repeats):
                for each, code in IMPORTS.items():
                    taken[each].append(seconds([sys.executable, "-c", code], folder))
                taken[title].append(seconds([*OURS, *command], folder))
            ours, *theirs = (median(taken[each]) for each in (title, *IMPORTS))
            ratios = " | ".join(f"{ours / other:.2f}" for other in theirs)
            print(f"| {title} | {ours:.2f} | {ratios} |", flush=True)
            if arguments.new:
                with tempfile.TemporaryDirectory() as cache:
                    first = seconds([*OURS, *command], folder, cache)
                ratios = " | ".join(f"{first / other:.2f}" for other in theirs)
                print(f"| {title}, for the first time | {first:.2f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
