"""Fixtures of all tests: data, Java and other requirements, and when tests skip or fail.

``PYTERRIER_ASL_REQUIRE=java,data,registry,collections,chromium`` makes the named requirements
compulsory: a test that would skip without one fails, so that a skip on a build machine cannot hide
a fault. ``tests/README.md`` describes each requirement and where to get it.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from _required import missing
from hypothesis import HealthCheck, settings

# NumPy multiplies small matrices in these tests. Threads of OpenBLAS wait for each other without
# sleeping, which takes a tenth of the time. NumPy is imported later, and processes inherit this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: Programs: importing them does something, or needs more than tests do.
collect_ignore = ["fetch.py", "tools"]

# Tables in pipes obey the width of a terminal that a shell or a test runner exports.
os.environ.pop("COLUMNS", None)

# As the command does: collecting garbage during imports takes a fifth of the time.
gc.set_threshold(100_000, 50, 100)

# Every run has the same examples, the full suite more of them: nothing depends on chance, on time,
# on what earlier runs found, or on the constants of other modules that happen to be imported.
# `pytest --hypothesis-profile random`, on a schedule, draws others.
with suppress(ImportError):  # earlier releases do not draw such constants
    from hypothesis.internal.conjecture import providers

    providers.is_local_module_file = lambda path: False
SAME = {"derandomize": True, "database": None}
for name, number, how in (("quick", 20, SAME), ("full", 30, SAME), ("random", 200, {})):
    settings.register_profile(
        name,
        **{"deadline": None, "max_examples": number, "suppress_health_check": list(HealthCheck)},
        **how,
    )
settings.load_profile("quick")


#: Folders that only ``pytest --full`` runs: real runs, processes, browsers, Java. It also runs the
#: tests of other folders that are marked slow.
FULL = ("differential", "system")
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    what = f"also the folders {', '.join(FULL)} and tests that are marked slow"
    parser.addoption("--full", action="store_true", help=what)
    what = "write the screens of tests/transcripts again"
    parser.addoption("--renew", action="store_true", help=what)


def pytest_configure(config: pytest.Config) -> None:
    """Draws more examples in the full suite; deletes temporary files after the session."""
    if config.getoption("--full") and not config.getoption("--hypothesis-profile"):
        settings.load_profile("full")
    folder = tempfile.TemporaryDirectory(prefix="pyterrier_asl-tests-", ignore_cleanup_errors=True)
    os.chmod(folder.name, 0o711)  # tests of permissions read it as another user
    tempfile.tempdir = folder.name
    config.add_cleanup(folder.cleanup)


def _is_named(config: pytest.Config, path: Path) -> bool:
    """Whether the command names a path, or something below it."""
    named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return any(one.is_relative_to(path) for one in named)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignores the folders of the full suite, unless they are named."""
    if config.getoption("--full") or collection_path not in [HERE / name for name in FULL]:
        return None
    return None if _is_named(config, collection_path) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the full suite; deselects slow tests, unless they or their files are named."""
    gc.freeze()  # never collects objects of these modules
    full = [HERE / name for name in FULL]
    of_full = {path: any(map(path.is_relative_to, full)) for path in {item.path for item in items}}
    for item in items:
        if of_full[item.path]:
            item.add_marker(pytest.mark.slow)
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)
    if config.getoption("--full") or any(_is_named(config, folder) for folder in full):
        return
    slow = [item for item in items if "slow" in item.keywords and item.path.is_relative_to(HERE)]
    named = {path for path in {item.path for item in slow} if _is_named(config, path)}
    if left := {item for item in slow if item.path not in named}:
        config.hook.pytest_deselected(items=[*left])
        items[:] = [item for item in items if item not in left]


#: Errors of Experiment in PyTerrier 1.0 about options that it has from 1.1 on.
_NOT_YET = {
    "Unknown kwargs: ['plan']": "plans",
    "Expected list of transformers for retr_systems, instead received <class 'dict'>": "dicts",
}


#: The reason why the released ir_measures cannot parse names of measures on Python 3.14.
NO_NAMES = "ir_measures 0.4.3 asks for ast.Num, which Python 3.14 does not have"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skips tests of features that the installed PyTerrier or ir_measures does not have."""
    try:
        return (yield)
    except TypeError as error:
        import pyterrier as pt

        what = _NOT_YET.get(str(error))
        if what is None or "plan" in inspect.signature(pt.Experiment).parameters:
            raise
        pytest.skip(f"pt.Experiment takes no {what} before PyTerrier 1.1")
    except (AttributeError, AssertionError, subprocess.CalledProcessError) as error:
        printed = f"{error} {getattr(error, 'stderr', '')}".replace("\\", "")
        if "has no attribute 'Num'" not in printed:
            raise
        pytest.skip(NO_NAMES)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of TREC runs and judgements."""
    folder = Path(
        os.environ.get("PYTERRIER_ASL_DATA")
        or Path(__file__).resolve().parents[2] / "shared" / "data"
    )
    if not folder.is_dir():
        missing("data", f"there is no folder {folder}; set PYTERRIER_ASL_DATA")
    return folder


@pytest.fixture(scope="session")
def vaswani():
    """ir_datasets' vaswani; its files must be in ir_datasets' home (``python tests/fetch.py``)."""
    import ir_datasets

    home = Path(os.environ.get("IR_DATASETS_HOME", Path.home() / ".ir_datasets"))
    if not (home / "vaswani" / "docs.txt").is_file():
        missing("collections", f"vaswani is not in {home}: run python tests/fetch.py")
    return ir_datasets.load("vaswani")


@pytest.fixture(scope="session")
def java() -> None:
    """A running Java with Terrier in it."""
    try:
        import pyterrier as pt

        if not pt.java.started():
            pt.java.init()
    except Exception as error:  # the message is the reason for any missing part
        missing("java", f"Java or Terrier cannot be had: {type(error).__name__}: {error}")


@pytest.fixture(scope="module", autouse=True)
def freed_memory(request: pytest.FixtureRequest) -> Generator[None]:
    """Returns the memory of real runs to the system after each file of the full suite.

    The C library would keep it, and a worker would grow to 5 GB.
    """
    yield
    if request.path.is_relative_to(HERE / "differential"):
        gc.collect()
        with suppress(AttributeError, OSError, TypeError):  # only the GNU C library has it
            ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture
def small_files() -> Callable[[], AbstractContextManager[None]]:
    """A context in which files grow to 1,000 bytes only, as on a full disk."""
    resource = pytest.importorskip("resource", reason="Windows has no limits of this kind")

    @contextmanager
    def limited() -> Generator[None]:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            yield
        finally:  # pytest's own output can be a larger file
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    return limited


@pytest.fixture(scope="session")
def registry(tmp_path_factory) -> None:
    """A package registry, or a cache, from which pip can install."""
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "setuptools"]
    done = subprocess.run(
        fetch, cwd=tmp_path_factory.mktemp("registry"), capture_output=True, text=True
    )
    if done.returncode:
        missing("registry", f"pip cannot fetch packages: {done.stderr.strip()[-200:]}")


@pytest.fixture(scope="session")
def expansion() -> None:
    """Skips tests if RM3 and Bo1 of PyTerrier do not accept a TerrierIndex."""
    import pyterrier as pt

    if pt.__version__ in ("1.0.0", "1.0.1"):
        pytest.skip("PyTerrier's query expansion takes no TerrierIndex before 1.0.2")


@pytest.fixture(scope="session", autouse=True)
def quick_libraries(pytestconfig: pytest.Config) -> None:
    """Integrates the studentized range once for each value: it takes 15 ms, and values repeat.

    In the quick part pages have no script of Vega, which is combined in more than a second, and
    Altair checks charts as a whole, not each of their parts, too.
    """
    import altair
    import numpy as np
    import vl_convert
    from scipy.stats import studentized_range

    integrate = functools.cache(studentized_range.sf)
    studentized_range.sf = np.vectorize(integrate, otypes=[float])
    if not pytestconfig.getoption("--full"):
        altair.utils.schemapi.DEBUG_MODE = False
        vl_convert.javascript_bundle = lambda **options: "const vegaEmbed = 'Vega';"


def _worked_examples(file: str) -> Callable[[Path], dict]:
    """A fixture of the worked examples in a file beside the folder of the data."""

    @pytest.fixture(scope="session")
    def examples(data: Path) -> dict:
        path = data.parent / f"{file}.json"
        if not path.is_file():
            missing("data", f"there is no {path}")
        return json.loads(path.read_text())

    return examples


vectors = _worked_examples("vectors")  # of every measure
holes_vectors = _worked_examples("vectors_holes")  # bounds by enumeration of all labellings
ranks_vectors = _worked_examples("vectors_ranks")  # intervals of ranks with all sign vectors
favoured_theil_sen_vectors = _worked_examples("vectors_favoured_theil_sen")  # all sign vectors
groups_vectors = _worked_examples("vectors_groups")  # differences in groups of queries
repetitions_vectors = _worked_examples("vectors_repetitions")  # two-way random effects
explain_vectors = _worked_examples("vectors_explain")  # values under conventions
ties_vectors = _worked_examples("vectors_ties")  # values over all orders of equal scores
