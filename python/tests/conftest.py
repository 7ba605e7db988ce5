"""What the tests share. BUILD names the folder of the build (default: build
of the source tree)."""
import json
import os
import subprocess
import sys

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(TREE, os.environ.get("BUILD") or "build")
os.environ["SKMT_LIBRARY"] = os.path.join(BUILD, "libskmt.so")
os.environ.pop("SKMT_MODEL", None)
os.environ["SKMT_HOME"] = os.path.join(BUILD, "no-models")
sys.path.insert(0, os.path.join(TREE, "python"))

import skmt     # noqa: E402

PAIRS = os.path.join(TREE, "examples", "jrc.tsv")


@pytest.fixture(scope="session")
def model():
    with skmt.Model() as m:
        yield m


@pytest.fixture(scope="session")
def jrc(tmp_path_factory):
    """A memory file with the 300 pairs of examples/jrc.tsv, for reading."""
    path = tmp_path_factory.mktemp("memory") / "jrc.tm"
    with skmt.Memory(path) as memory:
        memory.create("main", "de", "en")
        assert memory.import_files(PAIRS)["pairs"] == 300
    return path


@pytest.fixture
def memory(tmp_path):
    with skmt.Memory(tmp_path / "my.tm") as m:
        yield m


@pytest.fixture
def run():
    """Run build/skmt with some input, and return its output."""
    def call(*arguments, text=""):
        return subprocess.run(
            [os.path.join(BUILD, "skmt"), *map(str, arguments)],
            input=text.encode("utf-8", "surrogateescape"), check=True,
            stdout=subprocess.PIPE).stdout.decode()
    return call


@pytest.fixture
def run_json(run):
    """The same for output in JSON, one object per line."""
    def call(*arguments, text=""):
        return [json.loads(line)
                for line in run(*arguments, text=text).splitlines()]
    return call


@pytest.fixture
def python():
    """Run a program in a new process, and return its output."""
    def call(program, status=0, **environment):
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=300,
            env={**os.environ, "PYTHONPATH": os.path.join(TREE, "python"),
                 **environment})
        output = done.stdout.decode()
        assert done.returncode == status, output
        return output
    return call
