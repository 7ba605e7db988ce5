# needs: /usr/lib/python3/dist-packages/numpy spm_encode plain
Files that were made to do harm. Each is refused with a sentence that names the
file, and the entry, key or tensor in it. Nothing is executed, nothing is written
outside, and 1 GB of address space is enough.

  $ /usr/bin/python3 "$TOP/tools/gen_foreign.py" . hf-marian-shared hf-marian-bin marian-all > /dev/null
  $ cat > hostile.py <<'END'
  > import json, os, shutil, struct, subprocess, sys, zipfile
  > 
  > def model(name):
  >     shutil.rmtree("bad", ignore_errors=True)
  >     shutil.copytree(name, "bad")
  > 
  > def put(name, data):
  >     with open("bad/" + name, "wb") as f:
  >         f.write(data.encode() if isinstance(data, str) else data)
  > 
  > def change(name, old, new):
  >     with open("bad/" + name, "rb") as f:
  >         data = f.read()
  >     assert old.encode() in data, (name, old)
  >     put(name, data.replace(old.encode(), new.encode(), 1))
  > 
  > def header(edit):
  >     """Change the header of model.safetensors; its length may change."""
  >     with open("bad/model.safetensors", "rb") as f:
  >         data = f.read()
  >     n, = struct.unpack_from("<Q", data)
  >     text = data[8:8 + n].decode()
  >     new = edit(text).encode()
  >     assert new != text.encode()
  >     put("model.safetensors", struct.pack("<Q", len(new)) + new + data[8 + n:])
  > 
  > def archive(entries):
  >     with zipfile.ZipFile("bad.zip", "w", zipfile.ZIP_DEFLATED) as z:
  >         for name, data in entries:
  >             z.writestr(name, data)
  > 
  > def convert(path="bad"):
  >     p = subprocess.run(["skmt", "convert", "--from", path, "-q", "-o", "bad.skmt"], capture_output=True, text=True)
  >     print(p.returncode, p.stderr.strip().split("\n")[0][:300])
  >     assert not os.path.exists("bad.skmt")
  > 
  > def files(name):
  >     return [(f, open(f"{name}/{f}", "rb").read()) for f in sorted(os.listdir(name))]
  > 
  > hf, marian, torch = "hf-marian-shared", "marian-all", "hf-marian-bin"
  > print("-- archives")
  > archive(files(marian) + [("../../owned", "x")]); convert("bad.zip")
  > archive(files(marian) + [("/owned", "x")]); convert("bad.zip")
  > for folder, name, size in ((hf, "config.json", 40 << 20), (hf, "tokenizer_config.json", 40 << 20), (hf, "source.spm", 300 << 20), (marian, "decoder.yml", 2 << 20), (marian, "opus.npz", 40 << 20)):
  >     archive([(f, d) for f, d in files(folder) if f != name] + [(name, bytes(size))])
  >     convert("bad.zip")
  > archive(files(hf)); z = open("bad.zip", "rb").read(); open("bad.zip", "wb").write(z[:len(z) // 2]); convert("bad.zip")
  > print("-- names that lead out")
  > model(marian); change("decoder.yml", "opus.npz", "../../etc/passwd"); convert()
  > model(marian); change("decoder.yml", "opus.vocab.yml", "/etc/passwd"); convert()
  > model(hf); os.rename("bad/model.safetensors", "bad/x.safetensors"); put("model.safetensors.index.json", '{"weight_map": {"a": "../hf-marian-shared/model.safetensors"}}'); convert()
  > print("-- pickles")
  > model(torch); put("pytorch_model.bin", b"cos\nsystem\n(S'touch owned'\ntR."); convert()
  > model(torch)
  > with zipfile.ZipFile("bad/pytorch_model.bin", "w") as z:
  >     z.writestr("archive/data.pkl", b"\x80\x02cos\nsystem\nX\x0b\0\0\0touch owned\x85R."); z.writestr("archive/version", "3\n")
  > convert()
  > model(torch)
  > with zipfile.ZipFile("bad/pytorch_model.bin", "w") as z:
  >     z.writestr("archive/data.pkl", b"\x80\x02c__builtin__\neval\nX\x01\0\0\x001\x85RX\x01\0\0\0a}s."); z.writestr("archive/version", "3\n")
  > convert()
  > print("-- YAML")
  > model(marian); bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i-1}, *a{i-1}]\n" for i in range(1, 60)); put("decoder.yml", bomb); convert()
  > model(marian); put("opus.vocab.yml", bomb); convert()
  > model(marian); put("decoder.yml", "models: [&x opus.npz]\nvocabs: [opus.vocab.yml, *x]\n"); convert()
  > model(marian); put("decoder.yml", "[" * 100000); convert()
  > print("-- JSON")
  > model(hf); put("config.json", '{"model_type": "marian", "a": ' + "[" * 100000); convert()
  > model(hf); put("vocab.json", "[" * 100000); convert()
  > model(hf); put("vocab.json", '{"a": 0, "a": 1}'); convert()
  > model(hf); put("vocab.json", '{"a": -1}'); convert()
  > model(hf); change("config.json", '"d_model": 16', '"d_model": -16'); convert()
  > model(hf); change("config.json", '"d_model": 16', '"d_model": 99999999999999999999'); convert()
  > model(hf); change("config.json", '"encoder_layers": 2', '"encoder_layers": 2.5'); convert()
  > print("-- tensors")
  > model(hf); header(lambda t: t.replace('"shape": [16, 16]', '"shape": [-16, -16]', 1) if '"shape": [16, 16]' in t else t.replace('"shape":[16,16]', '"shape":[-16,-16]', 1)); convert()
  > def overlap(t):
  >     h = json.loads(t)
  >     names = [n for n in h if n.endswith("self_attn.q_proj.weight")]
  >     h[names[1]]["data_offsets"] = h[names[0]]["data_offsets"]
  >     return json.dumps(h)
  > model(hf); header(overlap); convert()
  > def huge(t):
  >     h = json.loads(t)
  >     n = [n for n in h if n.endswith("fc1.weight")][0]
  >     h[n]["shape"] = [1 << 40, 1 << 40]
  >     return json.dumps(h)
  > model(hf); header(huge); convert()
  > def far(t):
  >     h = json.loads(t)
  >     n = [n for n in h if n.endswith("fc1.weight")][0]
  >     h[n]["data_offsets"] = [1 << 60, (1 << 60) + 2560]
  >     return json.dumps(h)
  > model(hf); header(far); convert()
  > print("owned" if os.path.exists("owned") or os.path.exists("bad/owned") else "nothing was executed or written")
  > END
  $ (ulimit -v 1000000; /usr/bin/python3 hostile.py)
  -- archives
  1 skmt: bad.zip: entry "../../owned" has ".." in its path
  1 skmt: bad.zip: entry "/owned" has an absolute path
  1 skmt: bad.zip: config.json: has 41943040 bytes; at most 33554432 are expected
  1 skmt: bad.zip: tokenizer_config.json: has 41943040 bytes; at most 33554432 are expected
  1 skmt: bad.zip: source.spm: has 314572800 bytes; at most 268435456 are expected
  1 skmt: bad.zip: decoder.yml: has 2097152 bytes; at most 1048576 are expected
  1 skmt: bad.zip: opus.npz: not a .bin file of Marian, or damaged: its version is not 1
  1 skmt: bad.zip: not a zip archive, or truncated: its directory is not there
  -- names that lead out
  1 skmt: bad/decoder.yml: names the file "../../etc/passwd", which is not there
  1 skmt: bad/decoder.yml: names the file "/etc/passwd", which is not there
  1 skmt: bad: there is no file "../hf-marian-shared/model.safetensors"
  -- pickles
  1 skmt: bad/pytorch_model.bin: not a file of torch.save()
  1 skmt: bad/pytorch_model.bin: the file does not contain a dict of tensors, but an object os.system
  1 skmt: bad/pytorch_model.bin: the file does not contain a dict of tensors, but an object __builtin__.eval
  -- YAML
  1 skmt: bad/decoder.yml:1: an anchor is not accepted
  1 skmt: bad/opus.vocab.yml:1: the id of a piece is expected, not a list
  1 skmt: bad/decoder.yml:1: an anchor is not accepted
  1 skmt: bad/decoder.yml:1: a mapping of settings is expected
  -- JSON
  1 skmt: bad/config.json:1: maximum parsing depth reached near '['
  1 skmt: bad/vocab.json:1: not valid JSON: maximum parsing depth reached near '['
  1 skmt: bad/vocab.json:1: not valid JSON: duplicate object key near '"a"'
  1 skmt: bad/vocab.json: the id of the piece "a" is negative
  1 skmt: bad/config.json: "d_model" should be a whole number from 4 to 65536
  1 skmt: bad/config.json: "d_model" should be a whole number from 4 to 65536
  1 skmt: bad/config.json: "encoder_layers" should be a whole number from 1 to 256
  -- tensors
  1 skmt: bad/model.safetensors: tensor "model.encoder.layers.0.self_attn.q_proj.weight" has a shape that is not valid
  1 skmt: bad/model.safetensors: tensor "model.encoder.layers.1.self_attn.q_proj.weight" does not begin where the previous tensor ends
  1 skmt: bad/model.safetensors: tensor "model.encoder.layers.0.fc1.weight" has a shape that is not valid
  1 skmt: bad/model.safetensors: tensor "model.encoder.layers.0.fc1.weight" lies outside the file (truncated?)
  nothing was executed or written
