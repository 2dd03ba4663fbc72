#!/usr/bin/env python3
"""Score `ttyward digest` on the recorded outputs.

Usage: score.py TTYWARD [--part dev|held|unseen|fresh|all] [--show NAME] [--check] [--tokens MODULES]

For every case: characters of the digest relative to the rendered text, facts kept, and inventions (lines of
the digest that are not in the output, and lines said to be left out that are shown).  A third of the cases, chosen by a checksum of their names, is held
back: rules are made looking at the others.  The sets in unseen/ and fresh/ were recorded and their facts written
before their digests were looked at.  --tokens counts tokens, too: MODULES is a node_modules with gpt-tokenizer.  --check fails if an essential fact is lost or a line invented.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ALARM = re.compile(r"error|fail|panic|fatal|exception|denied|not found", re.I)


SETS = ("unseen", "fresh")  # in folders of their own

# Looked at by mistake while rules were made.
SEEN = {"pytest", "tsc", "jest"}


def held_back(name):
    return name not in SEEN and zlib.crc32(name.encode()) % 3 == 0


def has(text, fact):
    return re.search(fact[3:], text, re.M) is not None if fact.startswith("re:") else fact in text


def inventions(digest, rendered):
    """Lines that claim to be output and are not."""
    def squeeze(text):
        return " ".join(re.sub(r"([^\w\s])\1{2,}", r"\1\1\1", text).split())

    def shortened(line):
        """A row without the columns in which all agree, or a commit's hash and subject."""
        words = line.split()
        if re.fullmatch("[0-9a-f]{7}", words[0]) and f"commit {words[0]}" in rendered:
            return line.split(") ", 1)[-1].strip() in rendered or " ".join(words[1:]) in squeezed
        for row in rows:
            rest = iter(row)
            if all(word in rest for word in words):
                return True
        return False

    squeezed = squeeze(rendered)
    rows = [row.split() for row in squeeze_lines(rendered, squeeze)]
    found = []
    for line in digest.splitlines():
        line = re.sub(r"  \[(×|in all rows)[^\]]*\]$", "", line)
        if not line.strip() or "…" in line or line.startswith(("[", "  all:", "  counts", "  [")) or " (" in line and "): " in line:
            continue
        if squeeze(line) not in squeezed and not line.startswith(("{", " \"", "./", "commit ")) and "/ " not in line and not shortened(squeeze(line)):
            found.append(line)
    return found


def false_gaps(digest, rendered):
    """Ranges that are said to be left out, although one of their lines is shown."""
    shown = set(digest.splitlines())
    lines = rendered.splitlines()
    number = {line: i for i, line in enumerate(lines, 1) if len(line) > 25 and line in shown and lines.count(line) == 1}
    gaps = [(gap[0], int(gap[1]), int(gap[2])) for gap in re.finditer(r"^… (\d+)–(\d+)$", digest, re.M)]
    return [gap for gap, first, last in gaps if any(first <= n <= last for n in number.values())]


def squeeze_lines(text, squeeze):
    return [squeeze(line) for line in text.splitlines()]


def score(name, case, facts, digest, rendered):
    want = facts.get(name, {})
    # "said": what the digest must say although no line does, such as a count.
    lost = [f for f in want.get("essential", []) + want.get("said", []) if not has(digest, f)]
    missing = [f for f in want.get("essential", []) + want.get("helpful", []) if not has(rendered, f)]
    lost_helpful = [f for f in want.get("helpful", []) if not has(digest, f)]
    return {"name": name, "rendered": len(rendered), "digest": len(digest), "lost": lost, "lost_helpful": lost_helpful,
            "essential": len(want.get("essential", [])) + len(want.get("said", [])), "helpful": len(want.get("helpful", [])), "wrong_facts": missing,
            "inventions": inventions(digest, rendered) + false_gaps(digest, rendered)}


def report(title, rows):
    rows = [r for r in rows if r["rendered"] > 0]
    if not rows:
        return True
    ratio = sum(r["digest"] / r["rendered"] for r in rows) / len(rows)
    total = sum(r["digest"] for r in rows) / sum(r["rendered"] for r in rows)
    long = [r for r in rows if r["rendered"] > 1500]
    long_ratio = sum(r["digest"] / r["rendered"] for r in long) / max(1, len(long))
    essential = sum(r["essential"] for r in rows)
    helpful = sum(r["helpful"] for r in rows)
    lost = sum(len(r["lost"]) for r in rows)
    lost_helpful = sum(len(r["lost_helpful"]) for r in rows)
    whole = sum(not r["lost"] for r in rows)
    print(f"{title}: {len(rows)} cases; mean ratio {ratio:.3f} (of {len(long)} above 1500 characters {long_ratio:.3f}), all characters {total:.3f}; "
          f"essential {essential - lost}/{essential}, helpful {helpful - lost_helpful}/{helpful}, cases whole {whole}/{len(rows)}, "
          f"inventions {sum(len(r['inventions']) for r in rows)}")
    return lost == 0 and not any(r["inventions"] for r in rows)


def count_tokens(modules, texts):
    """The tokens of each text, by gpt-tokenizer (o200k_base)."""
    program = ("const {encode} = require(process.argv[1] + '/gpt-tokenizer');"
               "const texts = JSON.parse(require('fs').readFileSync(0));"
               "console.log(JSON.stringify(texts.map((t) => encode(t).length)));")
    done = subprocess.run(["node", "-e", program, os.path.abspath(modules)], input=json.dumps(texts).encode(), capture_output=True, check=True)
    return json.loads(done.stdout)


def run_case(program, name, case, folder=HERE):
    path = f"{folder}/cases/{name}.out"
    size = ["--cols", str(case["cols"]), "--rows", str(case["rows"])]
    rendered = subprocess.run([program, "render", "--history", *size, path], capture_output=True, check=True).stdout.decode()
    digest = subprocess.run([program, "digest", "--command", case["command"], "--exit", str(case["exit"]), *size, path],
                            capture_output=True, check=True).stdout.decode()
    return digest, rendered


def main(runner=run_case):
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--part", choices=["dev", "held", "unseen", "fresh", "all"], default="dev")
    parser.add_argument("--show")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--tokens")
    args = parser.parse_args()
    good = True
    for part in ("dev", "held", "unseen", "fresh"):
        if args.part not in (part, "all"):
            continue
        folder = HERE + ("/" + part if part in SETS else "")
        cases = json.load(open(folder + "/cases.json"))
        facts = json.load(open(folder + "/facts.json"))
        rows = []
        texts = []
        for name, case in cases.items():
            if (part not in SETS and held_back(name) != (part == "held")) or (args.show and name != args.show):
                continue
            digest, rendered = runner(args.program, name, case, folder)
            texts += [digest, rendered]
            rows.append(score(name, case, facts, digest, rendered))
            if args.show:
                print(digest)
            row = rows[-1]
            if args.verbose or args.show or row["lost"] or row["inventions"] or row["wrong_facts"]:
                print(f"{name:20} {row['digest']:6}/{row['rendered']:6} = {row['digest'] / max(1, row['rendered']):.2f}"
                      + (f"  lost {row['lost']}" if row["lost"] else "") + (f"  (helpful {row['lost_helpful']})" if row["lost_helpful"] else "")
                      + (f"  invented {row['inventions'][:3]}" if row["inventions"] else "")
                      + (f"  not in output: {row['wrong_facts']}" if row["wrong_facts"] else ""))
        good = report({"dev": "developed on", "held": "held back", "unseen": "unseen", "fresh": "fresh"}[part], rows) and good
        if args.tokens:
            tokens = count_tokens(args.tokens, texts)
            pairs = [(d, r) for d, r in zip(tokens[::2], tokens[1::2]) if r > 0]
            print(f"  tokens: mean ratio {sum(d / r for d, r in pairs) / len(pairs):.3f}, all {sum(d for d, _ in pairs)} of {sum(r for _, r in pairs)}")
    return 0 if good or not args.check else 1


if __name__ == "__main__":
    sys.exit(main())
