#!/usr/bin/python3
"""ctypes_demo.py - use the library from Python, with only the standard library.

    python3 ctypes_demo.py build/libskmt.so models/de-en.skmt 'Guten Morgen!'
"""
import ctypes
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 500),
                ("reserved", ctypes.c_int32 * 2)]


class Translator:
    def __init__(self, library, model):
        self.lib = ctypes.CDLL(library)
        self.lib.skmt_translate.restype = ctypes.c_void_p
        self.lib.skmt_translate.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Error)]
        self.lib.skmt_free.argtypes = [ctypes.c_void_p]
        self.lib.skmt_model_close.argtypes = [ctypes.c_void_p]
        self.err = Error()
        self.model = ctypes.c_void_p()
        if self.lib.skmt_model_open(ctypes.byref(self.model), model.encode(),
                                    ctypes.byref(self.err)):
            raise OSError(self.err.message.decode())

    def __call__(self, text):
        out = self.lib.skmt_translate(self.model, text.encode(),
                                      ctypes.byref(self.err))
        if not out:
            raise ValueError(self.err.message.decode())
        try:
            return ctypes.string_at(out).decode()
        finally:
            self.lib.skmt_free(out)

    def close(self):
        self.lib.skmt_model_close(self.model)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    translate = Translator(sys.argv[1], sys.argv[2])
    for text in sys.argv[3:]:
        print(translate(text))
    translate.close()
