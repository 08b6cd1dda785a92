"""Do the quick tests notice a changed line? Single changes to the code, drawn by chance, tested.

Copies the last commit, lists with Cosmic Ray every change that it knows (an operator, a constant, a
comparison, a condition), draws some of them for each package, and runs the package's unit tests and
the contract tests of measures on each. A change that no test notices is printed as a diff: it needs
a test, or does not change what the code does.

    nice python benchmarks/mutants.py --mutants 40 --seed 1
    nice python benchmarks/mutants.py --package scoring --package judging --mutants 10

``pip install '.[dev]'`` installs Cosmic Ray. One change takes as long as the tests of its package.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkItem

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = (
    "scoring",
    "judging",
    "statistics",
    "unjudged",
    "comparison",
    "measures",
    "tuning",
    "io",
)

#: Tests of other folders that are about a package, too.
FURTHER = {
    "scoring": ["tests/unit/measures", "tests/unit/unjudged"],
    "measures": ["tests/contract/test_contract.py", "tests/unit/evaluation"],
}

#: Changes of ``X | None`` in annotations, which nothing evaluates.
LEFT_OUT = ("core/ReplaceBinaryOperator_BitOr",)

#: Seconds after which a change counts as noticed: it may have made a loop endless.
TIMEOUT = 300.0


def copy_commit(folder: Path) -> None:
    """Copies the last commit into a folder, where its code can be changed."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", "HEAD"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")


def draw_changes(package: str, number: int, seed: int) -> list[WorkItem]:
    """Some of the changes that can be made to a package, drawn by chance."""
    modules = sorted((Path("pyterrier_asl") / package).glob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        with use_db(f"{folder}/changes.sqlite", WorkDB.Mode.create) as database:
            init(modules, database, {})
            changes = sorted(database.work_items, key=lambda item: repr(item.mutations))
    changes = [c for c in changes if not c.mutations[0].operator_name.startswith(LEFT_OUT)]
    return random.Random(f"{seed} {package}").sample(changes, min(number, len(changes)))


def command(package: str) -> str:
    """The command that tests a package."""
    paths = [f"tests/unit/{package}", *FURTHER.get(package, [])]
    return f"{sys.executable} -m pytest -x -q -n 0 -p no:cacheprovider {' '.join(paths)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", action="append", choices=PACKAGES, help="all by default")
    parser.add_argument("--mutants", type=int, default=40, help="how many for each package")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pyterrier_asl-mutants-"))
    copy_commit(folder)
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.setdefault("PYTERRIER_ASL_DATA", str(ROOT.parent / "shared" / "data"))
    table = []
    for package in arguments.package or PACKAGES:
        outcomes: Counter[str] = Counter()
        for change in draw_changes(package, arguments.mutants, arguments.seed):
            result = mutate_and_test(change.mutations, command(package), TIMEOUT)
            outcomes[str(result.test_outcome)] += 1
            if result.test_outcome == TestOutcome.SURVIVED:
                (mutation,) = change.mutations
                print(f"survived: {mutation.module_path}, {mutation.operator_name}")
                print(result.diff, flush=True)
        total = sum(outcomes.values())
        noticed = total - outcomes[str(TestOutcome.SURVIVED)]
        table.append(f"{package:12} {total:5} changes, {noticed:5} noticed ({noticed / total:.0%})")
        print(table[-1], flush=True)
    print("\n".join(["", *table]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
