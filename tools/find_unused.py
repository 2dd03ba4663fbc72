#!/usr/bin/env python3
"""List functions that no production object refers to: only tests call them, or nobody does.

Usage: find_unused.py BUILD_DIR.  Reads the object files of a finished build without link-time
optimisation. A function counts as used if another production function, in its own file or another,
refers to it; virtual functions are referred to by their tables. Headers that are promised to users
of the library (packaging/library/public_headers.txt) are not known here: look before you remove.
"""
import json
import os
import re
import subprocess
import sys

TEST = re.compile(r"(_tests?\.dir|_test\.cc|/tests/|/bench/|/fuzz/|testing)")
SYMBOL = re.compile(r"_ZNK?7ttyward")
MADE = re.compile(r"[CD][0-2]E")  # constructors and destructors have several names


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def objects(build):
    """Those of the last configuration: files that are gone leave objects behind."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        for entry in json.load(f):
            path = os.path.join(entry["directory"], re.search(r" -o (\S+)", entry["command"]).group(1))
            if os.path.exists(path) and not TEST.search(path):
                yield path


def main():
    defined, used = {}, set()
    for path in objects(sys.argv[1]):
        for line in run("nm", path).splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] == "T" and SYMBOL.match(fields[2]) and not MADE.search(fields[2]):
                defined[fields[2]] = path
        # A symbol whose function refers to itself alone is used by nobody: relocations are told by section,
        # so recursion counts as a use here. That is rare enough.
        for line in run("readelf", "-rW", path).splitlines():
            fields = line.split()
            if len(fields) >= 5 and SYMBOL.match(fields[4]):
                used.add(fields[4].split("@")[0])
    unused = sorted((defined[name], name) for name in defined if name not in used)
    for path, name in unused:
        source = os.path.relpath(path, sys.argv[1]).replace("CMakeFiles/", "")
        print(f"{re.sub(r'/?[a-z_-]+.dir', '', source)[:-2]}: {run('c++filt', name).strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
