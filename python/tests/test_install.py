"""The package in a new virtual environment, without a network; and the
examples."""
import ast
import os
import subprocess
import sys
import zipfile

import pytest
import skmt
from conftest import BUILD, TREE

EXAMPLES = os.path.join(TREE, "python", "examples")


def call(*arguments, cwd=None, **environment):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("SKMT_", "PYTHON", "PIP_"))}
    done = subprocess.run(
        [str(a) for a in arguments], cwd=cwd, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=600,
        env={**kept, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
             "SKMT_HOME": os.environ["SKMT_HOME"], **environment})
    output = done.stdout.decode()
    assert done.returncode == 0, output
    return output


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("venv")
    call(sys.executable, "-m", "venv", folder)
    call(folder / "bin" / "pip", "install", "-q",
         os.path.join(TREE, "python"), BUILD=BUILD)
    return folder


def test_pip_install(environment, tmp_path):
    program = ("import skmt; model = skmt.Model();"
               "print(model.translate('Guten Morgen!'));"
               "skmt.Memory('my.tm').add('Guten Morgen!', 'Hi!');"
               "print(model.translate('Guten Morgen!', memory='my.tm'));"
               "print(skmt.library_path()); print(model.path)")
    out = call(environment / "bin" / "python", "-c", program,
               cwd=tmp_path).splitlines()
    assert out[:2] == ["Good morning!", "Hi!"]
    # Both are copies in the environment.
    assert all(p.startswith(str(environment)) for p in out[2:])
    package = os.path.dirname(os.path.dirname(out[2]))
    assert os.path.exists(os.path.join(package, "py.typed"))
    files = call(environment / "bin" / "pip", "show", "-f", "skmt")
    assert f"Version: {skmt.__version__}" in files
    left = call("git", "-C", TREE, "status", "--short", "python") \
        if os.path.exists(os.path.join(TREE, ".git")) else ""
    assert "build" not in left and "egg" not in left


def test_pip_install_without_isolation(environment, tmp_path):
    call(environment / "bin" / "pip", "install", "-q", "--force-reinstall",
         "--no-build-isolation", os.path.join(TREE, "python"), BUILD=BUILD)
    # A wheel without the library and the model, for the installed ones.
    call(environment / "bin" / "pip", "wheel", "-q", "-w", tmp_path,
         "--config-settings", "library=none", "--config-settings",
         "model=none", os.path.join(TREE, "python"))
    (wheel,) = os.listdir(tmp_path)
    assert wheel == f"skmt-{skmt.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / wheel) as z:
        assert not [n for n in z.namelist() if "_native" in n]
        assert z.testzip() is None


def test_wheel_without_a_library(tmp_path):
    program = ("import sys; sys.path.insert(0, 'packaging'); import backend\n"
               "try: backend.build_wheel(sys.argv[1])\n"
               "except FileNotFoundError as e: print(e)")
    out = call(sys.executable, "-c", program, tmp_path,
               cwd=os.path.join(TREE, "python"), BUILD=str(tmp_path))
    assert "run 'make' first" in out and not os.listdir(tmp_path)


def example(name, *arguments, **environment):
    return call(sys.executable, os.path.join(EXAMPLES, name), *arguments,
                PYTHONPATH=os.path.join(TREE, "python"),
                SKMT_LIBRARY=os.path.join(BUILD, "libskmt.so"), **environment)


def test_examples(tmp_path):
    (tmp_path / "a.txt").write_text("Guten Morgen!\n\nVielen Dank.\n")
    assert example("translate_file.py", tmp_path / "a.txt") == \
        "Good morning!\n\nThank you very much.\n"
    out = example("correct.py")
    assert out.count("dimmed") >= 2
    pairs = os.path.join(TREE, "examples", "jrc.tsv")
    out = example("trust.py", pairs, "Artikel 7 Absatz 4 erhält folgende "
                  "Fassung:", "-o", tmp_path / "trust.svg")
    assert "Article 7 (4)" in out and "folgende" in out
    svg = (tmp_path / "trust.svg").read_text()
    assert "<svg" in svg and "</svg>" in svg


def test_the_examples_of_the_readme(tmp_path, jrc):
    """The first two blocks of python/README.md run as they are."""
    with open(os.path.join(TREE, "python", "README.md")) as f:
        blocks = f.read().split("```python\n")[1:]
    blocks = [b.split("```")[0] for b in blocks]
    assert "".join(blocks[0].splitlines(True)) == (
        "import skmt\nmodel = skmt.Model()\n"
        "print(model.translate('Guten Morgen!'))\n")
    for block in blocks:
        ast.parse(block)
    os.symlink(jrc, tmp_path / "my.tm")
    out = call(sys.executable, "-c", blocks[0] + blocks[1], cwd=tmp_path,
               PYTHONPATH=os.path.join(TREE, "python"),
               SKMT_LIBRARY=os.path.join(BUILD, "libskmt.so"))
    assert out == "Good morning!\nGood morning!\n"


def test_everything_public_is_documented():
    for name in dir(skmt):
        thing = getattr(skmt, name)
        if name.startswith("_") or not callable(thing):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) \
                and thing.__module__.startswith("skmt.m") else ():
            if not member.startswith("_") and callable(value) and \
                    member != "close":
                assert value.__doc__, f"{name}.{member}"
