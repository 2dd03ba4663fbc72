#!/usr/bin/env python3
"""Check the archive of the extension for VS Code: it holds what it should, and nothing else.

Usage: check_extension.py VSIX
"""
import json
import sys
import xml.etree.ElementTree
import zipfile

FILES = {"[Content_Types].xml", "extension.vsixmanifest", "extension/package.json", "extension/readme.md", "extension/LICENSE.txt",
         "extension/dist/extension.js", "extension/media/ttyward.svg"}


def problems(path):
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        yield from (f"{name} is missing" for name in sorted(FILES - names))
        yield from (f"{name} does not belong in it" for name in sorted(names - FILES))
        if FILES - names:
            return
        package = json.loads(archive.read("extension/package.json"))
        manifest = xml.etree.ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        identity = next(each for each in manifest.iter() if each.tag.endswith("Identity")).attrib
        code = archive.read("extension/dist/extension.js").decode()
    if (identity["Id"], identity["Version"], identity["Publisher"]) != (package["name"], package["version"], package["publisher"]):
        yield f"the manifest says {identity}, package.json says something else"
    if package["main"] != "./dist/extension.js":
        yield f"main is {package['main']}"
    registered = {command["command"] for command in package["contributes"]["commands"]}
    for menu, entries in package["contributes"]["menus"].items():
        yield from (f"{menu} names {entry['command']}, which is no command" for entry in entries if entry["command"] not in registered)
    for setting in ("program", "personTokenFile"):
        if package["contributes"]["configuration"]["properties"][f"ttyward.{setting}"]["scope"] != "machine":
            yield f"a workspace could set ttyward.{setting}"
    if 'require("vscode")' not in code or "@ttyward/client" in code:
        yield "the code is not bundled as it should be"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(problems(sys.argv[1]))
    if found:
        sys.exit("\n".join(found))
    print(f"{sys.argv[1]}: what it holds is right")


if __name__ == "__main__":
    main()
