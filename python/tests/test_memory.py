"""Memories and steering; the command line is the reference."""
import gc
import threading

import pytest
import skmt
from conftest import PAIRS

SENTENCE = "Artikel 7 Absatz 4 erhält folgende Fassung:"
FIRST = "Die Schaltfläche Speichern ist ausgegraut."
SIMILAR = "Die Schaltfläche Drucken ist ausgegraut."


def test_add_get_replace_delete(memory):
    id = memory.add("Größe ändern 😀", "Change size", document="d", unit="u",
                    author="me", extra="{}", source_lang="de")
    pair = memory.get(id)
    assert (pair.id, pair.memory, pair.source, pair.target, pair.document,
            pair.author, pair.source_lang) == (
        id, "main", "Größe ändern 😀", "Change size", "d", "me", "de")
    assert pair.source_tagged is None and pair.created > 0
    memory.replace(id, target="Resize")
    assert memory.get(id).target == "Resize"
    assert memory.find_unit("u") == id
    assert memory.find_unit("u", after=id) is None
    assert len(memory) == 1
    memory.delete(id)
    with pytest.raises(skmt.Error) as e:
        memory.get(id)
    assert str(id) in str(e.value)
    assert len(memory) == 0 and list(memory) == [] and memory


def test_tags(memory):
    id = memory.add("", "", source_tagged='Klicken Sie <b>hier</b>',
                    target_tagged='Click <b>here</b>')
    pair = memory.get(id)
    assert pair.source == "Klicken Sie hier"
    assert pair.target_tagged == "Click <b>here</b>"


def test_named_memories(memory, model):
    memory.create("law", "de", "en", priority=2)
    memory.create("it", "de", "en")
    memory.add(FIRST, "The button is dimmed.", "it")
    memory.add("Artikel 1", "Article 1", "law")
    assert [(m.name, m.pairs, m.priority) for m in memory.memories()] == [
        ("law", 1, 2), ("it", 1, 0)]
    assert memory.memories(count=False)[0].pairs == -1
    assert [p.memory for p in memory] == ["law", "it"]
    assert [p.source for p in memory.pairs("law")] == ["Artikel 1"]
    memory.use("law")
    assert memory.search(FIRST) == []
    memory.use()
    assert memory.search(FIRST)[0].pair.memory == "it"
    memory.configure("it", name="computers", priority=5, target_lang="en-GB")
    info = memory.memories()[1]
    assert (info.name, info.priority, info.target_lang) == \
        ("computers", 5, "en-GB")
    memory.drop("law")
    assert len(memory.memories()) == 1
    with skmt.Memory(memory.path, "read", use="computers") as other:
        assert other.search(FIRST)[0].similarity == 1
    with pytest.raises(skmt.ArgumentError):
        skmt.Memory(memory.path, use=["none"])


def test_search_as_on_the_command_line(jrc, model, run_json):
    for text in SENTENCE, "Über die Maßnahmen 😀 der Kommission", "nichts":
        for extra, m in ([], model), (["--no-model"], None):
            want = run_json("tm", "search", jrc, "--json", "--matches=5",
                            *extra, text)[0]["matches"]
            with skmt.Memory(jrc, "read") as memory:
                got = memory.search(text, model=m, matches=5)
            assert len(got) == len(want)
            for g, w in zip(got, want):
                assert (g.pair.id, g.source, g.target, g.occurrences,
                        g.pair.origin, g.pair.position) == (
                    w["id"], w["source"], w["target"], w["occurrences"],
                    w["origin"], w["position"])
                assert g.similarity == pytest.approx(w["similarity"], rel=1e-5)
                assert g.score == pytest.approx(w["score"], rel=1e-5)
                for d, e in zip(g.differences, w["edits"]):
                    whole = text if e["kind"] == "+" else g.source
                    assert d.kind == e["kind"]
                    assert d.text == whole[d.begin:d.end]
                    assert d.text.encode() == \
                        whole.encode()[e["begin"]:e["end"]]
                assert len(g.differences) == len(w["edits"])


def test_compare():
    spans = skmt.compare("Die Brücke ist groß", "Die Tür ist groß")
    assert [(d.kind, d.text.strip()) for d in spans] == [
        ("=", "Die"), ("-", "Brücke"), ("+", "Tür"), ("=", "ist groß")]


def test_import_export_check(memory, tmp_path, run):
    calls = []
    counts = memory.import_files(PAIRS, progress=lambda *a: calls.append(a))
    assert counts["pairs"] == 300 and counts["bad"] == 0
    for name in "a.tmx", "a.tsv", "a.po.gz", "a.xlf":
        assert memory.export(tmp_path / name) == 300
    memory.export(tmp_path / "de", format="text", target_path=tmp_path / "en")
    assert len((tmp_path / "de").read_text().splitlines()) == 300
    with skmt.Memory(tmp_path / "b.tm") as other:
        other.import_files(tmp_path / "a.tsv", no_header=True)
        assert [(p.source, p.target) for p in other] == \
            [(p.source, p.target) for p in memory]
    assert memory.check() == []
    memory.rebuild()
    memory.compact()
    assert memory.stats()["segments"] >= 0
    state = memory.state()
    assert state.pairs == 300 and state.identity
    assert memory.delete_where(origin="jrc.tsv") == 300
    assert memory.state().last_change > state.last_change
    with pytest.raises(skmt.ArgumentError):
        memory.delete_where()
    with pytest.raises(skmt.FileError):
        memory.import_files(tmp_path / "none.tmx")
    with pytest.raises(skmt.ArgumentError):
        memory.import_files(PAIRS, color="red")


def test_rejected_units(memory, tmp_path):
    file = tmp_path / "bad.tsv"
    file.write_bytes("a\tb\nnur eins\nÄ\t\xff\nc\td\n".encode("latin-1"))
    with pytest.raises(skmt.Error):
        memory.import_files(file)
    assert len(memory) == 0
    rejected = []
    counts = memory.import_files(file, skip_bad=True, no_header=True,
                                 rejected=rejected.append)
    assert counts["bad"] == len(rejected) > 0
    assert rejected[0].line in (2, 3) and rejected[0].why

    def fail(unit):
        raise KeyError(unit.line)

    with pytest.raises(KeyError):
        memory.import_files(file, skip_bad=True, rejected=fail)

    def use(unit):
        memory.add("x", "y")

    with pytest.raises(skmt.ArgumentError, match="cannot use the memory"):
        memory.import_files(file, skip_bad=True, rejected=use)


def test_transactions(memory):
    with pytest.raises(KeyError):
        with memory.transaction():
            memory.add("eins", "one")
            raise KeyError
    assert len(memory) == 0
    assert memory.add_all([("eins", "one"), ("zwei", "two")]) == 2
    with memory.transaction(), memory.transaction():
        memory.add("drei", "three")
    assert [p.target for p in memory] == ["one", "two", "three"]
    assert [p.target for p in memory.pairs(after=1)] == ["two", "three"]


def test_contradictions(memory):
    memory.add("Tor", "gate")
    memory.add("Tor", "goal")
    (found,) = memory.contradictions()
    assert found.source == "Tor"
    assert {t.pair.target for t in found.translations} == {"gate", "goal"}


def test_recover(memory, tmp_path):
    memory.add("Tor", "gate")
    memory.close()
    saved = skmt.recover(memory.path, tmp_path / "new.tm")
    assert saved.pairs == 1 and saved.lost <= 0


def test_translations_with_a_memory_as_on_the_command_line(jrc, model, run):
    texts = [SENTENCE, "HAT FOLGENDE VERORDNUNG ERLASSEN :", "Guten Tag!"]
    lines = "".join(t + "\n" for t in texts)
    for option in {}, {"preset": "sk1"}, {"beam": 1, "exact": "steer"}:
        arguments = [f"--{k}={v}" for k, v in option.items()]
        want = run("translate", "-q", "--memory", jrc, *arguments,
                   text=lines).splitlines()
        assert model.translate(texts, memory=jrc, **option) == want
        assert model.translate(texts, memory=str(jrc), **option) == want
        assert list(model.stream(texts, jrc, threads=2, **option)) == want
        with skmt.Memory(jrc, "read") as memory:
            for _ in range(2):
                assert [model.translate(t, memory=memory, **option)
                        for t in texts] == want
    assert want != model.translate(texts)
    for missing in "no.tm", b"no.tm":
        with pytest.raises(skmt.FileError, match="no.tm"):
            model.translate("Ja.", memory=missing)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_correction_takes_effect_at_once(memory, model, by_name):
    memory.add("etwas", "something")
    used = memory.path if by_name else memory
    plain = model.translate(SIMILAR)
    assert model.translate(SIMILAR, memory=used) == plain
    with model.session(used) as session:
        assert session.translate(SIMILAR) == plain
        id = session.correct(FIRST, "The Save push button is dimmed.")
        assert memory.get(id).source == FIRST
        corrected = session.translate(SIMILAR)
        assert corrected != plain and "dimmed" in corrected
        assert session.translate(FIRST) == "The Save push button is dimmed."
        assert model.translate(SIMILAR, memory=used) == corrected
        memory.delete(id)
        assert session.translate(SIMILAR) == plain
    with pytest.raises(skmt.ArgumentError, match="no memory"):
        model.session().correct("a", "b")


def test_another_file_of_the_same_name(model, tmp_path):
    path = tmp_path / "my.tm"
    for target in "Hi!", "Hello!":
        with skmt.Memory(path) as memory:
            memory.add("Guten Morgen!", target)
        for _ in range(2):
            assert model.translate("Guten Morgen!", memory=path) == target
        for name in list(tmp_path.iterdir()):
            if name.is_dir():
                import shutil
                shutil.rmtree(name)
            else:
                name.unlink()
        with pytest.raises(skmt.FileError):
            model.translate("Guten Morgen!", memory=path)


def test_pairs_of_the_caller(model):
    pairs = [(FIRST, "The Save push button is dimmed.", 0.83)]
    r = model.result(SIMILAR, pairs=pairs, explain=True)
    assert "dimmed" in r.text
    assert r.sentences[0].pairs[0].similarity == pytest.approx(0.83)
    assert r.sentences[0].pairs[0].memory == ""
    assert model.translate([SIMILAR], pairs=pairs) == [r.text]
    assert model.translate(SIMILAR, pairs=[]) == model.translate(SIMILAR)


def test_keys(model, jrc, tmp_path):
    with skmt.Memory(jrc, "read") as memory, \
            skmt.Keys(model, tmp_path / "my.keys") as keys:
        session = model.session(memory, keys)
        plain = model.translate(SENTENCE, memory=memory)
        assert session.translate(SENTENCE) == plain
        first = keys.stats()
        assert first["misses"] > 0 and first["file_pairs"] > 0
        assert model.session(memory, keys).translate(SENTENCE) == plain
        assert keys.stats()["misses"] == first["misses"]
        assert keys.drop_others(memory) == 0
        with pytest.raises(ZeroDivisionError):
            keys.warm(memory, progress=lambda *a: 1 / 0)
    with pytest.raises(skmt.ClosedError, match="its memory was closed|this "
                       "session is closed"):
        session.translate(SENTENCE)


def test_closing(model, jrc):
    memory = skmt.Memory(jrc, "read")
    session = model.session(memory)
    stream = model.stream([SENTENCE] * 3, memory)
    next(stream)
    pairs = memory.pairs()
    next(pairs)
    model.translate(SENTENCE, memory=memory)
    memory.close()
    memory.close()
    for use in (lambda: session.translate("Ja."), lambda: next(stream),
                lambda: next(pairs), lambda: memory.search("Ja."),
                lambda: memory.pairs().__next__(), lambda: len(memory),
                lambda: model.translate("Ja.", memory=memory),
                lambda: memory.use("x"), memory.check, memory.__enter__,
                lambda: memory.transaction().__enter__()):
        with pytest.raises(skmt.ClosedError):
            use()
    assert "closed" in repr(memory)
    # An iterator that is dropped in the middle does not disturb its memory.
    with skmt.Memory(jrc, "read") as memory:
        for _ in range(3):
            next(memory.pairs())
            gc.collect()
        assert sum(1 for _ in memory) == 300


def test_modes(tmp_path):
    with pytest.raises(skmt.FileError):
        skmt.Memory(tmp_path / "none.tm", "read")
    with pytest.raises(skmt.ArgumentError):
        skmt.Memory(tmp_path / "none.tm", "a")
    skmt.Memory(tmp_path / "a.tm", relaxed=True).close()
    with skmt.Memory(tmp_path / "a.tm", "read") as memory:
        with pytest.raises(skmt.Error):
            memory.add("a", "b")
    (tmp_path / "bad.tm").write_bytes(b"x" * 5000)
    with pytest.raises(skmt.FormatError):
        skmt.Memory(tmp_path / "bad.tm")


def test_threads_share_a_memory(model, memory):
    """Threads add, search, iterate and translate at the same time, and one of
    them closes the memory."""
    memory.add_all((f"Das ist die Zahl {i}.", f"This is number {i}.")
                   for i in range(20))
    session = model.session(memory, beam=1)
    failed = []

    def work(what):
        try:
            for i in range(10):
                what(i)
        except skmt.ClosedError:
            pass
        except Exception as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(w,)) for w in (
        lambda i: memory.add(f"Neu {i}", f"New {i}"),
        lambda i: memory.search("Das ist die Zahl 7.", model=model),
        lambda i: list(memory),
        lambda i: session.translate("Das ist die Zahl 70."),
        lambda i: model.translate("Das ist die Zahl 71.", memory=memory,
                                  beam=1),
        lambda i: list(model.stream(["Das ist die Zahl 72."], memory,
                                    beam=1)))]
    for t in threads:
        t.start()
    threads[0].join()
    assert len(memory) == 30
    memory.close()
    for t in threads:
        t.join()
    assert not failed


def test_languages(model, tmp_path):
    path = tmp_path / "two.tm"
    with skmt.Memory(path) as memory:
        memory.create("french", "fr", "de")
        with pytest.raises(skmt.ArgumentError) as e:
            model.translate("Guten Tag!", memory=path)
        assert "from fr to de" in str(e.value)
        assert "from de to en" in str(e.value)
        assert model.translate("Guten Tag!", memory=path, any_language=True)

        memory.create("english", "deu_Latn", "en-GB")
        memory.add(FIRST, "Use this.", "english")
        assert model.translate(FIRST, memory=path) == "Use this."
        with pytest.raises(skmt.ArgumentError):
            model.session(memory=memory)
        with pytest.raises(skmt.ArgumentError):
            memory.use_with(model, "french")
        memory.use_with(model, "french", any_language=True)
        memory.use_with(model)
        with model.session(memory=memory) as session:
            assert session.translate(FIRST) == "Use this."
