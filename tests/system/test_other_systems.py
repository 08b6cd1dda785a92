"""All modules can be imported without the POSIX features that other systems lack."""

from _calls import python

#: Modules and functions that Python has on POSIX only.
MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "readline")
FUNCTIONS = (
    "chown fork forkpty geteuid getgid getpgid getuid killpg lchown mkfifo setsid wait "
    "sched_getaffinity statvfs sysconf register_at_fork"
).split()

PROGRAM = f"""
import sys
# What is used to start and to import takes some of them itself.
import subprocess, multiprocessing, asyncio, tempfile, pathlib, platform, getpass, shutil
import concurrent.futures, click, joblib, pandas, pyarrow, numba, scipy.stats, statsmodels.api
import ir_datasets, pyterrier, optuna, altair, jinja2
import os
for name in {FUNCTIONS}:
    if hasattr(os, name):
        delattr(os, name)
for name in {MODULES}:
    sys.modules[name] = None
import importlib, pkgutil
import pyterrier_asl
for module in pkgutil.walk_packages(pyterrier_asl.__path__, "pyterrier_asl."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("imported")
"""


def test_every_module_is_imported_without_posix():
    assert python(PROGRAM).endswith("imported")
