#!/usr/bin/env python3
"""Check that #include arrows point down only.

Usage: check_layers.py SRC_DIR.  The table below is the architecture: a module
may include itself, what it lists, and nothing else.  Exit status 1 names every
file that breaks it.
"""
import os
import re
import sys

ALLOWED = {
    "base": [],
    "io": ["base"],
    "vt": ["base"],
    "wire": ["base"],
    "journal": ["base"],
    "pty": ["base", "io"],
    "hold": ["base", "io", "journal", "pty"],
    "shell": ["base", "vt"],
    "config": ["base"],
    "syntax": ["base"],
    "policy": ["base", "syntax"],
    "sandbox": ["base"],
    "store": ["base"],
    "terminal": ["base", "vt", "pty"],
    "command": ["base", "io", "vt", "journal", "pty", "hold", "shell", "terminal", "syntax"],
    "engine": ["base", "io", "vt", "journal", "pty", "hold", "shell", "terminal", "command", "syntax", "policy", "sandbox", "store", "config"],
    "client": ["base", "io", "wire"],
    "rpc": ["base", "io"],
    "http": ["base", "io"],
    "mcp": ["base", "io", "wire", "client", "rpc", "http"],
    "acp": ["base", "io", "wire", "client", "rpc"],
    "web": ["base", "io", "wire", "engine"],
    "app": ["base", "io", "vt", "wire/types", "pty", "shell", "terminal", "command", "policy", "engine", "store", "config"],
    "daemon": ["base", "io", "pty", "wire", "engine", "app"],
    "cli": ["base", "io", "vt", "wire", "journal", "pty", "hold", "shell", "terminal", "command", "syntax", "policy", "store",
            "config", "engine", "client", "app", "daemon", "mcp", "acp"],
}
# The types of the protocol are for everybody above them, so they know no JSON library.
NO_JSON = ["wire/types", "app"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
JSON = re.compile(r"^\s*#\s*include\s+<boost/json")


def allowed(module, include):
    """Whether the table has the included file's folder, or a subfolder of it that holds the file."""
    return any(include.startswith(entry + "/") for entry in ALLOWED[module])


def violations(src):
    for folder, _, names in os.walk(src):
        for name in names:
            if not name.endswith((".h", ".cc", ".inc")):
                continue
            path = os.path.join(folder, name)
            module = os.path.relpath(path, src).split(os.sep)[0]
            if module not in ALLOWED:
                yield f"{path}: module '{module}' is not in the layer table"
                continue
            with open(path, encoding="utf-8") as f:
                inside = os.path.relpath(folder, src)
                for number, line in enumerate(f, 1):
                    if JSON.match(line) and inside in NO_JSON and not name.endswith("_test.cc"):
                        yield f"{path}:{number}: no JSON library here"
                    found = INCLUDE.match(line)
                    if not found:
                        continue
                    target = found.group(1).split("/")[0]
                    if "/" not in found.group(1):
                        yield f"{path}:{number}: include from the source root: {found.group(1)}"
                    elif target != module and not allowed(module, found.group(1)):
                        yield f"{path}:{number}: '{module}' must not include '{found.group(1)}'"
                    elif inside == "wire/types" and target == "wire" and not found.group(1).startswith(inside) \
                            and not name.endswith("_test.cc"):
                        yield f"{path}:{number}: wire/types must not include the rest of wire"


def main():
    found = list(violations(sys.argv[1]))
    print("\n".join(found) if found else "layers are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
