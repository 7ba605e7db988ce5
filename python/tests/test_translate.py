"""Models, sessions and streams; the command line is the reference."""
import itertools
import os
import pickle
import threading
import time

import pytest
import skmt
from conftest import TREE

TEXTS = ["Guten Morgen!", "", "Die Straße führt über die Brücke. Es regnet.",
         "Ich habe 😀 keine Zeit.", "Wie heißt du?"]


def test_first_lines_of_the_readme(model):
    assert model.translate("Guten Morgen!") == "Good morning!"


def test_facts(model, run):
    shown = run("info")
    assert model.source_lang == "de" and model.target_lang == "en"
    assert model.facts["checksum"] in shown
    assert model.facts["d_model"] == "512"
    assert skmt.library_version() == skmt.__version__
    assert skmt.isa() and skmt.cpu()


def test_lists_are_translated_as_on_the_command_line(model, run):
    lines = "".join(t + "\n" for t in TEXTS)
    for option in {}, {"beam": 1}, {"lenpen": 0.0}:
        arguments = [f"--{k}={v}" for k, v in option.items()]
        want = run("translate", "-q", *arguments, text=lines).split("\n")[:-1]
        assert model.translate(TEXTS, **option) == want
        assert [model.translate(t, **option) for t in TEXTS] == want
        assert list(model.stream(TEXTS, threads=2, **option)) == want
    assert model.translate([]) == []
    assert model.translate(iter(TEXTS[:1])) == ["Good morning!"]


def test_more_texts_than_one_call_takes(model):
    texts = ["Ja."] * 300 + ["Nein."]
    out = model.translate(texts, beam=1)
    assert len(out) == 301 and len(set(out[:300])) == 1 and out[300] != out[0]


def assert_same(piece, want, whole):
    """Positions of the command line are bytes."""
    raw = whole.encode()
    assert piece.id == want["id"] and piece.text == want["piece"]
    assert whole[piece.begin:piece.end].encode() == \
        raw[want["begin"]:want["end"]]


@pytest.mark.parametrize("steered", [False, True])
def test_results_as_json(model, jrc, run_json, steered):
    texts = TEXTS + ["Artikel 7 Absatz 4 erhält folgende Fassung: Über ß 😀.",
                     "HAT FOLGENDE VERORDNUNG ERLASSEN :"]
    option = ["--memory", jrc, "--explain"] if steered else []
    lines = run_json("translate", "-q", "--json", "--attention", "--nbest=2",
                     *option, text="".join(t + "\n" for t in texts))
    results = model.result(texts, attention=True, nbest=2,
                           memory=jrc if steered else None, explain=steered)
    exact = votes = reasons = 0
    for text, want, r in zip(texts, lines, results):
        assert r.source == text and str(r) == r.text == want["text"]
        assert r.score == pytest.approx(want["score"], rel=1e-5)
        assert r.logprob == pytest.approx(want["logprob"], rel=1e-5)
        assert [t.text for t in r.translations] == \
            [t["text"] for t in want["nbest"]]
        assert len(r.sentences) == len(want["segments"])
        for s, w in zip(r.sentences, want["segments"]):
            assert text[s.begin:s.end].encode() == \
                text.encode()[w["begin"]:w["end"]]
            assert s.source == text[s.begin:s.end]
            assert s.score == pytest.approx(w["score"], rel=1e-5)
            assert len(s.pieces) == len(w["source"])
            for p, q in zip(s.pieces, w["source"]):
                assert_same(p, q, text)
            for p, q in zip(s.pairs, w.get("pairs", [])):
                assert (p.id, p.memory, p.source, p.target, p.exact) == (
                    q["id"], q["memory"], q["source"], q["target"],
                    q["exact"])
                assert p.similarity == pytest.approx(q["similarity"], rel=1e-5)
            exact += s.exact
        first = want["nbest"][0]["segments"]
        for s, w in zip(r.sentences, first):
            assert len(s.tokens) == len(w["tokens"])
            for i, (t, q) in enumerate(zip(s.tokens, w["tokens"])):
                assert_same(t, q, r.text)
                assert t.logprob == pytest.approx(q["logprob"], rel=1e-4,
                                                  abs=1e-6)
                if q.get("attention"):
                    assert list(s.attention[i]) == pytest.approx(
                        q["attention"], rel=1e-4)
                assert t.weight == pytest.approx(q.get("trust", 0), rel=1e-5)
                assert [v.text for v in t.votes] == \
                    [v["token"] for v in q.get("votes", [])]
                assert [v.pair for v in t.votes] == \
                    [v["pair"] for v in q.get("votes", [])]
                assert [v.share for v in t.votes] == pytest.approx(
                    [v["share"] for v in q.get("votes", [])], rel=1e-5)
                assert [x.text for x in t.reasons] == \
                    [x["text"] for x in q.get("reasons", [])]
                votes += len(t.votes)
                reasons += len(t.reasons)
            assert len(s.weights) == len(s.tokens)
    assert (exact > 0, votes > 0, reasons > 0) == (steered,) * 3


def test_results_are_values(model):
    r = model.result("Die Straße. Es regnet.", attention=True)
    assert pickle.loads(pickle.dumps(r)) == r
    assert hash(r.tokens[0]) == hash(pickle.loads(pickle.dumps(r.tokens[0])))
    assert "".join(r.text[t.begin:t.end] for t in r.tokens).replace(" ", "") \
        == r.text.replace(" ", "")
    assert [s.text for s in r.sentences] == [
        model.translate("Die Straße."), model.translate("Es regnet.")]


def test_attention_with_and_without_numpy(model, python):
    numpy = pytest.importorskip("numpy")
    s = model.result("Guten Morgen!", attention=True).sentences[0]
    assert isinstance(s.attention, numpy.ndarray)
    assert s.attention.shape == (len(s.tokens), len(s.pieces) + 1)
    assert s.attention.sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert model.result("Guten Morgen!").sentences[0].attention is None
    out = python("import sys; sys.modules['numpy'] = None; import skmt\n"
                 "s = skmt.Model().result('Hallo!', attention=True)"
                 ".sentences[0]\n"
                 "print(type(s.attention).__name__, type(s.attention[0])"
                 ".__name__, type(s.weights).__name__)")
    assert out == "list list list\n"


def test_prefix(model):
    t = model.translate("Ich gehe jetzt.", prefix="So I")
    assert t.startswith("So I")
    both = model.translate(["Ich gehe jetzt."] * 2, prefix=["So I", None])
    assert both == [t, model.translate("Ich gehe jetzt.")]
    assert list(model.stream([("Ich gehe jetzt.", "So I")])) == [t]
    with pytest.raises(skmt.ArgumentError, match="2 texts and 1 prefixes"):
        model.translate(["a", "b"], prefix=["c"])


def test_options_are_described_and_checked(model):
    names = {o.name: o for o in skmt.options()}
    assert names["beam"].default == "0" and names["beam"].kind == "int"
    assert names["lambda_"].group == "steer"
    assert {o.group for o in skmt.options("search")} == {"search"}
    assert model.options(beam=2)["beam"] == "2"
    assert model.options(steered=True)["k"] != "0"
    assert "sk" in [s.name for s in skmt.systems()]
    with pytest.raises(skmt.ArgumentError, match="beam.*from 0 to 64") as e:
        model.translate("Hallo", beam=65)
    assert e.value.status == skmt.Status.ARGUMENT
    assert isinstance(e.value, ValueError)
    with pytest.raises(skmt.ArgumentError, match='no option "beem"'):
        model.translate("Hallo", beem=4)
    with pytest.raises(TypeError):
        model.translate("Hallo", beam=[])
    with pytest.raises(ValueError):
        skmt.options("nothing")
    # All values that are described as defaults are accepted.
    model.translate("Ja.", **{o.name: o.default for o in skmt.options()
                              if o.default not in ("auto", "none", "default")})
    assert model.translate("Ja.", lambda_=0.5, attention=True, beam=None)


def test_texts_that_are_not_texts(model):
    for text in "a\0b", ["Ja.", "a\0b"]:
        with pytest.raises(skmt.TextError):
            model.translate(text)
    for text in b"Hallo", 5, None, [b"Hallo"]:
        with pytest.raises(TypeError):
            model.translate(text)
    bad = "Hallo \udcff Welt"
    with pytest.raises(skmt.TextError) as e:
        model.translate(bad)
    assert e.value.status == skmt.Status.TEXT
    with pytest.raises(skmt.TextError) as e:
        model.translate(["Ja."] * 300 + [bad])
    assert e.value.index == 300
    r = model.result(bad, invalid="replace")
    assert r.source == "Hallo \ufffd Welt"
    assert r.sentences[0].pieces[-1].end <= len(bad)
    assert model.result("\ud800 ja", invalid="replace").text is not None


def test_files_that_are_not_models(tmp_path):
    with pytest.raises(skmt.FileError) as e:
        skmt.Model(tmp_path / "none.skmt")
    assert isinstance(e.value, OSError) and "none.skmt" in str(e.value)
    with pytest.raises(skmt.FileError, match="not found"):
        skmt.Model("no-such-model")
    (tmp_path / "bad.skmt").write_bytes(b"x" * 1000)
    with pytest.raises(skmt.FormatError):
        skmt.Model(tmp_path / "bad.skmt")


def test_stream_is_lazy_and_bounded(model):
    taken = []

    def endless():
        for i in itertools.count():
            taken.append(i)
            yield f"Das ist die Zahl {i}."

    with model.stream(endless(), beam=1, ahead=5) as stream:
        assert not taken
        got = list(itertools.islice(stream, 20))
        assert len(taken) <= 20 + 5
    assert got == model.translate([f"Das ist die Zahl {i}."
                                   for i in range(20)], beam=1)
    with pytest.raises(skmt.ClosedError):
        next(stream)
    with model.stream(TEXTS, ahead=1) as stream:
        for i, _ in enumerate(stream, 1):
            assert stream.stats()["texts"] <= i
        with pytest.raises(StopIteration):
            next(stream)


def test_stream_can_be_dropped_and_closed_by_another_thread(model):
    for _ in range(5):
        stream = model.stream(itertools.repeat("Das ist ein Satz."), threads=2)
        next(stream)
        del stream
    stream = model.stream(itertools.repeat("Das ist ein Satz."), threads=2)
    timer = threading.Timer(0.2, stream.close)
    timer.start()
    with pytest.raises(skmt.Error):
        for _ in stream:
            pass
    timer.join()


def test_threads_share_a_stream(model):
    stream = model.stream(("Ja." for _ in range(200)), threads=2, beam=1)
    got = []
    threads = [threading.Thread(target=lambda: got.extend(stream))
               for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [model.translate("Ja.", beam=1)] * 200


def test_stream_errors(model):
    texts = ["Ja.", "\udcff", "Nein."]
    stream = model.stream(texts)
    assert next(stream) == model.translate("Ja.")
    with pytest.raises(skmt.TextError) as e:
        next(stream)
    assert e.value.index == 1
    assert list(stream) == [model.translate("Nein.")]
    out = list(model.stream_results(texts, errors="return"))
    assert isinstance(out[1], skmt.TextError)
    assert str(out[2]) == model.translate("Nein.")

    def failing():
        yield "Ja."
        raise KeyError("mine")

    with pytest.raises(KeyError):
        list(model.stream(failing()))
    with pytest.raises(TypeError):
        model.stream("Ja.")
    with pytest.raises(TypeError):
        list(model.stream([5]))
    with pytest.raises(skmt.TextError):
        list(model.stream(["a\0"]))


def test_threads_share_a_model_and_a_session(model):
    want = model.translate(TEXTS, beam=1)
    session = model.session(beam=1)
    wrong = []

    def work(who):
        for _ in range(3):
            if who.translate(TEXTS) != want or \
                    [who.translate(t) for t in TEXTS] != want:
                wrong.append(who)

    class Mine:
        def translate(self, t):
            return model.translate(t, beam=1)

    threads = [threading.Thread(target=work, args=(w,))
               for w in (session, session, Mine(), Mine())]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_the_lock_of_python_is_free_while_the_library_works(model):
    counts = []
    done = threading.Event()

    def work():
        model.translate(["Das ist ein langer Satz, der nicht endet."] * 32)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counts.append(1)
        time.sleep(0.001)
    thread.join()
    assert len(counts) > 5


def test_cancel(model):
    session = model.session()
    session.cancel()            # nothing runs: no effect
    stop = threading.Event()

    def cancel():
        while not stop.is_set():
            session.cancel()
            time.sleep(0.01)

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(skmt.CanceledError):
        session.translate(["Das ist ein langer Satz, der nicht endet."] * 200)
    stop.set()
    thread.join()
    assert session.translate("Guten Morgen!") == "Good morning!"
    assert session.stats()["steps"] > 0


def test_sessions_outlive_the_model():
    model = skmt.Model()
    session, stream = model.session(), model.stream(["Guten Morgen!"])
    model.translate("Ja.")
    model.close()
    model.close()
    assert session.translate("Guten Morgen!") == "Good morning!"
    assert list(stream) == ["Good morning!"]
    for use in (lambda: model.translate("Ja."), model.session, model.options,
                lambda: model.stream([]), model.__enter__):
        with pytest.raises(skmt.ClosedError):
            use()
    session.close()
    with pytest.raises(skmt.ClosedError, match="session is closed"):
        session.translate("Ja.")
    with pytest.raises(skmt.ClosedError):
        session.stats()
    session.cancel()
    assert model.closed and session.closed and "closed" in repr(model)
    with pytest.raises(TypeError):
        pickle.dumps(session)


def test_a_child_process_translates_with_the_model_of_its_parent(model):
    session = model.session()
    model.translate("Ja.")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        out = "failed"
        try:
            out = model.translate("Guten Morgen!")
            try:
                session.translate("Ja.")
            except skmt.ClosedError as e:
                out += " " + str(e)
        finally:
            os.write(write, out.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        assert f.read() == "Good morning! this session belongs to the parent " \
            "of this process; make a new one"
    os.waitpid(child, 0)
    assert session.translate("Guten Morgen!") == "Good morning!"


def test_any_order_of_freeing(python, jrc):
    """Objects in cycles, in any order, and objects that live at the end."""
    program = f"""
import gc, itertools, random, skmt, threading
random.seed(1)
for round in range(12):
    model = skmt.Model()
    memory = skmt.Memory({str(jrc)!r}, "read")
    keys = skmt.Keys(model)
    session = model.session(memory, keys)
    stream = model.stream(itertools.repeat("Ja."), memory, keys, threads=2)
    pairs = memory.pairs()
    session.translate("Ja."), next(stream), next(pairs)
    model.translate("Ja.", memory=memory)
    objects = [model, memory, keys, session, stream, pairs]
    del model, memory, keys, session, stream, pairs
    random.shuffle(objects)
    if round % 3 == 0:
        for o in objects: o.close()
    elif round % 3 == 1:
        while objects:
            objects.pop()
            gc.collect()
    else:
        objects.append(objects)     # a cycle
        del objects
        gc.collect()
model = skmt.Model()
left = [model, model.session({str(jrc)!r}),
        model.stream(itertools.repeat("Ja."), threads=2)]
next(left[2])
print("end")
"""
    assert python(program) == "end\n"


def test_library_that_is_missing_or_wrong(python, tmp_path):
    program = ("import skmt\ntry: skmt.Model()\n"
               "except skmt.LibraryError as e: print(e, e.status)")
    assert "SKMT_LIBRARY" in python(program, SKMT_LIBRARY=str(tmp_path / "no"))
    assert "is not the library" in python(program, SKMT_LIBRARY="libc.so.6")


def test_structs_have_the_sizes_of_the_header():
    from ctypes import sizeof
    from skmt._library import SIZES
    with open(os.path.join(TREE, "tests/cli/public_sizes.c")) as f:
        text = f.read()
    for kind, size in SIZES.items():
        assert sizeof(kind) == size
        words = "".join("_" + c.lower() if c.isupper() else c
                        for c in kind.__name__[1:])
        assert f"SIZE(skmt{words}, {size})" in text
