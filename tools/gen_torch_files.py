#!/usr/bin/env python3
"""gen_torch_files - write files like those of torch.save(), without PyTorch.

    tools/gen_torch_files.py FOLDER

Only the standard library is needed. tests/data/torch has the result:

  zip.pt, older.pt     the same tensors in both forms of torch.save()
  checkpoint.pt        a checkpoint of fairseq in the older form
  values_N.pkl         plain values in protocol N of pickle, and values.txt
                       with the same values as text
  FILE.json            the tensors of FILE.pt: shape, type, values

Unlike tools/torch_samples.py, it writes what the PyTorch of today does not
write any more (parts of storages in the older form, _rebuild_tensor, lists of
pairs for OrderedDict), and runs everywhere.
"""
import argparse
import collections
import io
import json
import os
import pickle
import struct
import sys
import types
import zipfile

MAGIC = 0x1950A86A20F9469CFC6C
TYPES = {  # class of the storage, struct format, name in the JSON file
    "f32": ("FloatStorage", "f", "float32"),
    "f16": ("HalfStorage", "e", "float16"),
    "bf16": ("BFloat16Storage", None, "bfloat16"),
    "f64": ("DoubleStorage", "d", "float64"),
    "i64": ("LongStorage", "q", "int64"),
    "i32": ("IntStorage", "i", "int32"),
    "i16": ("ShortStorage", "h", "int16"),
    "i8": ("CharStorage", "b", "int8"),
    "u8": ("ByteStorage", "B", "uint8"),
    "bool": ("BoolStorage", "?", "bool"),
    "c64": ("ComplexFloatStorage", None, "complex64"),
}


def fake_modules():
    """Modules with the names that PyTorch has in a pickle."""
    torch = types.ModuleType("torch")
    utils = types.ModuleType("torch._utils")
    torch._utils = utils
    sys.modules.update({"torch": torch, "torch._utils": utils})
    for name, _, _ in TYPES.values():
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    for name in ("_rebuild_tensor", "_rebuild_tensor_v2",
                 "_rebuild_parameter", "_rebuild_qtensor"):
        def function(*args):
            raise NotImplementedError
        function.__module__, function.__qualname__ = "torch._utils", name
        function.__name__ = name
        setattr(utils, name, function)
    return torch


torch = fake_modules()


class Storage:
    def __init__(self, key, kind, values):
        self.key, self.kind, self.values = key, kind, values
        self.part = None        # (key, first element, number of elements)

    def bytes(self):
        if self.kind == "bf16":
            return b"".join(struct.pack("<f", v)[2:] for v in self.values)
        if self.kind == "c64":
            return b"".join(struct.pack("<ff", v, 0) for v in self.values)
        form = TYPES[self.kind][1]
        return struct.pack(f"<{len(self.values)}{form}", *self.values)


class Part:
    """A part of a storage, as PyTorch wrote it until 2017."""
    def __init__(self, storage, first, n):
        self.storage, self.first, self.n = storage, first, n


class Tensor:
    def __init__(self, storage, offset, size, stride, wrap="v2"):
        self.storage, self.offset = storage, offset
        self.size, self.stride, self.wrap = size, stride, wrap

    def __reduce__(self):
        args = (self.storage, self.offset, self.size, self.stride)
        if self.wrap == "v1":
            return torch._utils._rebuild_tensor, args
        if self.wrap == "quantized":
            return torch._utils._rebuild_qtensor, args + (
                ("per_tensor", 0.5, 0), False, collections.OrderedDict())
        if self.wrap == "parameter":
            inner = Tensor(*args)
            return torch._utils._rebuild_parameter, (
                inner, True, collections.OrderedDict())
        return torch._utils._rebuild_tensor_v2, args + (
            False, collections.OrderedDict())

    def values(self):
        storage, first = self.storage, 0
        if isinstance(storage, Part):
            storage, first = storage.storage, storage.first
        at = [first + self.offset]
        for size, stride in zip(self.size, self.stride):
            at = [a + i * stride for a in at for i in range(size)]
        return [float(storage.values[a]) for a in at]


class Pickler(pickle.Pickler):
    def __init__(self, file, older, protocol=2):
        super().__init__(file, protocol)
        self.older = older
        self.storages = {}

    def persistent_id(self, obj):
        part = None
        if isinstance(obj, Part):
            part = ("part of " + obj.storage.key, obj.first, obj.n)
            obj = obj.storage
        if not isinstance(obj, Storage):
            return None
        self.storages[obj.key] = obj
        name = (
            "storage", getattr(torch, TYPES[obj.kind][0]), obj.key, "cpu",
            len(obj.values))
        return name + (part,) if self.older else name


def to_pickle(value, older, protocol=2):
    file = io.BytesIO()
    pickler = Pickler(file, older, protocol)
    pickler.dump(value)
    return file.getvalue(), pickler.storages


def write_zip(path, value, name="archive"):
    """PyTorch stores all entries and pads the data to 64 bytes."""
    data, storages = to_pickle(value, False)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as z:
        def add(entry, content):
            info = zipfile.ZipInfo(f"{name}/{entry}", (1980, 1, 1, 0, 0, 0))
            begin = z.fp.tell() + 30 + len(info.filename) + 4
            pad = -begin % 64
            info.extra = struct.pack("<HH", 0x4246, pad) + b"Z" * pad
            z.writestr(info, content)
        add("data.pkl", data)
        add("byteorder", b"little")
        for key, storage in storages.items():
            add(f"data/{key}", storage.bytes())
        add("version", b"3\n")


def write_older(path, value):
    data, storages = to_pickle(value, True)
    facts = {"protocol_version": 1001, "little_endian": True,
             "type_sizes": {"short": 2, "int": 4, "long": 4}}
    with open(path, "wb") as f:
        for head in (MAGIC, 1001, facts):
            f.write(pickle.dumps(head, 2))
        f.write(data)
        f.write(pickle.dumps(sorted(storages), 2))
        for key in sorted(storages):
            f.write(struct.pack("<q", len(storages[key].values)))
            f.write(storages[key].bytes())


def write_listing(path, tensors):
    listing = {}
    for name, t in tensors.items():
        storage = t.storage
        if isinstance(storage, Part):
            storage = storage.storage
        readable = storage.kind != "c64" and t.wrap != "quantized"
        listing[name] = {
            "shape": list(t.size) if t.wrap != "quantized" else [],
            "type": TYPES[storage.kind][2] if readable else "other",
            "values": t.values() if readable else []}
    with open(path, "w") as f:
        json.dump(listing, f, separators=(",", ":"))
        f.write("\n")


def samples():
    """All types, and all ways to look at a storage."""
    floats = [((i * 37) % 64 - 32) / 16 for i in range(24)]
    main = Storage("0", "f32", floats)
    of = {kind: Storage(str(i + 1), kind, values) for i, (kind, values) in
          enumerate((("f16", floats[:6]), ("bf16", floats[6:12]),
                     ("f64", [0.1, 1e30, -3]),
                     ("i64", [-1, 1 << 40, 7]), ("i32", [-1 << 31, 5]),
                     ("i16", [-1 << 15, 3]), ("i8", [-128, 127, 0]),
                     ("u8", [0, 255]), ("bool", [True, False]),
                     ("c64", [1, 2])))}
    result = collections.OrderedDict([
        ("matrix", Tensor(main, 0, (4, 6), (6, 1))),
        ("tied", Tensor(main, 0, (4, 6), (6, 1), "parameter")),
        ("rows", Tensor(main, 6, (2, 6), (6, 1))),
        ("columns", Tensor(main, 2, (4, 3), (6, 1))),
        ("transposed", Tensor(main, 0, (6, 4), (1, 6))),
        ("every_second", Tensor(main, 1, (12,), (2,))),
        ("diagonal", Tensor(main, 0, (4,), (7,))),
        ("expanded", Tensor(main, 3, (5, 2), (0, 1))),
        ("one_row", Tensor(main, 12, (1, 6), (1000000, 1))),
        ("scalar", Tensor(main, 23, (), ())),
        ("empty", Tensor(main, 24, (0, 6), (6, 1))),
        ("cube", Tensor(main, 0, (2, 3, 4), (12, 4, 1))),
        ("five", Tensor(main, 0, (1, 2, 1, 3, 4), (24, 12, 12, 4, 1))),
        ("quantized", Tensor(of["i8"], 0, (3,), (1,), "quantized")),
    ])
    for kind, storage in of.items():
        n = len(storage.values)
        result["type_" + kind] = Tensor(storage, 0, (n,), (1,))
    return result


class Config:
    """Stands for a class that does not exist when the file is read."""
    __module__, __qualname__ = "omegaconf.dictconfig", "DictConfig"


def fake_config():
    module = types.ModuleType("omegaconf.dictconfig")
    module.DictConfig = Config
    sys.modules["omegaconf"] = types.ModuleType("omegaconf")
    sys.modules["omegaconf.dictconfig"] = module
    config = Config()
    config._content = {"encoder_layers": 6, "counts":
                       collections.defaultdict(int, a=1)}
    return config


def checkpoint():
    floats = Storage("94000", "f32", [i / 4 for i in range(12)])
    steps = Storage("95000", "i64", [7])
    args = argparse.Namespace(arch="transformer_wmt_en_de_big", dropout=0.25,
                              encoder_attention_heads=16, data=None)
    model = collections.OrderedDict([
        ("encoder.embed_tokens.weight", Tensor(floats, 0, (3, 4), (4, 1))),
        ("part", Tensor(Part(floats, 4, 6), 1, (2, 2), (3, 1))),
        ("old", Tensor(floats, 2, (5,), (1,), "v1")),
    ])
    return {"args": args, "cfg": {"model": fake_config()}, "model": model,
            "optimizer_history": [{"best_loss": 2.5, "num_updates": 10}],
            "last": {"step": Tensor(steps, 0, (1,), (1,))}}


def values():
    loop = []
    loop.append(loop)
    pair = (1, "pair")
    return [
        None, True, False, 0, 255, 256, 65535, 65536, -1, -(1 << 31),
        (1 << 63) - 1, -(1 << 63), 1 << 63, -(1 << 63) - 1, 1 << 500,
        0.1, -1e300, "", "a", "ß\U0001F600", "x" * 300, b"", b"bytes\xff",
        b"z" * 300, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [1],
        [[], [[]]], {}, {"a": 1}, {"a": 1, 2: (3,), None: []}, {5}, set(),
        frozenset([6]), [pair, pair], loop,
        collections.OrderedDict([("x", 1), ("y", [2])]),
        argparse.Namespace(layers=6, name="n"), fake_config(), int, len]


def describe(v, protocol, depth=0):
    """The text that tests/unit/test_pickle.c makes of a value."""
    def each(items):
        return ",".join(describe(i, protocol, depth + 1) for i in items)

    builtins = "builtins" if protocol > 2 else "__builtin__"
    if depth > 3:
        return "..."
    if isinstance(v, bool) or v is None:
        return str(v)
    if isinstance(v, int):
        return str(v) if -(1 << 63) <= v < 1 << 63 else "builtins.int"
    if isinstance(v, float):
        return "%.17g" % v
    if isinstance(v, str):
        return f"'{v}'"
    if isinstance(v, bytes):
        if protocol == 2:
            if not v:
                return f"{builtins}.bytes()"
            return f"_codecs.encode('{v.decode('latin1')}','latin1')"
        try:
            return f"'{v.decode()}'"
        except UnicodeDecodeError:
            return "bytes"
    if isinstance(v, tuple):
        return f"({each(v)})"
    if isinstance(v, list):
        return f"[{each(v)}]"
    if isinstance(v, (set, frozenset)):
        if protocol < 4:
            return f"{builtins}.{type(v).__name__}([{each(v)}])"
        return "{" + each(v) + "}"
    if isinstance(v, collections.defaultdict):
        of = describe(int, protocol, depth + 1)
        return f"collections.defaultdict({of})"
    if isinstance(v, dict):
        return "{" + ",".join(
            f"{describe(k, protocol, depth + 1)}:"
            f"{describe(x, protocol, depth + 1)}" for k, x in v.items()) + "}"
    if v is int and protocol == 2:
        return "__builtin__.long"
    if isinstance(v, type) or callable(v):
        return f"{builtins}.{v.__name__}"
    name = f"{type(v).__module__}.{type(v).__qualname__}"
    return f"{name}(){describe(v.__dict__, protocol, depth + 1)}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)

    def path(name):
        return os.path.join(folder, name)

    tensors = samples()
    write_zip(path("zip.pt"), tensors)
    write_older(path("older.pt"), tensors)
    for name in "zip", "older":
        write_listing(path(name + ".json"), tensors)
    write_older(path("checkpoint.pt"), checkpoint())
    write_listing(path("checkpoint.json"), checkpoint()["model"])
    for protocol in 2, 3, 4:
        with open(path(f"values_{protocol}.pkl"), "wb") as f:
            f.write(pickle.dumps(values(), protocol))
        with open(path(f"values_{protocol}.txt"), "w") as f:
            for v in values():
                f.write(describe(v, protocol) + "\n")


if __name__ == "__main__":
    main()
