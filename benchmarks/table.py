"""All benchmarks of speed; about ten minutes on an idle machine.

    python benchmarks/table.py --trec-eval ./trec_eval --runs RUNS --qrels QRELS

Without --trec-eval (files.py says where to get it) files are not compared with trec_eval. Without
--runs, a folder of gzipped runs, the table has no row for many runs. Inputs are generated from
a seed. `pip install '.[test]'` installs the other programs, and `pip install pyterrier-pisa` PISA.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def run(title: str, script: str, *options: str) -> None:
    """Runs a benchmark in a new process, which prints its table."""
    print(f"\n## {title}\n", flush=True)
    subprocess.run([sys.executable, str(HERE / script), *options], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trec-eval", help="path of trec_eval")
    parser.add_argument("--runs", help="a folder of gzipped runs")
    parser.add_argument("--qrels", help="their qrels")
    arguments = parser.parse_args()
    if bool(arguments.runs) != bool(arguments.qrels):
        parser.error("--runs and --qrels go together")
    rival = ["--trec-eval", arguments.trec_eval] if arguments.trec_eval else []
    run("Frames, and pt.Experiment", "evaluation.py")
    run("Growth", "evaluation.py", "--growth")
    run("Text files", "files.py", *rival)
    if arguments.runs:
        given = ["--runs", arguments.runs, "--qrels", arguments.qrels]
        run("Many runs", "files.py", *rival, *given)
    run("BM25", "bm25.py")


if __name__ == "__main__":
    main()
