"""Models of the user, conversion, and languages."""
import os
import subprocess

import pytest
import skmt
from conftest import BUILD


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with a small random model."""
    program = os.path.join(BUILD, "tools", "tiny_model")
    if not os.path.exists(program):
        pytest.skip("tools/tiny_model is not built (make helpers)")
    folder = tmp_path_factory.mktemp("foreign") / "tiny"
    subprocess.run([program, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("SKMT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SKMT_MODEL", raising=False)
    return skmt.ModelStore()


def names(store):
    return [m.name for m in store.models()]


def test_convert(tiny, tmp_path, run):
    report = skmt.convert(tiny, source_lang="en", target_lang="fr")
    assert "languages   en to fr\n" in report
    assert not list(tmp_path.iterdir())
    seen = []
    out = tmp_path / "tiny.skmt"
    skmt.convert(tiny, out, type="f32", progress=lambda done, total:
                 seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    run("convert", "-q", "--from", tiny, "--type", "f32", "-o",
        tmp_path / "b.skmt")
    assert out.read_bytes() == (tmp_path / "b.skmt").read_bytes()


def test_convert_can_fail(tiny, tmp_path):
    out = tmp_path / "out.skmt"
    with pytest.raises(skmt.FileError):
        skmt.convert(tmp_path / "nowhere")
    with pytest.raises(skmt.FormatError):
        skmt.convert(tmp_path)
    with pytest.raises(skmt.ArgumentError, match="type"):
        skmt.convert(tiny, out, type="int4")
    with pytest.raises(skmt.CanceledError):
        skmt.convert(tiny, out, progress=lambda done, total: True)
    with pytest.raises(ZeroDivisionError):
        skmt.convert(tiny, out, progress=lambda done, total: 1 / 0)
    assert not list(tmp_path.iterdir())


def test_store(tiny, store, tmp_path, run_json):
    assert names(store) == ["de-en"] and store.models()[0].installed
    assert store.folder == os.path.join(os.environ["SKMT_HOME"], "models")
    assert store.add(tiny, source_lang="en", target_lang="fr") == "tiny"
    skmt.convert(tiny, tmp_path / "a b.skmt", source_lang="en",
                 target_lang="pt-BR")
    assert store.add(tmp_path / "a b.skmt") == "a-b"
    assert names(store) == ["a-b", "tiny", "de-en"]
    listed = run_json("model", "list", "--json")
    assert [m["name"] for m in listed] == ["a-b", "tiny", "de-en"]
    info = store.models()[1]
    assert (info.source_lang, info.target_lang) == ("en", "fr")
    assert info.facts["checksum"] == listed[1]["checksum"]
    assert not info.installed and not info.languages and not info.problem
    with pytest.raises(skmt.ArgumentError, match="already"):
        store.add(tiny)
    store.add(tiny, replace=True, source_lang="en", target_lang="it")
    assert store.models()[1].target_lang == "it"
    with pytest.raises(TypeError):
        store.add(tmp_path / "a b.skmt", "other", type="f32")
    store.remove("a-b")
    with pytest.raises(skmt.Error, match="a-b"):
        store.remove("a-b")
    assert names(store) == ["tiny", "de-en"]
    with open(os.path.join(store.folder, "bad.skmt"), "w") as f:
        f.write("nothing")
    bad = store.models()[0]
    assert bad.name == "bad" and bad.problem and not bad.facts


def test_models_are_found(tiny, store):
    store.add(tiny, "x", source_lang="en", target_lang="fr")
    for model in (skmt.Model("x"), skmt.Model(from_="eng", to="fra"),
                  skmt.Model(to="fr")):
        assert model.path == os.path.join(store.folder, "x.skmt")
        assert model.target_lang == "fr"
    assert skmt.Model().name == "de-en"
    assert skmt.Model(from_="de").name == "de-en"
    with pytest.raises(skmt.FileError, match="no model translates ja to fr"):
        skmt.Model(from_="ja", to="fr")
    with pytest.raises(skmt.FileError, match="nonesuch"):
        skmt.Model("nonesuch")
    with pytest.raises(skmt.ArgumentError, match="from"):
        skmt.Model("x", from_="de")
    store.add(tiny, "y", source_lang="en", target_lang="fr")
    with pytest.raises(skmt.ArgumentError, match="x, y"):
        skmt.find_model(from_="en", to="fr")
    store.set_default("y", "en", "fr")
    store.set_default("x")
    assert store.defaults() == {None: "x", ("en", "fr"): "y"}
    assert skmt.find_model(from_="en", to="fr").endswith("y.skmt")
    assert skmt.find_model().endswith("x.skmt")
    store.set_default(None)
    store.set_default(None, "en", "fr")
    assert store.defaults() == {}


def test_options_are_keyword_arguments():
    assert [o.name for o in skmt.options("model") if o.name != "device"] == \
        ["from_", "to"]
