"""Compares any number of generated cases with plain loops, as ``test_generated.py`` does.

Each case is a run, qrels and measures, generated from the seed and its number. The result must be
the value of the loops or the expected error (``tests/_cases.py``). Prints the counts, and for
each failure the number of the case.

    python benchmarks/fuzz.py --cases 100000 --seed 1
    python benchmarks/fuzz.py --seed 1 --only 4711
    nice python benchmarks/fuzz.py --cases 100000 --first 40000 --seconds 500
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from _cases import Unexpected, check, make_case  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000, help="number of the last case, plus 1")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="show one case")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument(
        "--failures", type=int, default=20, help="stop after this number of failures"
    )
    arguments = parser.parse_args()
    if arguments.only is not None:
        case = make_case(Random(f"{arguments.seed}-{arguments.only}"))
        print(case)
        print(check(case))
        return 0
    logging.getLogger("pyterrier_asl").setLevel(logging.ERROR)
    came: Counter[str] = Counter()
    doors: Counter[str] = Counter()
    failures = 0
    start = time.monotonic()
    number = arguments.first
    while number < arguments.cases and time.monotonic() - start < arguments.seconds:
        case = make_case(Random(f"{arguments.seed}-{number}"))
        doors[case.door] += 1
        try:
            came[check(case)] += 1
        except Unexpected as error:
            failures += 1
            print(f"case {number}, {case.door}: {error}", flush=True)
        except Exception:
            failures += 1
            print(f"case {number}, {case.door}:\n{traceback.format_exc()}", flush=True)
        number += 1
        if failures >= arguments.failures:
            break
    tried = number - arguments.first
    print(
        f"{tried} cases ({arguments.first} to {number - 1}, seed {arguments.seed}) in "
        f"{time.monotonic() - start:.0f} s: {came['values']} gave the loops' values, "
        f"{tried - came['values'] - failures} the error that was due, {failures} failed"
    )
    for title, counts in (("errors", came), ("doors", doors)):
        print(f"{title}:")
        for what, count in counts.most_common():
            print(f"  {count:7}  {what}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
