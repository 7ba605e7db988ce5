"""Readers for the files of other projects, for tools/foreign_oracle.py.

They use the standard library and numpy only, and share no code with skmt or
with the writers in foreign_write.py. They are for files that one has made
oneself: errors end the program.
"""
import collections
import io
import json
import os
import pickle
import re
import struct
import zipfile

import numpy as np


class Files:
    """The files of a folder or of a zip archive with one. A path may also name
    a checkpoint in a folder (.pt), which is then `chosen`."""

    def __init__(self, path):
        self.chosen = None
        if path.endswith(".pt"):
            path, self.chosen = os.path.split(path)
        self.folder = path if os.path.isdir(path) else None
        if self.folder:
            names = [os.path.relpath(os.path.join(root, n), path)
                     for root, _, found in os.walk(path) for n in found]
        else:
            self.zip = zipfile.ZipFile(path)
            names = self.zip.namelist()
        top = {n.split("/")[0] for n in names}
        self.top = top.pop() + "/" if len(top) == 1 and \
            all("/" in n for n in names) else ""
        self.names = sorted(n[len(self.top):] for n in names)

    def __contains__(self, name):
        return name in self.names

    def read(self, name):
        if self.folder:
            with open(os.path.join(self.folder, self.top + name), "rb") as f:
                return f.read()
        return self.zip.read(self.top + name)

    def text(self, name):
        return self.read(name).decode()

    def json(self, name):
        return json.loads(self.text(name))

    def lines(self, name):
        lines = self.text(name).split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    def ending(self, end):
        return [n for n in self.names if n.endswith(end)]


# ---- tensors -----------------------------------------------------------------

def read_npz(data):
    """The arrays of an npz file, as they are stored."""
    return dict(np.load(io.BytesIO(data)))


def read_marian_bin(data):
    """The tensors of a .bin file of Marian."""
    version, n = struct.unpack_from("<QQ", data)
    assert version == 1
    heads = [struct.unpack_from("<4Q", data, 16 + 32 * i) for i in range(n)]
    at = 16 + 32 * n
    names, shapes, out = [], [], {}
    for length, *_ in heads:
        names.append(data[at:at + length - 1].decode())
        at += length
    for _, _, dims, _ in heads:
        shapes.append(struct.unpack_from(f"<{dims}i", data, at))
        at += 4 * dims
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    for name, shape, (_, kind, _, size) in zip(names, shapes, heads):
        count = int(np.prod(shape))
        raw = data[at:at + size]
        at += size
        if kind in (0x4101, 0x4102):
            a = np.frombuffer(raw, {1: "i1", 2: "<i2"}[kind & 15], count)
            m = np.frombuffer(raw, "<f4", 1, a.nbytes)[0]
            a = a.astype(np.float64) / m
            out[name] = a.reshape(shape) if "Wemb" in name else \
                a.reshape(shape[::-1]).T
        else:
            a = np.frombuffer(raw, {0x404: "<f4", 0x402: "<f2",
                                    0x101: "i1"}[kind], count)
            out[name] = a.reshape(shape)
    return out


def bf16(words):
    return (np.asarray(words, "<u4") << 16).view("<f4")


def read_safetensors(data):
    n = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, t in json.loads(data[8:8 + n]).items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        raw = data[8 + n + begin:8 + n + end]
        if t["dtype"] == "BF16":
            a = bf16(np.frombuffer(raw, "<u2"))
        else:
            a = np.frombuffer(raw, {"F32": "<f4", "F16": "<f2",
                                    "I64": "<i8"}[t["dtype"]])
        out[name] = a.reshape(t["shape"])
    return out


class Named:
    """A class or function that a pickle names, and what comes of calling
    it."""

    def __init__(self, name, args=()):
        self.name, self.args, self.fields = name, args, {}

    def __call__(self, *args):
        return Named(self.name, args)

    def __setstate__(self, state):
        self.fields = state


def named_class(name):
    """For NEWOBJ, which needs a class."""
    return type(name, (Named,), {
        "__new__": lambda cls, *a: object.__new__(cls),
        "__init__": lambda self, *a: Named.__init__(self, name, a)})


STORAGES = {"FloatStorage": "<f4", "HalfStorage": "<f2", "LongStorage": "<i8",
            "DoubleStorage": "<f8", "BFloat16Storage": "<u2"}


def view(storage, offset, size, stride, *_):
    """A function for _rebuild_tensor_v2. The data come later in the older form,
    so this returns a function that makes the array."""
    def make():
        a = storage.data[offset:]
        a = np.lib.stride_tricks.as_strided(
            a, size, [s * a.itemsize for s in stride]) if size else a[:1]
        return bf16(a) if a.dtype == np.dtype("<u2") else a
    return make


def torch_unpickler(f, storages):
    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            if (module, name) == ("collections", "OrderedDict"):
                return collections.OrderedDict
            if module == "torch._utils" and name == "_rebuild_tensor_v2":
                return view
            if module == "torch._utils" and name == "_rebuild_parameter":
                return lambda tensor, *_: tensor
            if module == "torch" and name in STORAGES:
                return STORAGES[name]
            return named_class(module + "." + name)

        def persistent_load(self, pid):
            return storages.setdefault(pid[2], Named("storage", pid))
    return Unpickler(f)


def read_torch(data):
    """The value that was saved. Its tensors are functions that make arrays."""
    storages, f = {}, io.BytesIO(data)
    if data[:2] == b"PK":
        z = zipfile.ZipFile(f)
        root = z.namelist()[0].split("/")[0]
        with z.open(root + "/data.pkl") as body:
            value = torch_unpickler(body, storages).load()
        for key, s in storages.items():
            s.data = np.frombuffer(z.read(f"{root}/data/{key}"), s.args[1])
        return value
    for _ in range(3):                  # magic number, version, facts
        pickle.load(f)
    value = torch_unpickler(f, storages).load()
    for key in pickle.load(f):
        n = struct.unpack("<q", f.read(8))[0]
        kind = np.dtype(storages[key].args[1])
        storages[key].data = np.frombuffer(f.read(n * kind.itemsize), kind)
    return value


def arrays_of(tensors):
    return {name: make() for name, make in tensors.items() if callable(make)}


def read_hf_weights(files):
    for stem, ext in (("model", ".safetensors"), ("pytorch_model", ".bin")):
        names = [stem + ext] if stem + ext in files else \
            [n for n in files.names if re.fullmatch(
                stem + r"-\d+-of-\d+" + re.escape(ext), n)]
        if names:
            out = {}
            for name in names:
                data = files.read(name)
                out |= read_safetensors(data) if ext == ".safetensors" \
                    else arrays_of(read_torch(data))
            return out
    raise SystemExit("no weights")


# ---- CTranslate2 -------------------------------------------------------------

class Ct2:
    """version, spec, revision; variables: name -> array. Compressed ones are
    multiplied out. aliases: alias -> name."""

    def __init__(self, data):
        self.data, self.at = data, 0
        self.version = self.number("<I")
        self.spec = self.string()
        self.revision = self.number("<I")
        raw = {}
        for _ in range(self.number("<I")):
            name = self.string()
            shape = [self.number("<I") for _ in range(self.number("<B"))]
            raw[name] = self.array(shape)
        self.aliases = {}
        if self.version >= 3:
            for _ in range(self.number("<I")):
                alias = self.string()
                self.aliases[alias] = self.string()
        if self.at != len(data):
            raise SystemExit("model.bin: bytes are left over")
        self.variables = {n: self.value(n, raw) for n in raw
                          if not n.endswith("_scale")}
        for alias, name in self.aliases.items():
            self.variables[alias] = self.variables[name]

    def number(self, form):
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def string(self):
        n = self.number("<H")
        self.at += n
        return self.data[self.at - n:self.at - 1].decode()

    def array(self, shape):
        code, size = self.number("<B"), self.number("<I")
        count = int(np.prod(shape, dtype=int))
        if self.version >= 4:
            kind = ["<f4", "i1", "<i2", "<i4", "<f2", "<u2"][code]
            count_stated = size // np.dtype(kind).itemsize
        else:
            kind = {4: "<f4", 2: "<i2", 1: "i1"}[code]
            count_stated = size
        assert count == count_stated
        a = np.frombuffer(self.data, kind, count, self.at).reshape(shape)
        self.at += a.nbytes
        return bf16(a) if kind == "<u2" else a

    @staticmethod
    def value(name, raw):
        a = raw[name]
        if not name.endswith("weight") or a.dtype.kind != "i":
            return a
        scale = raw.get(name + "_scale", np.float32(1000))
        scale = np.asarray(scale, np.float64)
        return a / (scale[:, None] if scale.ndim else scale)


# ---- YAML --------------------------------------------------------------------

ESCAPE = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "e": "\x1b",
          "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}


def yaml_scalar(text):
    """The text of a scalar in any of the three styles."""
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] != '"':
        return text

    def one(m):
        c = m.group(1)
        return chr(int(c[1:], 16)) if c[0] in "xuU" else ESCAPE.get(c, c)
    return re.sub(r"\\(x..|u.{4}|U.{8}|.)", one, text[1:-1])


def read_yaml_vocabulary(text):
    """A mapping piece -> id as a list of pieces."""
    out, key = {}, None
    for line in text.split("\n"):
        if line.startswith("? "):
            key = yaml_scalar(line[2:])
        elif line.startswith(": "):
            out[int(line[2:])] = key
        elif line:
            key, value = line.rsplit(": ", 1)
            out[int(value)] = yaml_scalar(key)
    return [out[i] for i in range(len(out))]


def read_yaml_settings(text):
    """Keys with scalars or lists of scalars, all as strings."""
    out, last = {}, None
    for line in text.split("\n"):
        if re.match(r"\s*- ", line):
            out.setdefault(last, [])
            if not isinstance(out[last], list):
                out[last] = []
            out[last].append(yaml_scalar(line.split("- ", 1)[1].strip()))
        elif ":" in line and not line.startswith("#"):
            last, value = line.split(":", 1)
            value = value.strip()
            out[last] = [] if value == "[]" else yaml_scalar(value)
    return out
