#!/usr/bin/env python3
"""Turn the built page into one C++ file: make_panel_assets.py DIST OUTPUT.

Files become string literals of their gzip bytes, which compile fast. Without DIST/index.html the tables are empty.
"""
import gzip
import hashlib
import os
import sys

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
         ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json"}
HEAD = """// Made by tools/make_panel_assets.py.
#include "panel/assets.h"

namespace ttyward::panel {
namespace {

"""
TAIL = """
}  // namespace

std::span<const Asset> assets() {
  return kAssets;
}

const Asset* find_asset(std::string_view path) {
  for (const Asset& each : assets()) {
    if (each.path == path) return &each;
  }
  return nullptr;
}

std::string_view page_template() {
  return kPage;
}

}  // namespace ttyward::panel
"""


def literal(data):
    lines = []
    for at in range(0, len(data), 64):
        lines.append('"' + "".join(f"\\{byte:03o}" for byte in data[at:at + 64]) + '"')
    return "\n".join(lines) or '""'


def files_below(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            yield "/" + os.path.relpath(path, folder), path


def main():
    folder, output = sys.argv[1:3]
    page = b""
    rows = []
    text = HEAD
    for name, path in sorted(files_below(folder)) if os.path.isdir(folder) else []:
        with open(path, "rb") as f:
            data = f.read()
        if name == "/index.html":
            page = data
            continue
        kind = TYPES.get(os.path.splitext(name)[1])
        if kind is None:
            continue
        packed = gzip.compress(data, 9, mtime=0)
        text += f"constexpr char k{len(rows)}[] =\n{literal(packed)};\n"
        etag = hashlib.sha256(data).hexdigest()[:20]
        rows.append(f'    {{"{name}", "{kind}", "{etag}", {{k{len(rows)}, {len(packed)}}}}},\n')
    if not page:
        text += "constexpr std::span<const Asset> kAssets;\n"
    else:
        text += "constexpr Asset kAssets[] = {\n" + "".join(rows) + "};\n"
    text += f"constexpr char kPageBytes[] =\n{literal(page)};\nconstexpr std::string_view kPage(kPageBytes, {len(page)});\n"
    text += TAIL
    with open(output, "w", encoding="ascii") as f:
        f.write(text)


if __name__ == "__main__":
    main()
