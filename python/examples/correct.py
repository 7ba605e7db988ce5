#!/usr/bin/env python3
"""correct.py - a correction changes the next translation.

    python3 correct.py
"""
import os
import tempfile

import skmt

FIRST = "Die Schaltfläche Speichern ist ausgegraut."
NEXT = "Die Schaltfläche Drucken ist ausgegraut."


def main():
    model = skmt.Model()
    with tempfile.TemporaryDirectory() as folder, \
            skmt.Memory(os.path.join(folder, "my.tm")) as memory, \
            model.session(memory=memory) as session:
        print("before:   ", session.translate(NEXT))
        session.correct(FIRST, "The Save push button is dimmed.")
        print("corrected:", session.translate(FIRST))
        print("after:    ", session.translate(NEXT))
        for match in memory.search(NEXT, model=model):
            print(f"because {match.similarity:.0%} of it is known:",
                  "".join({"=": "", "-": "-", "+": "+"}[d.kind] + d.text
                          for d in match.differences))


if __name__ == "__main__":
    main()
