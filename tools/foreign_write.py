"""Writers for the files of other projects: zip, npz, safetensors, PyTorch,
CTranslate2, vocabularies.

Each writer follows the format as ../shared/docs/foreign-models.md describes it,
and shares no code with the readers in foreign_read.py or with skmt. Arrays are
numpy arrays. The same input gives the same bytes.
"""
import collections
import contextlib
import io
import json
import os
import pickle
import struct
import sys
import types
import zlib

import numpy as np


def write_bytes(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def write_text(path, text):
    write_bytes(path, text.encode())


def write_json(path, value):
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


# ---- zip -----------------------------------------------------------------

def zip_bytes(entries, deflate=False, align=0, zip64_end=False,
              descriptors=False):
    """A zip archive of (name, bytes) pairs.

    align        the data begin at a multiple of it, by padding in an extra
                 field, as PyTorch does
    zip64_end    write the end records of ZIP64 although they are not needed
    descriptors  sizes and checksum stand behind the data, and the local
                 headers have zeros (flag bit 3)
    """
    out, directory = bytearray(), bytearray()
    for name, data in entries:
        raw, method = data, 0
        if deflate:
            c = zlib.compressobj(9, zlib.DEFLATED, -15)
            raw, method = c.compress(data) + c.flush(), 8
        flags = (8 if descriptors else 0) | (0 if name.isascii() else 0x800)
        crc, at = zlib.crc32(data), len(out)
        extra = b""
        if align:
            begin = at + 30 + len(name.encode()) + 4
            n = -begin % align
            extra = struct.pack("<HH", 0x4246, n) + b"Z" * n
        sizes = (crc, len(raw), len(data))
        out += struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, flags, method, 0,
                           33, *((0, 0, 0) if descriptors else sizes),
                           len(name.encode()), len(extra))
        out += name.encode() + extra + raw
        if descriptors:
            out += struct.pack("<IIII", 0x08074b50, *sizes)
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20,
                                 flags, method, 0, 33, *sizes,
                                 len(name.encode()), 0, 0, 0, 0, 0, at)
        directory += name.encode()
    begin, n = len(out), len(entries)
    out += directory
    if zip64_end:
        end = len(out)
        out += struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, n, n,
                           len(directory), begin)
        out += struct.pack("<IIQI", 0x07064b50, 0, end, 1)
    out += struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, n, n, len(directory),
                       begin, 0)
    return bytes(out)


def zip_folder(folder, path, prefix="", **options):
    """Write the files of a folder as a zip archive."""
    entries = []
    for root, dirs, names in os.walk(folder):
        dirs.sort()
        for name in sorted(names):
            full = os.path.join(root, name)
            with open(full, "rb") as f:
                entries.append((prefix + os.path.relpath(full, folder),
                                f.read()))
    write_bytes(path, zip_bytes(entries, **options))


# ---- npy, npz --------------------------------------------------------------

def npy_bytes(array):
    kind = {"float32": "<f4", "float16": "<f2", "float64": "<f8",
            "int8": "<i1"}[array.dtype.name]
    shape = "(" + ", ".join(str(n) for n in array.shape)
    shape += ",)" if array.ndim == 1 else ")"
    head = (f"{{'descr': '{kind}', 'fortran_order': False, "
            f"'shape': {shape}, }}")
    head += " " * (-(len(head) + 11) % 16) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
            head.encode() + np.ascontiguousarray(array).tobytes())


def npz_bytes(arrays, **options):
    return zip_bytes([(name + ".npy", npy_bytes(a))
                      for name, a in arrays.items()], **options)


# ---- .bin of Marian --------------------------------------------------------

def marian_bin_bytes(arrays, intgemm=None):
    """intgemm: 8 or 16, to store matrices as integers with a factor each.
    These are transposed, except tables of embeddings."""
    heads, names, shapes, bodies = b"", b"", b"", b""
    for name, a in arrays.items():
        raw = np.ascontiguousarray(a).tobytes()
        kind = {"float32": 0x404, "float16": 0x402, "int8": 0x101}[a.dtype.name]
        if intgemm and a.ndim == 2 and a.shape[0] > 1:
            most = 127 if intgemm == 8 else 32767
            m = np.float32(most / np.abs(a).max())
            q = np.rint(a * m).astype(f"<i{intgemm // 8}")
            raw = np.ascontiguousarray(q if "Wemb" in name else q.T).tobytes()
            raw += np.array([m], "<f4").tobytes()
            kind = 0x4100 + intgemm // 8
        raw += b"\0" * (-len(raw) % 256)
        heads += struct.pack("<4Q", len(name) + 1, kind, a.ndim, len(raw))
        names += name.encode() + b"\0"
        shapes += struct.pack(f"<{a.ndim}i", *a.shape)
        bodies += raw
    out = struct.pack("<QQ", 1, len(arrays)) + heads + names + shapes
    pad = 256 - (len(out) + 8) % 256
    return out + struct.pack("<Q", pad) + b"\0" * pad + bodies


# ---- safetensors -----------------------------------------------------------

def bf16_words(array):
    """The upper halves of floats, rounded to the nearest even."""
    u = np.ascontiguousarray(array, "<f4").view("<u4").astype(np.uint64)
    return ((u + 0x7fff + (u >> 16 & 1)) >> 16).astype("<u2")


def write_safetensors(path, arrays, dtype="float32", metadata=None):
    """dtype is that of the floating-point arrays; others keep theirs."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, a in arrays.items():
        if a.dtype.kind != "f":
            kind, raw = {"int64": "I64"}[a.dtype.name], a.tobytes()
        elif dtype == "bfloat16":
            kind, raw = "BF16", bf16_words(a).tobytes()
        else:
            kind = {"float32": "F32", "float16": "F16"}[dtype]
            raw = np.ascontiguousarray(a, dtype).tobytes()
        header[name] = {"dtype": kind, "shape": list(a.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    write_bytes(path, struct.pack("<Q", len(head)) + head + data)


# ---- PyTorch ---------------------------------------------------------------

class Storage:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array).reshape(-1)
        self.key = None


class Tensor:
    """A view of a storage, as torch.save() writes it."""

    def __init__(self, storage, offset, size, stride):
        self.storage, self.offset = storage, offset
        self.size, self.stride = tuple(size), tuple(stride)

    @classmethod
    def of(cls, array):
        stride, n = [], 1
        for size in reversed(array.shape):
            stride.insert(0, n)
            n *= size
        return cls(Storage(array), 0, array.shape, stride)

    @classmethod
    def transposed(cls, array):
        """A matrix that is stored column by column."""
        return cls(Storage(array.T), 0, array.shape, (1, array.shape[0]))

    def rows(self, begin, n):
        """Rows [begin, begin + n) as a view of the same storage."""
        return Tensor(self.storage, self.offset + begin * self.stride[0],
                      (n,) + self.size[1:], self.stride)

    def __reduce__(self):
        return (sys.modules["torch._utils"]._rebuild_tensor_v2,
                (self.storage, self.offset, self.size, self.stride, False,
                 collections.OrderedDict()))


class Parameter:
    """A tensor in torch.nn.Parameter."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        return (sys.modules["torch._utils"]._rebuild_parameter,
                (self.tensor, True, collections.OrderedDict()))


NAMED = {}


def named_object(module, name, fields):
    """An object of a class that need not exist, with these fields."""
    cls = NAMED.get((module, name))
    if not cls:
        cls = type(name, (), {"__module__": module, "__qualname__": name})
        NAMED[module, name] = cls
    value = cls()
    value.__dict__.update(fields)
    return value


STORAGE_CLASSES = {"float32": "FloatStorage", "float16": "HalfStorage",
                   "float64": "DoubleStorage", "int64": "LongStorage",
                   "uint16": "BFloat16Storage"}


@contextlib.contextmanager
def torch_names():
    """Modules with the names that a pickle of PyTorch refers to. Only their
    names are used."""
    def rebuild_tensor(*_):
        raise NotImplementedError

    def rebuild_parameter(*_):
        raise NotImplementedError
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for f, name in ((rebuild_tensor, "_rebuild_tensor_v2"),
                    (rebuild_parameter, "_rebuild_parameter")):
        f.__name__ = f.__qualname__ = name
        f.__module__ = "torch._utils"
        setattr(utils, name, f)
    for name in STORAGE_CLASSES.values():
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    torch._utils = utils
    modules = {"torch": torch, "torch._utils": utils}
    for (module, name), cls in NAMED.items():
        modules.setdefault(module.split(".")[0], types.ModuleType("package"))
        modules.setdefault(module, types.ModuleType(module))
        setattr(modules[module], name, cls)
    saved = {n: sys.modules.get(n) for n in modules}
    sys.modules.update(modules)
    try:
        yield torch
    finally:
        for name, module in saved.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def torch_pickle(value, storages, legacy, protocol=2):
    """The pickle of a value. The storages that it refers to are added to the
    list."""
    out = io.BytesIO()
    with torch_names() as torch:
        class Pickler(pickle.Pickler):
            def persistent_id(self, obj):
                if not isinstance(obj, Storage):
                    return None
                if obj.key is None:
                    obj.key = str(len(storages) + (93827 if legacy else 0))
                    storages.append(obj)
                kind = STORAGE_CLASSES[obj.array.dtype.name]
                id_ = ("storage", getattr(torch, kind), obj.key, "cpu",
                       obj.array.size)
                return id_ + (None,) if legacy else id_
        Pickler(out, protocol).dump(value)
    return out.getvalue()


def torch_zip_bytes(value, folder="archive", protocol=2, descriptors=False):
    storages = []
    data = torch_pickle(value, storages, False, protocol)
    entries = [(folder + "/data.pkl", data),
               (folder + "/byteorder", b"little")]
    entries += [(f"{folder}/data/{s.key}", s.array.tobytes())
                for s in storages]
    entries += [(folder + "/version", b"3\n")]
    return zip_bytes(entries, align=64, zip64_end=True,
                     descriptors=descriptors)


def torch_legacy_bytes(value):
    storages = []
    body = torch_pickle(value, storages, True)
    keys = sorted(s.key for s in storages)
    by_key = {s.key: s for s in storages}
    facts = {"protocol_version": 1001, "little_endian": True,
             "type_sizes": {"short": 2, "int": 4, "long": 4}}
    out = b"".join(pickle.dumps(x, 2) for x in
                   (0x1950a86a20f9469cfc6c, 1001, facts))
    out += body + pickle.dumps(keys, 2)
    for key in keys:
        a = by_key[key].array
        out += struct.pack("<q", a.size) + a.tobytes()
    return out


# ---- CTranslate2 -------------------------------------------------------------

CT2_TYPES = {"float32": (0, 4), "int8": (1, 1), "int16": (2, 2),
             "int32": (3, 4), "float16": (4, 2), "uint16": (5, 2)}


def ct2_string(text):
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw


def ct2_bytes(version, spec, revision, variables, aliases=()):
    """variables: name -> array; bfloat16 is uint16. Before version 3 there are
    no aliases, and the variable is written once more under the other name."""
    variables = dict(variables)
    if version < 3:
        for alias, name in aliases:
            variables[alias] = variables[name]
            if name + "_scale" in variables:
                variables[alias + "_scale"] = variables[name + "_scale"]
    out = struct.pack("<I", version) + ct2_string(spec)
    out += struct.pack("<II", revision, len(variables))
    for name, a in variables.items():
        a = np.asarray(a)
        code, size = CT2_TYPES[a.dtype.name]
        out += ct2_string(name) + struct.pack("<B", a.ndim)
        out += b"".join(struct.pack("<I", n) for n in a.shape)
        if version >= 4:
            out += struct.pack("<BI", code, a.nbytes)
        else:
            out += struct.pack("<BI", size, a.size)
        out += a.tobytes()
    if version >= 3:
        out += struct.pack("<I", len(aliases))
        for alias, name in aliases:
            out += ct2_string(alias) + ct2_string(name)
    return out


def ct2_compress(variables, kind, version):
    """Store the variables as float32, float16, bfloat16, int16 or int8."""
    out = {}
    for name, a in variables.items():
        if a.dtype != np.float32 or a.ndim == 0:
            out[name] = a
        elif kind == "float16":
            out[name] = a.astype("<f2")
        elif kind == "bfloat16":
            out[name] = bf16_words(a)
        elif kind == "int8" and name.endswith("/weight"):
            top = np.abs(a).max(1)
            scale = np.float32(127) / np.where(top == 0, np.float32(127), top)
            x = a * scale[:, None]
            # Before version 5 values were cut, since then they are rounded.
            x = np.rint(x) if version >= 5 else np.trunc(x)
            out[name] = x.astype(np.int8)
            out[name + "_scale"] = scale.astype("<f4")
        elif kind == "int16" and name.endswith("/weight"):
            scale = np.float32(1023 / np.abs(a).max())
            out[name] = np.rint(a * scale).astype("<i2")
            out[name + "_scale"] = scale
        else:
            out[name] = a
    return out


# ---- vocabularies ------------------------------------------------------------

def yaml_key(piece, i):
    """A key in one of the styles that YAML writers use, by turns."""
    plain = piece.replace("\u2581", "").isalnum() and piece.isprintable()
    style = i % 4
    if style == 0 and plain:
        return piece
    if style == 1 and "\n" not in piece:
        return "'" + piece.replace("'", "''") + "'"
    if style == 2:
        return '"' + "".join(
            c if 32 < ord(c) < 127 and c not in '"\\' else
            f"\\x{ord(c):02x}" if ord(c) < 256 else
            f"\\u{ord(c):04x}" if ord(c) < 65536 else
            f"\\U{ord(c):08x}" if c not in '"\\' else "\\" + c
            for c in piece) + '"'
    return '"' + piece.replace("\\", "\\\\").replace('"', '\\"') + '"'


def yaml_vocabulary(pieces, quoted=False):
    """piece: id. `quoted` puts every key in double quotes, as the newer tools
    of OPUS-MT do."""
    out = []
    for i, piece in enumerate(pieces):
        key = yaml_key(piece, 3 if quoted else i)
        out.append(f"? {key}\n: {i}" if i % 17 == 5 and not quoted
                   else f"{key}: {i}")
    return "\n".join(out) + "\n"
