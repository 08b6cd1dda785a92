"""Do the quick tests notice a changed line? Single changes to the code, drawn by chance, tested.

Copies the last commit, lists with Cosmic Ray the changes that it knows (an operator, a constant, a
comparison, a condition), draws places in the code of each package and one change for each, and runs
the quick tests that run the changed line, up to the first failure: those of its package and the
contract tests, then the others if these pass. All quick tests run once without a change, to see
which lines each runs; what fails then is left out. A change that no test notices is printed as a
diff: it needs a test, or it belongs in ``equivalent_mutants.txt``, the list of changes that cannot
change a result.

    nice python tests/tools/mutants.py --seed 1 --seed 2
    nice python tests/tools/mutants.py --seed 1 --package scoring --list
    nice python tests/tools/mutants.py --seed 1 --package scoring --number 3 --number 17

``pip install '.[dev]'`` installs Cosmic Ray and coverage. It needs a system that forks.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import difflib
import importlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import Coverage, CoverageData

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = sorted(path.parent.name for path in ROOT.glob("pyterrier_asl/*/__init__.py"))

#: Changes that cannot change a result: module, line, changed line and reason.
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")

#: The folders of the quick tests, besides the examples of the package.
QUICK = ["tests/unit", "tests/contract"]

#: Operators of bits, which nobody writes for one of arithmetic.
BITS = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift")

#: What the tests import and what no change can touch: imported once, for all of them.
LIBRARIES = (
    "hypothesis ir_measures numba optuna pandas pyarrow.dataset pyarrow.parquet pytest scipy.stats "
    "statsmodels.api"
).split()

#: Seconds that one test may take, after which it hangs: many times what any test takes.
HANGS = 300


class Change(NamedTuple):
    """A module of the code, as it is and changed at one place."""

    module: Path
    operator: str
    code: str
    changed: str

    def diff(self, around: int) -> list[str]:
        texts = self.code.splitlines(), self.changed.splitlines()
        return list(difflib.unified_diff(*texts, n=around, lineterm=""))[2:]

    def __str__(self) -> str:
        return "\n".join([f"{self.module}, {self.operator}", *self.diff(2)])

    def lines(self) -> range:
        """The numbers of the lines of the statement that is changed."""
        changed = int(re.findall(r"\d+", self.diff(0)[0])[0])
        statements = [
            range(node.lineno, (node.end_lineno or node.lineno) + 1)
            for node in ast.walk(ast.parse(self.code))
            if isinstance(node, ast.stmt)
        ]
        around = [lines for lines in statements if changed in lines]
        return min(around, key=len, default=range(changed, changed + 1))  # such as a decorator

    def reason(self, equivalent: dict[str, str]) -> str:
        """Why it changes nothing; nothing where it may."""
        _, before, *after = self.diff(0)
        module = self.module.relative_to("pyterrier_asl").as_posix()
        changes = [(module, *after), (module, "+ any"), ("any", *after)]
        keys = [_without_blanks("".join([name, before, *new])) for name, *new in changes]
        return next(filter(None, map(equivalent.get, keys)), "")


def _without_blanks(text: str) -> str:
    """Text without blanks, which Cosmic Ray adds before some numbers."""
    return "".join(text.split())


def read_equivalent() -> dict[str, str]:
    """The reasons of changes that change nothing, by module, line and changed line in one."""
    blocks = EQUIVALENT.read_text().strip().split("\n\n")[1:]  # the first says what the file is
    changes = (block.rsplit("\n", 1) for block in blocks)
    return {_without_blanks(change): reason for change, reason in changes}


def copy_commit(folder: Path) -> None:
    """Copies the last commit into a folder, where its code can be changed."""
    archive = folder.with_suffix(".tar")
    subprocess.check_call(["git", "archive", "-o", archive, "HEAD"], cwd=ROOT)
    shutil.unpack_archive(archive, folder)
    # What was compiled is valid for as long as the code is the same, whenever it was written.
    mode = PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "pyterrier_asl", quiet=1, invalidation_mode=mode)


def what_runs(code: str) -> str:
    """The syntax tree of some code without annotations and overloads, which nothing evaluates."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
            if any(isinstance(of, ast.Name) and of.id == "overload" for of in node.decorator_list):
                node.args, node.decorator_list = ast.arguments([], [], None, [], [], None, []), []
    return ast.dump(tree)


def is_likely(operator: str) -> bool:
    """Whether a person could have made such a change."""
    before, _, after = operator.removeprefix("core/ReplaceBinaryOperator_").partition("_")
    # Those that are called after a variable would have to be told which.
    return not operator.startswith("core/Variable") and (after not in BITS or before in BITS)


def places(module: Path) -> list[list[tuple[str, int]]]:
    """The places of a module that can be changed: of each, the operators and their occurrences."""
    nodes = list(ast_nodes(get_ast(module.read_text())))
    found = defaultdict(list)
    for name in filter(is_likely, sorted(operator_names())):
        operator = get_operator(name)()
        starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(starts):
            found[start].append((name, occurrence))
    return [found[start] for start in sorted(found)]


def draw_changes(package: str, number: int, seed: int) -> list[Change]:
    """Changes of a package at places drawn by chance."""
    generator = random.Random(f"{seed} {package}")
    modules = sorted((Path("pyterrier_asl") / package).rglob("*.py"))
    drawn = [(module, place) for module in modules for place in places(module)]
    generator.shuffle(drawn)
    changes: list[Change] = []
    for module, place in drawn:
        name, occurrence = generator.choice(place)
        code = module.read_text()
        # Of some places it makes no code, such as f(+, x), or fails, as at some exceptions.
        with contextlib.suppress(SyntaxError, AttributeError):
            changed = mutate_code(code, get_operator(name)(), occurrence) or code
            if what_runs(code) != what_runs(changed):
                changes.append(Change(module, name.removeprefix("core/"), code, changed))
        if len(changes) == number:
            break
    return changes


def tests_of(package: str, change: Change, recorded: CoverageData) -> list[list[str]]:
    """The tests of its package and of the contract, files named after the module first, and others.

    Those that run the changed statement, or all where it runs as the module is imported; of loops
    only plain runs are recorded, and the others are compiled.
    """
    contexts = recorded.contexts_by_lineno(str(change.module.resolve()))
    run = {name for line in change.lines() for name in contexts.get(line, [])}
    stem = change.module.stem.strip("_")
    concern = tuple(f"{name}/" for name in (f"tests/unit/{package}", "tests/contract"))

    def order(test: str) -> tuple[bool, bool, str]:
        file = test.partition("::")[0]
        concerns = file.startswith(concern) or file == str(change.module) or stem in Path(file).stem
        return not concerns, stem not in Path(file).stem, test

    if "" in run or not run or "kernels" in stem:
        files = [str(path) for name in QUICK for path in Path(name).rglob("test_*.py")]
        run = {*files, "pyterrier_asl"}
    tests = sorted(run, key=order)
    stages = [[test for test in tests if order(test)[0] == rest] for rest in (False, True)]
    return [stage for stage in stages if stage]


@contextlib.contextmanager
def applied(change: Change) -> Iterator[None]:
    """The changed module in its place, for as long as it is tested."""
    before = change.module.stat()
    change.module.write_text(change.changed)
    try:
        yield
    finally:
        change.module.write_text(change.code)
        os.utime(change.module, ns=(before.st_atime_ns, before.st_mtime_ns))


class Failures:
    """A plugin of pytest that lists what fails, and ends the process where one test hangs."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        signal.alarm(HANGS)
        if recorder := Coverage.current():
            recorder.switch_context(nodeid.partition("[")[0])

    def pytest_runtest_logfinish(self) -> None:
        if recorder := Coverage.current():
            recorder.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.names.append(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport


def run_tests(
    tests: list[str],
    failures: Path,
    options: list[str],
    *,
    compiled: bool = True,
    record: Path | None = None,
) -> list[str]:
    """Runs tests in a process of their own: those that fail, or the signal that ended it."""
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.alarm(HANGS)
        for stream in (1, 2):  # no file: tests limit the size of files
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if not compiled:
            os.environ["NUMBA_DISABLE_JIT"] = "1"
            importlib.import_module("numba").config.DISABLE_JIT = True
            importlib.import_module("numpy").seterr(over="ignore")  # hashes overflow on purpose
        options = ["-q", "--tb=no", "-m", "not slow", "-p", "no:cacheprovider", *options]
        options += ["-o", "addopts=--doctest-modules", "--hypothesis-seed=0"]
        recorder = Coverage(
            record, source=[str(Path("pyterrier_asl").resolve())], config_file=False
        )
        if record:
            recorder.start()
        failed = Failures()
        code = importlib.import_module("pytest").main([*options, *tests], [failed])
        if record:
            recorder.stop()
            recorder.save()
        failures.write_text("\n".join(failed.names or [f"exit status {int(code)}"]))
        os._exit(int(code))
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):  # what the tests started
        os.killpg(child, signal.SIGKILL)
    if os.WIFSIGNALED(status):
        return [signal.Signals(os.WTERMSIG(status)).name]
    if os.WEXITSTATUS(status) in (0, 5):  # all passed, or a file has no quick test
        return []
    return failures.read_text().splitlines()


def test(change: Change, tests: list[list[str]], failures: Path, without: list[str]) -> str:
    """The test that notices a change; nothing where none does."""
    # Compiling takes longer than the tests do, and changed loops are wrong as they stand, too.
    compiled = "kernels" not in change.module.stem
    # Of the module itself the examples, not a function of it whose name begins with test.
    options = ["-x", *(f"--deselect={name}" for name in [*without, f"{change.module}::test_"])]
    with applied(change):
        for some in tests:
            if failed := run_tests(some, failures, options, compiled=compiled):
                return failed[0]
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", action="append", choices=PACKAGES, help="all by default")
    parser.add_argument("--mutants", type=int, default=40, help="how many for each package")
    parser.add_argument("--seed", type=int, action="append", help="0 by default")
    parser.add_argument("--number", type=int, action="append", help="these of them only")
    parser.add_argument("--list", action="store_true", help="print the changes, and test nothing")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pyterrier_asl-mutants-"))
    code = folder / "code"
    copy_commit(code)
    os.chdir(code)
    sys.path.insert(0, str(code))
    os.environ["PYTHONPATH"] = str(code)
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "compiled")
    os.environ.setdefault("PYTERRIER_ASL_DATA", str(ROOT.parent / "shared" / "data"))
    for library in LIBRARIES:
        importlib.import_module(library)
    assert "pyterrier_asl" not in sys.modules, "a library has imported what is to be changed"
    equivalent, failures = read_equivalent(), folder / "failures.txt"
    recorded, without = CoverageData(str(folder / "coverage")), []
    if not arguments.list:
        everything = [*QUICK, "pyterrier_asl"]
        without = run_tests(everything, failures, [], record=folder / "coverage")
        recorded.read()
    for name in without:
        print(f"fails without a change: {name}", flush=True)
    table = []
    for seed, package in product(arguments.seed or [0], arguments.package or PACKAGES):
        noticed = []
        for n, change in enumerate(draw_changes(package, arguments.mutants, seed), 1):
            if arguments.number and n not in arguments.number:
                continue
            reason = change.reason(equivalent)
            if arguments.list or reason:
                known = f"changes nothing, {reason}: " if reason else ""
                print(f"{seed} {package} {n}: {known}{change}", flush=True)
                continue
            began = time.monotonic()
            by = test(change, tests_of(package, change, recorded), failures, without)
            noticed.append(bool(by))
            what = f"noticed by {by}" if by else f"survived: {change}"
            print(f"{seed} {package} {n}, {time.monotonic() - began:.0f} s: {what}", flush=True)
        table.append(f"{seed} {package:12} {len(noticed):5} changes, {sum(noticed):5} noticed")
    if not arguments.list:
        print("\n".join(["", *table]))
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
