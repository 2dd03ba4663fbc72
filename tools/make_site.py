#!/usr/bin/env python3
"""Build the documentation as a website: plain HTML files that any web server, or a browser alone, can show.

Usage: make_site.py [OUT]      OUT is build/site by default, and is replaced. Needs nothing but Python; uses no network.

Every Markdown page of the tree becomes a page at the same place; README.md becomes index.html. Pictures are copied. Links to files that
are not pages lead to the repository. At the end every link of the result is checked: a page, picture or heading that is
not there ends it with status 1.
"""
import html
import html.parser
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_links  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPOSITORY = "https://github.com/ttyward/ttyward"
PICTURES = (".png", ".svg", ".jpg", ".gif")
NOT_PAGES = (".github/", "tests/", "fuzz/", "src/", "panel/")
MARK = "ttyward-site"  # in each page's head: only a folder that holds a site is replaced

STYLE = """
:root { color-scheme: light dark; --fore: #1c2024; --back: #fff; --soft: #f3f5f7; --line: #d5dae0; --link: #0b57d0 }
@media (prefers-color-scheme: dark) { :root { --fore: #e4e7ea; --back: #15181b; --soft: #1f2428; --line: #3a4148; --link: #8ab4f8 } }
* { box-sizing: border-box }
body { margin: 0; color: var(--fore); background: var(--back); font: 16px/1.55 system-ui, sans-serif; display: flex; flex-wrap: wrap }
a { color: var(--link) }
nav { flex: 0 0 15rem; padding: 1.5rem; border-right: 1px solid var(--line); font-size: .92rem }
nav ul { list-style: none; padding: 0; margin: .4rem 0 1.2rem } nav li { margin: .25rem 0 } nav [aria-current] { font-weight: 600; color: inherit; text-decoration: none }
main { flex: 1 1 30rem; min-width: 0; max-width: 60rem; padding: 1.5rem 2.5rem 4rem }
h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; background: var(--soft) }
code { padding: .1em .3em; border-radius: 3px } pre { padding: .8rem 1rem; overflow-x: auto; border-radius: 5px; line-height: 1.4 } pre code { padding: 0 }
.wide { overflow-x: auto } table { border-collapse: collapse } th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top }
img { max-width: 100%; height: auto } .right { text-align: right }
@media (max-width: 50rem) { nav { flex-basis: 100%; border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem } }
"""

ITEM = re.compile(r"^( *)([-*]|\d+\.)( +)(.*)$")
ROW = re.compile(r"(?<!\\)\|")


class Page:
    """One Markdown file, rendered. `link` turns a target as it is written into one of the site."""

    def __init__(self, text, link):
        self.link = link
        self.names = {}
        self.title = ""
        self.body = self.blocks(re.sub(r"<!--.*?-->", "", text, flags=re.S).split("\n"))

    def inline(self, text):
        kept = []

        def keep(made):
            kept.append(made)
            return f"\0{len(kept) - 1}\0"

        def target(name, words):
            return keep(f'<a href="{html.escape(self.link(name))}">') + words + keep("</a>")

        text = re.sub(r"(`+)(.+?)\1", lambda m: keep(f"<code>{html.escape(m.group(2).strip() or ' ', quote=False)}</code>"), text, flags=re.S)
        text = re.sub(r"\\([\\`*_{}\[\]()#+.!|<>-])", lambda m: keep(html.escape(m.group(1))), text)
        text = re.sub(r"<(https?://[^>\s]+)>", lambda m: target(m.group(1), m.group(1)), text)
        text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)",
                      lambda m: keep(f'<img src="{html.escape(self.link(m.group(2)))}" alt="{html.escape(m.group(1))}">'), text)
        text = re.sub(r"\[((?:[^\]\[]|\[[^\]]*\])+)\]\(<?([^)\s>]+)>?\)", lambda m: target(m.group(2), m.group(1)), text)
        text = html.escape(text, quote=False)
        text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text, flags=re.S)
        text = re.sub(r"(?<![\w*])\*(?=\S)([^*]+?)(?<=\S)\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub(r"\0(\d+)\0", lambda m: kept[int(m.group(1))], text)
        return text

    def heading(self, level, text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
        name = check_links.anchor_of(plain)
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        if level == 1 and not self.title:
            self.title = plain.replace("`", "")
        return f'<h{level} id="{html.escape(name + (f"-{count}" if count else ""))}">{self.inline(text)}</h{level}>'

    def table(self, lines):
        rows = [[cell.strip().replace("\\|", "|") for cell in ROW.split(line.strip().removeprefix("|").removesuffix("|"))] for line in lines]
        right = [rule.endswith(":") and not rule.startswith(":") for rule in rows[1]]
        made = []
        for number, row in enumerate(rows):
            if number == 1 or (number == 0 and not any(row)):
                continue
            tag = "th" if number == 0 else "td"
            cells = [f"<{tag}{' class=right' if side < len(right) and right[side] else ''}>{self.inline(cell)}</{tag}>" for side, cell in enumerate(row)]
            made.append("<tr>" + "".join(cells) + "</tr>")
        return '<div class="wide"><table>' + "\n".join(made) + "</table></div>"

    def items(self, lines):
        """A list: each item is its own run of blocks, with the indentation of the mark taken away."""
        first = ITEM.match(lines[0])
        tag = "ol" if first.group(2)[0].isdigit() else "ul"
        made, own = [], []
        width = 0
        for line in [*lines, None]:
            mark = line is not None and ITEM.match(line)
            if line is None or (mark and len(mark.group(1)) <= len(first.group(1))):
                if own:
                    body = self.blocks(own)
                    made.append("<li>" + (body[3:-4] if body.startswith("<p>") and body.count("<p>") == 1 and body.endswith("</p>") else body) + "</li>")
                if mark:
                    width = len(mark.group(1)) + len(mark.group(2)) + len(mark.group(3))
                    own = [mark.group(4)]
            else:
                own.append(line[min(width, len(line) - len(line.lstrip())):])
        return f"<{tag}>" + "\n".join(made) + f"</{tag}>"

    def blocks(self, lines):
        made = []
        at = 0
        while at < len(lines):
            line = lines[at]
            end = at + 1
            if not line.strip():
                pass
            elif fence := re.match(r"^( *)(```|~~~)", line):
                while end < len(lines) and not lines[end].strip().startswith(fence.group(2)):
                    end += 1
                inside = [each.removeprefix(fence.group(1)) for each in lines[at + 1:end]]
                made.append("<pre><code>" + html.escape("\n".join(inside), quote=False) + "</code></pre>")
                end += 1
            elif heading := re.match(r"^(#{1,6})\s+(.*?)\s*#*\s*$", line):
                made.append(self.heading(len(heading.group(1)), heading.group(2)))
            elif re.match(r"^(---+|\*\*\*+)\s*$", line):
                made.append("<hr>")
            elif line.lstrip().startswith("|") and end < len(lines) and re.match(r"^\s*\|[\s:|-]+\|\s*$", lines[end]):
                while end < len(lines) and lines[end].lstrip().startswith("|"):
                    end += 1
                made.append(self.table(lines[at:end]))
            elif mark := ITEM.match(line):
                depth = len(mark.group(1))
                while end < len(lines):
                    next_line = lines[end]
                    after_gap = not lines[end - 1].strip()
                    indented = len(next_line) - len(next_line.lstrip()) > depth
                    if next_line.strip() and not indented and not ITEM.match(next_line) and (after_gap or re.match(r"^(#|```|\|)", next_line)):
                        break
                    end += 1
                made.append(self.items(lines[at:end]))
            elif line.startswith(">"):
                while end < len(lines) and lines[end].startswith(">"):
                    end += 1
                made.append("<blockquote>" + self.blocks([re.sub(r"^> ?", "", each) for each in lines[at:end]]) + "</blockquote>")
            else:
                while end < len(lines) and lines[end].strip() and not re.match(r"^( *(```|~~~)|#{1,6}\s|>|\s*\|)", lines[end]) and not ITEM.match(lines[end]):
                    end += 1
                made.append("<p>" + self.inline("\n".join(lines[at:end])) + "</p>")
            at = end
        return "\n".join(made)


def address(name):
    """Where a page of the tree is in the site."""
    folder, file = os.path.split(name)
    return os.path.join(folder, "index.html" if file == "README.md" else file.removesuffix(".md") + ".html")


class Site:
    def __init__(self, out):
        self.out = out
        names = sorted(os.path.relpath(page, ROOT) for page in check_links.pages(ROOT))
        self.pages = [name for name in names if not name.startswith(NOT_PAGES)]
        self.pictures = set()

    def link(self, page, target):
        if re.match(r"[a-z][a-z0-9+.-]*:", target) or target.startswith("#"):
            return target
        name, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), name))
        if os.path.join(file, "README.md") in self.pages:
            file = os.path.join(file, "README.md")
        if file in self.pages:
            to = address(file)
        elif file.endswith(PICTURES):
            self.pictures.add(file)
            to = file
        else:
            kind = "tree" if os.path.isdir(os.path.join(ROOT, file)) else "blob"
            return f"{REPOSITORY}/{kind}/main/{file}" + (f"#{anchor}" if anchor else "")
        return os.path.relpath(to, os.path.dirname(address(page)) or ".") + (f"#{anchor}" if anchor else "")

    def order(self):
        """The pages as docs/README.md names them, then the others."""
        with open(os.path.join(ROOT, "docs/README.md"), encoding="utf-8") as f:
            named = [os.path.normpath(os.path.join("docs", target.partition("#")[0])) for target in check_links.LINK.findall(f.read())]
        first = ["README.md", "docs/README.md", *named]
        return list(dict.fromkeys([name for name in first if name in self.pages] + self.pages))

    def build(self):
        made = {}
        for name in self.pages:
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                made[name] = Page(f.read(), lambda target, name=name: self.link(name, target))
        order = self.order()
        for name, page in made.items():
            here = os.path.dirname(address(name)) or "."
            entries = "\n".join(
                f'<li><a href="{html.escape(os.path.relpath(address(other), here))}"{" aria-current=page" if other == name else ""}>'
                f"{html.escape(made[other].title or other)}</a></li>" for other in order)
            title = page.title if page.title == "ttyward" else f"{page.title or name} · ttyward"
            self.write(address(name), f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="{MARK}">'
                       '<meta name="viewport" content="width=device-width, initial-scale=1">'
                       f'<title>{html.escape(title)}</title><link rel="stylesheet" href="{os.path.relpath("style.css", here)}"></head>\n'
                       f'<body><nav aria-label="Pages"><ul>{entries}</ul></nav>\n<main>{page.body}</main></body></html>\n')
        self.write("style.css", STYLE.lstrip())
        for picture in sorted(self.pictures):
            os.makedirs(os.path.dirname(os.path.join(self.out, picture)), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, picture), os.path.join(self.out, picture))

    def write(self, name, text):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


class Links(html.parser.HTMLParser):
    VOID = {"meta", "link", "img", "hr", "br"}

    def __init__(self):
        super().__init__()
        self.targets, self.names, self.open, self.wrong = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets += [given[key] for key in ("href", "src") if key in given]
        if "id" in given:
            if given["id"] in self.names:
                self.wrong.append(f"two headings are called {given['id']}")
            self.names.add(given["id"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"line {self.getpos()[0]}: </{tag}> closes something else")


def check(out):
    """Every link of the site that stays in it leads to a file and, where it names one, to a heading there."""
    found = {}
    for folder, _, files in os.walk(out):
        for file in files:
            if file.endswith(".html"):
                links = Links()
                path = os.path.join(folder, file)
                with open(path, encoding="utf-8") as f:
                    links.feed(f.read())
                found[path] = links
    wrong, count = [], 0
    for path, links in sorted(found.items()):
        wrong += [f"{os.path.relpath(path, out)}: {what}" for what in links.wrong]
        for target in links.targets:
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            name, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.isfile(file) or not file.startswith(out):
                wrong.append(f"{os.path.relpath(path, out)}: {target}: there is no such file")
            elif anchor and file in found and anchor not in found[file].names:
                wrong.append(f"{os.path.relpath(path, out)}: {target}: there is no such heading")
    return count, len(found), wrong


def main():
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/site"))
    if os.path.exists(out) and os.listdir(out):
        try:
            with open(os.path.join(out, "index.html"), encoding="utf-8") as f:
                ours = MARK in f.read(1000)
        except OSError:
            ours = False
        if not ours:
            sys.exit(f"{out} is not empty and holds no site of ours; name another folder")
        shutil.rmtree(out)
    Site(out).build()
    count, pages, wrong = check(out)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{out}: {pages} pages, {count} links are right")


if __name__ == "__main__":
    main()
