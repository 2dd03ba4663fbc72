#!/usr/bin/env python3
"""Copies the public headers, and those they include, to a folder that can be installed.

Usage: install_headers.py SRC_DIR LIST OUT_DIR

LIST names the public headers, one a line (# begins a comment). In the copies `#include "vt/screen.h"`
becomes `#include "ttyward/vt/screen.h"`: beside other people's headers, "base/result.h" could be anybody's.
"""
import os
import re
import shutil
import sys

INCLUDE = re.compile(r'^(\s*#\s*include\s+)"([^"]+)"', re.MULTILINE)


def public_headers(path):
    with open(path, encoding="utf-8") as f:
        return [line.split("#")[0].strip() for line in f if line.split("#")[0].strip()]


def main(src, names, out):
    shutil.rmtree(out, ignore_errors=True)
    todo, done = public_headers(names), set()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        with open(os.path.join(src, name), encoding="utf-8") as f:
            text = f.read()
        todo += [found[1] for found in INCLUDE.findall(text)]
        target = os.path.join(out, "ttyward", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as f:
            f.write(INCLUDE.sub(r'\1"ttyward/\2"', text))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
