#!/usr/bin/env python3
"""Check that #include arrows point down only.

Usage: check_layers.py SRC_DIR.  The table below is the architecture: a module
may include itself, what it lists, and nothing else.  An entry that no file uses
is an error, too: the table says what is, not what was once planned.  Exit status
1 names every file, and every entry, that breaks this.
"""
import os
import re
import sys

ALLOWED = {
    "base": [],
    "io": ["base"],
    "telemetry": ["base"],
    "vt": ["base"],
    "record": ["base", "vt"],
    "wire": ["base"],
    "journal": ["base"],
    "sandbox": ["base"],
    "pty": ["base", "sandbox"],
    "changes": ["base"],
    "proxy": ["base", "io"],
    "place": ["base", "pty"],
    "hold": ["base", "io", "journal", "sandbox", "pty"],
    "relay": ["base", "io", "journal", "pty", "place", "hold"],
    "shell": ["base", "vt"],
    "config": ["base"],
    "syntax": ["base"],
    "policy": ["base", "syntax"],
    "store": ["base"],
    "gate": ["base", "io", "shell", "policy", "config"],
    "digest": ["base"],
    "terminal": ["base", "vt", "pty", "digest"],
    "command": ["base", "io", "journal", "pty", "place", "hold", "shell", "terminal", "syntax"],
    "engine": ["base", "io", "vt", "journal", "sandbox", "proxy", "pty", "place", "hold", "relay", "shell", "terminal", "command", "syntax", "policy", "gate"],
    "capi": ["vt", "policy", "command"],
    "client": ["base", "io", "wire"],
    "rpc": ["base", "io"],
    "http": ["base", "io"],
    "mcp": ["base", "io", "wire", "client", "rpc", "http"],
    "acp": ["base", "io", "vt", "wire", "pty", "client", "rpc"],
    "panel": ["base", "io", "wire", "sandbox", "client", "rpc", "http"],
    "app": ["base", "io", "vt", "wire/types", "changes", "proxy", "sandbox", "pty", "place", "relay", "shell", "terminal", "digest", "command", "policy", "gate", "engine", "store", "config", "telemetry"],
    "daemon": ["base", "io", "place", "wire", "app"],
    "fleet": ["base", "io", "wire", "client"],
    "cli": ["base", "io", "vt", "wire", "changes", "proxy", "journal", "sandbox", "pty", "place", "hold", "relay", "shell", "terminal", "digest", "command", "policy", "gate",
            "store", "config", "client", "app", "daemon", "rpc", "mcp", "acp", "panel", "fleet/invocation", "record"],
}
# The types of the protocol are for everybody above them, so they know no JSON library.
NO_JSON = ["wire/types", "app"]
# What looks at processes by itself. Above these modules everybody asks a terminal's place.
PROC = ["pty/proc.h", "pty/process_tree.h", "pty/listening_ports.h", "pty/program_kind.h"]
READS_PROC = ["pty", "place", "hold", "relay"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
JSON = re.compile(r"^\s*#\s*include\s+<boost/json")


def allowed(module, include):
    """Whether the table has the included file's folder, or a subfolder of it that holds the file."""
    return any(include.startswith(entry + "/") for entry in ALLOWED[module])


def sources(src):
    for folder, _, names in os.walk(src):
        for name in names:
            if name.endswith((".h", ".cc", ".inc")):
                yield folder, name


def violations(src):
    used = set()
    for folder, name in sources(src):
        path = os.path.join(folder, name)
        module = os.path.relpath(path, src).split(os.sep)[0]
        if module not in ALLOWED:
            yield f"{path}: module '{module}' is not in the layer table"
            continue
        inside = os.path.relpath(folder, src)
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if JSON.match(line) and inside in NO_JSON and not name.endswith("_test.cc"):
                    yield f"{path}:{number}: no JSON library here"
                found = INCLUDE.match(line)
                if not found:
                    continue
                target = found.group(1).split("/")[0]
                used.update((module, entry) for entry in ALLOWED[module] if found.group(1).startswith(entry + "/"))
                if found.group(1) in PROC and module not in READS_PROC and not name.endswith("_test.cc"):
                    yield f"{path}:{number}: ask the terminal's place (place/place.h) instead of {found.group(1)}"
                if "/" not in found.group(1):
                    yield f"{path}:{number}: include from the source root: {found.group(1)}"
                elif target != module and not allowed(module, found.group(1)):
                    yield f"{path}:{number}: '{module}' must not include '{found.group(1)}'"
                elif inside == "wire/types" and target == "wire" and not found.group(1).startswith(inside) \
                        and not name.endswith("_test.cc"):
                    yield f"{path}:{number}: wire/types must not include the rest of wire"
    for module, entries in ALLOWED.items():
        for entry in entries:
            if (module, entry) not in used:
                yield f"tools/check_layers.py: '{module}' lists '{entry}', and no file of it includes that: take it out"


def main():
    found = list(violations(sys.argv[1]))
    print("\n".join(found) if found else "layers are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
