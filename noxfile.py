"""Tests with other releases of Python, PyTerrier, ir_measures and other dependencies.

Each session installs the last commit into an environment of its own, and runs the tests of
measures, of ``pt.Experiment``, of Terrier and of the README. ``pip install 'nox[uv]'`` has ``nox``.

    nice nox
    nice nox -k oldest
"""

import shutil

import nox

#: Earlier releases on one Python; the newest on all; the oldest allowed on the oldest Python.
#: PyTerrier requires ir_measures 0.4.1.
ENVIRONMENTS = [
    *(nox.param(python, "", id=f"{python} newest") for python in ("3.11", "3.12", "3.13", "3.14")),
    nox.param("3.11", "pyterrier==1.1.1 ir-measures==0.4.2", id="PyTerrier 1.1.1"),
    nox.param("3.11", "pyterrier==1.1.0 ir-measures==0.4.1", id="PyTerrier 1.1.0"),
    nox.param("3.11", "pyterrier==1.0.4 ir-measures==0.4.1", id="PyTerrier 1.0.4"),
    nox.param("3.11", "pyterrier==1.0.0 ir-measures==0.4.1 pandas<3", id="PyTerrier 1.0.0"),
    nox.param("3.11", "--resolution lowest-direct", id="oldest"),
]

TESTS = (
    "unit/measures/test_vectors.py unit/experiment/test_experiment.py contract/test_contract.py "
    "contract/test_experiment_matrix.py system/test_terrier.py system/test_readme.py"
).split()


@nox.session(venv_backend="uv")
@nox.parametrize("python, wanted", ENVIRONMENTS)
def versions(session: nox.Session, wanted: str) -> None:
    source = f"{session.create_tmp()}/source"
    session.run("git", "archive", "-o", f"{source}.tar", "HEAD", external=True)
    shutil.unpack_archive(f"{source}.tar", source)
    session.chdir(source)  # changes in the checkout do not affect the tests
    session.install(".[test,terrier]", *wanted.split())
    session.run("uv", "pip", "list")
    session.run("pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in TESTS))
