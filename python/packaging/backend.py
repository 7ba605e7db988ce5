"""backend.py - makes the wheel of the Python package, for pip.

The wheel contains libskmt.so ($SKMT_LIBRARY, or build/libskmt.so of the source
tree) and the models of the source tree. So it is for the kind of machine that
built the library. Settings (pip install --config-settings NAME=VALUE):

    library    the library to put in the wheel; "none": no library, the package
               then uses the installed one
    model      a model file to put in the wheel instead; "none": no model

This is a backend as described in PEP 517 and PEP 660. It uses the standard
library only.
"""
import base64
import hashlib
import io
import os
import re
import sysconfig
import tarfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.dirname(HERE)
PACKAGE = os.path.join(HERE, "skmt")


def version():
    with open(os.path.join(PACKAGE, "__init__.py"), encoding="utf-8") as f:
        return re.search(r'^__version__ = "(.*)"', f.read(), re.M).group(1)


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as f:
        readme = f.read()
    return f"""Metadata-Version: 2.1
Name: skmt
Version: {version()}
Summary: Machine translation that uses a translation memory immediately
License: MIT
Requires-Python: >=3.9
Provides-Extra: arrays
Requires-Dist: numpy; extra == 'arrays'
Description-Content-Type: text/markdown

{readme}"""


# ---- what is in the wheel


def library_file(settings):
    name = settings.get("library") or os.environ.get("SKMT_LIBRARY") or \
        os.path.join(os.environ.get("BUILD") or os.path.join(TREE, "build"),
                     "libskmt.so")
    if name == "none":
        return None
    if not os.path.exists(name):
        raise FileNotFoundError(
            f"{name} does not exist: run 'make' first, or set SKMT_LIBRARY to "
            "the name of libskmt.so; --config-settings library=none makes a "
            "package that uses the installed library")
    return name


def model_files(settings):
    name = settings.get("model")
    if name:
        return [] if name == "none" else [name]
    folder = os.path.join(TREE, "models")
    if not os.path.isdir(folder):
        return []
    return [os.path.join(folder, n) for n in sorted(os.listdir(folder))
            if n.endswith(".skmt")]


def package_files():
    """The files of the package: pairs of the name in the wheel and the file."""
    for name in sorted(os.listdir(PACKAGE)):
        if name.endswith(".py") or name == "py.typed":
            yield "skmt/" + name, os.path.join(PACKAGE, name)


class Wheel:
    def __init__(self, folder, tag):
        self.info = f"skmt-{version()}.dist-info"
        self.name = f"skmt-{version()}-{tag}.whl"
        self.tag = tag
        self.records = []
        self.zip = zipfile.ZipFile(os.path.join(folder, self.name), "w")

    def add(self, name, content):
        # A fixed time, so that the same files give the same wheel.
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        mode = 0o755 if name.endswith(".so") else 0o644
        entry.external_attr = (0o100000 | mode) << 16
        # The weights of a model cannot be compressed.
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(".skmt") \
            else zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = hashlib.sha256(content).digest()
        hashed = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={hashed},{len(content)}")

    def add_file(self, name, path):
        with open(path, "rb") as f:
            self.add(name, f.read())

    def finish(self):
        pure = str(self.tag.endswith("any")).lower()
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/WHEEL", (
            f"Wheel-Version: 1.0\nGenerator: skmt\nRoot-Is-Purelib: {pure}\n"
            f"Tag: {self.tag}\n").encode())
        license_file = os.path.join(TREE, "LICENSE")
        if os.path.exists(license_file):
            self.add_file(f"{self.info}/LICENSE", license_file)
        self.records.append(f"{self.info}/RECORD,,")
        self.zip.writestr(f"{self.info}/RECORD",
                          "\n".join(self.records) + "\n")
        self.zip.close()
        return self.name


def platform_tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


# ---- what pip calls


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    settings = config_settings or {}
    library = library_file(settings)
    models = model_files(settings)
    wheel = Wheel(wheel_directory,
                  platform_tag() if library else "py3-none-any")
    for name, path in package_files():
        wheel.add_file(name, path)
    if library:
        wheel.add_file("skmt/_native/libskmt.so", library)
    for path in models:
        wheel.add_file("skmt/_native/" + os.path.basename(path), path)
    return wheel.finish()


def build_editable(wheel_directory, config_settings=None,
                   metadata_directory=None):
    wheel = Wheel(wheel_directory, "py3-none-any")
    wheel.add("skmt.pth", (HERE + "\n").encode())
    return wheel.finish()


def build_sdist(sdist_directory, config_settings=None):
    base = f"skmt-{version()}"
    name = base + ".tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as tar:
        for path in "pyproject.toml", "README.md", "skmt", "packaging":
            tar.add(os.path.join(HERE, path), f"{base}/{path}",
                    filter=lambda t: None if "__pycache__" in t.name else t)
        content = metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return name
