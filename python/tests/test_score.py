"""Scores; the command line is the reference."""
import math
import threading

import pytest
import skmt
from conftest import PAIRS


@pytest.fixture(scope="module")
def lines():
    with open(PAIRS, encoding="utf-8") as f:
        refs = [line.rstrip("\n").split("\t")[1] for line in f][:60]
    hyps = [" ".join(r.split()[::-1]) if i % 7 == 0 else
            r.replace("the", "a") for i, r in enumerate(refs)]
    return hyps, refs


def test_scores_as_on_the_command_line(lines, tmp_path, run_json):
    hyps, refs = lines
    (tmp_path / "hyp").write_text("\n".join(hyps) + "\n")
    (tmp_path / "ref").write_text("\n".join(refs) + "\n")
    (want,) = run_json("score", "--json", "--metrics=bleu,chrf,ter", "--ref",
                       tmp_path / "ref", tmp_path / "hyp")
    got = skmt.score(hyps, refs)
    assert list(got) == ["bleu", "chrf", "ter"]
    for shown in want["scores"]:
        value = got[shown["metric"]]
        assert float(value) == pytest.approx(shown["score"], rel=1e-9)
        assert (value.low, value.high) == pytest.approx(
            (shown["low"], shown["high"]), rel=1e-9)
        assert value.signature == shown["signature"]
        for name, count in value.details.items():
            assert count == pytest.approx(shown[name], rel=1e-9)
        assert value.low < value.value < value.high
        assert value.signature.startswith("nrefs:1|")
    assert got["bleu"].details["ref_len"] > 0
    assert got["bleu"].title == "BLEU"
    assert skmt.score(hyps, refs, "bleu", resamples=0)["bleu"].low is None


def test_lines_one_by_one(lines):
    hyps, refs = lines
    s = skmt.Score(["bleu", "ter"])
    assert len(s) == 0 and s and s.get("bleu") == 0
    for hyp, ref in zip(hyps, refs):
        s.add(hyp, ref)
    assert s.metrics == ["bleu", "ter"] and len(s) == len(refs)
    assert s.get("bleu") == skmt.score(hyps, refs)["bleu"].value
    assert s.interval("bleu", 100, 1) == s.interval("bleu", 100, 1)
    assert s.interval("bleu", 100, 1) != s.interval("bleu", 100, 2)
    s.add("a\0b ü", "a\0b ü")
    with pytest.raises(skmt.ArgumentError):
        s.get("meteor")
    with pytest.raises(skmt.ArgumentError):
        skmt.Score("meteor")
    with pytest.raises(skmt.ArgumentError, match="2 translations and 1"):
        s.add_all(["a", "b"], ["c"])
    s.close()
    with pytest.raises(skmt.ClosedError):
        s.get("bleu")


def test_compare(lines):
    hyps, refs = lines
    good, bad = skmt.Score("bleu"), skmt.Score("bleu")
    good.add_all(refs, refs)
    bad.add_all(hyps, refs)
    assert good.get("bleu") == pytest.approx(100)
    assert good.compare(bad, "bleu") < 0.05
    assert good.compare(good, "bleu") > 0.5


def test_indicator_of_rare_words():
    s = skmt.Score("r")
    s.start_document()
    s.add("the gate", "the gate")
    s.add("a gate opened", "the gate opened")
    found = s.details("r")
    assert found["words_r1"] == 1 and found["r1"] == 100
    assert math.isnan(found["r10"])


def test_threads_share_a_score():
    s = skmt.Score("bleu")
    threads = [threading.Thread(target=s.add_all, args=(["a b"] * 50,) * 2)
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(s) == 200
