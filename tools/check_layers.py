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
    "command": ["base", "io", "vt", "journal", "pty", "hold", "shell", "terminal"],
    "engine": ["base", "io", "vt", "journal", "pty", "hold", "shell", "terminal", "command", "syntax", "policy", "sandbox", "store", "config"],
    "client": ["base", "io", "wire"],
    "rpc": ["base", "io"],
    "http": ["base", "io"],
    "mcp": ["base", "io", "wire", "client", "rpc", "http"],
    "acp": ["base", "io", "wire", "client", "rpc"],
    "web": ["base", "io", "wire", "engine"],
    "daemon": ["base", "io", "vt", "wire", "pty", "shell", "terminal", "command", "syntax", "policy", "engine", "store", "config", "web",
               "mcp"],
    "cli": ["base", "io", "vt", "wire", "journal", "pty", "hold", "shell", "terminal", "command", "syntax", "policy", "store", "config",
            "engine", "client", "daemon", "mcp", "acp"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


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
                for number, line in enumerate(f, 1):
                    found = INCLUDE.match(line)
                    if not found:
                        continue
                    target = found.group(1).split("/")[0]
                    if "/" not in found.group(1):
                        yield f"{path}:{number}: include from the source root: {found.group(1)}"
                    elif target != module and target not in ALLOWED[module]:
                        yield f"{path}:{number}: '{module}' must not include '{target}'"


def main():
    found = list(violations(sys.argv[1]))
    print("\n".join(found) if found else "layers are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
