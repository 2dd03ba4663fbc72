#!/usr/bin/env python3
"""Check the links of the documentation: every file and heading that a page names is there.

Usage: check_links.py [ROOT]      exit status 1 names each link that leads nowhere. Links to the web are not followed.
"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")


def lines_outside_code(path):
    fenced = False
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if FENCE.match(line):
                fenced = not fenced
            elif not fenced:
                yield number, re.sub(r"`[^`]*`", lambda m: " " * len(m.group()), line), line


def anchor_of(text):
    return re.sub(r"[^\w\- ]", "", text.replace("`", "").lower()).replace(" ", "-")


def anchors(path):
    """The names that headings get, as the usual renderers make them."""
    found = {}
    for _, _, line in lines_outside_code(path):
        heading = HEADING.match(line)
        if not heading:
            continue
        name = anchor_of(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)))
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return found


def pages(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [os.path.join(root, name) for name in listed.stdout.splitlines()]
    return [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
            if name.endswith(".md") and "node_modules" not in folder and "/build/" not in folder + "/"]


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    wrong = []
    checked = 0
    for page in sorted(pages(root)):
        for number, shown, line in lines_outside_code(page):
            for target in LINK.findall(shown):
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue
                checked += 1
                name, _, anchor = target.partition("#")
                file = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
                where = f"{os.path.relpath(page, root)}:{number}: {target}"
                if not os.path.exists(file):
                    wrong.append(f"{where}: there is no such file")
                elif not file.startswith(root):
                    wrong.append(f"{where}: outside the tree")
                elif anchor and file.endswith(".md") and anchor not in anchors(file):
                    wrong.append(f"{where}: there is no such heading")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{checked} links are right")


if __name__ == "__main__":
    main()
