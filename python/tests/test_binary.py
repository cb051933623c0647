"""Where the program is looked for. No Spark is needed."""

import os
import stat
import subprocess
import sys
import types
from pathlib import Path

import pytest

from simdup import binary


def program(place, text="echo simdup 9.9.9", mode=0o755):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(mode)
    return place


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A current directory with a program that anybody may have left there; none is installed."""
    trap = tmp_path / "current" / "simdup"
    program(trap, f"touch {tmp_path}/was-run", mode=0o644)
    monkeypatch.chdir(trap.parent)
    monkeypatch.delenv("SIMDUP_BINARY", raising=False)
    monkeypatch.setattr(binary.sysconfig, "get_path", lambda _: str(tmp_path / "scripts"))
    monkeypatch.setattr(binary.sys, "executable", str(tmp_path / "scripts" / "python"))
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", str(tmp_path / "bin")]))
    yield tmp_path
    assert stat.S_IMODE(trap.stat().st_mode) in (0o644, 0o700)
    assert not (tmp_path / "was-run").exists()


def test_the_current_directory_is_not_searched_for_the_program(elsewhere):
    trap = elsewhere / "current" / "simdup"
    for mode in 0o644, 0o700:
        trap.chmod(mode)
        with pytest.raises(FileNotFoundError, match="not on this machine"):
            binary.binary_path()
        with pytest.raises(FileNotFoundError, match="no file `simdup`"):
            binary.binary_path(sent="simdup")
    installed = program(elsewhere / "bin" / "simdup")
    assert binary.binary_path() == str(installed.resolve())
    assert binary.version() == "9.9.9"


def test_the_command_does_not_run_a_program_of_the_current_directory(tmp_path):
    trap = program(tmp_path / "simdup", f"touch {tmp_path}/was-run", mode=0o644)
    (tmp_path / "a.jsonl").write_text("")
    environment = {**os.environ, "PYTHONPATH": str(Path(binary.__file__).parent.parent)}
    del environment["SIMDUP_BINARY"]
    environment["PATH"] = os.pathsep.join([".", *environment["PATH"].split(os.pathsep)])
    for mode in 0o644, 0o755:
        trap.chmod(mode)
        subprocess.run(
            [sys.executable, "-c", "import simdup\ntry: simdup.version()\nexcept OSError: pass"],
            env=environment,
            cwd=tmp_path,
            check=True,
        )
        assert stat.S_IMODE(trap.stat().st_mode) == mode
    assert not (tmp_path / "was-run").exists()


def test_a_program_that_is_named_is_run_or_an_error(elsewhere, monkeypatch):
    installed = program(elsewhere / "bin" / "simdup")
    named = program(elsewhere / "other" / "simdup-1")
    monkeypatch.setenv("SIMDUP_BINARY", str(named))
    assert binary.binary_path() == str(named.resolve())
    for wrong in "simdup", str(elsewhere / "gone"):
        monkeypatch.setenv("SIMDUP_BINARY", wrong)
        with pytest.raises(FileNotFoundError, match=f"SIMDUP_BINARY is `{wrong}`"):
            binary.binary_path()
    assert binary.binary_path(sent=str(installed)) == str(installed.resolve())
    named.chmod(0o644)
    with pytest.raises(PermissionError, match="not executable"):
        binary.binary_path(sent=str(named))
    assert stat.S_IMODE(named.stat().st_mode) == 0o644


def test_only_a_file_that_spark_sent_under_the_given_name_is_made_executable(
    elsewhere, monkeypatch
):
    files = elsewhere / "spark-files"
    sent = program(files / "simdup-2", mode=0o644)
    other = program(files / "simdup", mode=0o644)
    spark = types.ModuleType("pyspark")
    spark.SparkFiles = types.SimpleNamespace(get=lambda name: str(files / name))
    monkeypatch.setitem(sys.modules, "pyspark", spark)
    assert binary.binary_path(sent="simdup-2") == str(sent.resolve())
    assert os.access(sent, os.X_OK)
    with pytest.raises(FileNotFoundError, match="not on this machine"):
        binary.binary_path()
    assert stat.S_IMODE(other.stat().st_mode) == 0o644
