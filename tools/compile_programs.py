#!/usr/bin/env python3
"""Turn src/policy/programs.toml into constant C++ rows.

Usage: compile_programs.py programs.toml OUT.inc.  The file's head explains its
schema; whatever does not keep to it is refused with the entry's name.
"""
import sys
import tomllib

USES = {"text": "Text", "read": "Read", "list": "List", "write": "Write", "delete": "Delete", "directory": "Directory",
        "program": "Program", "script": "Script", "code": "Code", "host": "Host", "recursive": "Recursive"}
RISKS = {"low", "medium", "high", "critical"}
EFFECTS = {"read", "list", "write", "delete", "network", "process", "privilege", "install", "execute", "state", "secret",
           "unknown"}
KEYS = {"names", "flags", "long_flags", "options", "with", "does", "denies", "args", "first", "last", "first_unless",
        "subcommands", "special", "inner", "recursive", "dash_words", "no_args", "words", "harmless", "asks", "refused", "inert", "inert_globs",
        "at_files", "interactive", "version", "obeys", "looks", "apart"}
SET_KEYS = {"name", "flags", "long_flags", "options"}


class Refused(Exception):
    pass


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def view(text):
    return quoted(text) if text else "{}"


def parse_effect(text, where):
    """RISK EFFECT reason words"""
    parts = text.split(None, 2)
    if len(parts) != 3 or parts[0] not in RISKS or parts[1] not in EFFECTS:
        raise Refused(f"{where}: '{text}' is not 'RISK EFFECT reason'")
    return parts


def option_rows(text, where):
    """'o output= : write' or 'delete : high delete removes files'"""
    names, _, consequence = text.partition(" : ")
    names = names.split()
    value = "None"
    if not names:
        raise Refused(f"{where}: option without a name: '{text}'")
    if any(name.endswith("=") for name in names):
        value = "Required"
    if any(name.endswith("=?") for name in names):
        value = "Attached"
    names = [name.rstrip("?").rstrip("=") for name in names]
    use, asks, risk, effect, reason = "Text", False, "low", "read", ""
    consequence = consequence.strip()
    if consequence:
        if consequence in USES:
            use = USES[consequence]
        else:
            head, _, rest = consequence.partition(" ")
            if head in USES:  # a use and a reason to ask
                use = USES[head]
                consequence = rest
            risk, effect, reason = parse_effect(consequence, where)
            asks = True
    for name in names:
        yield name, value, use, asks, risk, effect, reason


def spelled(word):
    return word.capitalize()


def option_table(entries, where):
    """Options of an entry and of the sets it shares: (rows by name, short flags, -NUMBER is an option)"""
    options, flags, numbers = {}, "", False
    for entry in entries:
        for text in list(entry.get("options", [])) + entry.get("long_flags", "").split():
            for row in option_rows(text, where):
                if row[0] in options:
                    raise Refused(f"{where}: option '{row[0]}' is there twice")
                options[row[0]] = row
        flags += entry.get("flags", "")
    numbers = "#" in flags
    flags = "".join(sorted(set(flags) - {"#"}))
    both = [flag for flag in flags if flag in options]
    if both:
        raise Refused(f"{where}: '{both[0]}' is a flag and an option")
    return options, flags, numbers


def option_sets(data, source):
    sets = {}
    for entry in data.get("option_set", []):
        name = entry.get("name")
        if not name or set(entry) - SET_KEYS or name in sets:
            raise Refused(f"{source}: option_set {name}: needs a name of its own and only {sorted(SET_KEYS)}")
        sets[name] = entry
    return sets


def word_array(body, name, words):
    if not words:
        return "{}"
    body.append(f"constexpr std::string_view {name}[] = {{{', '.join(quoted(w) for w in words)}}};")
    return name


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as f:
        data = tomllib.load(f)
    rows, examples, seen = [], [], set()
    body = []
    sets = option_sets(data, source)
    for number, entry in enumerate(data.get("program", [])):
        names = entry.get("names") or []
        where = f"{source}: entry {number + 1} ({', '.join(names) or 'no names'})"
        unknown = set(entry) - KEYS
        if not names or unknown:
            raise Refused(f"{where}: unknown keys {sorted(unknown)}" if unknown else f"{where}: needs names")
        if not (entry.get("harmless") or entry.get("asks") or entry.get("refused")):
            raise Refused(f"{where}: needs examples (harmless, asks or refused)")
        shared = entry.get("with", [])
        if set(shared) - set(sets):
            raise Refused(f"{where}: no option_set {sorted(set(shared) - set(sets))}")
        options, flags, numbers = option_table([entry] + [sets[name] for name in shared], where)
        for key in ("args", "first", "last"):
            if entry.get(key, "text") not in USES:
                raise Refused(f"{where}: {key} = '{entry[key]}'")
        option_array = f"kOptions{number}"
        effect_array = f"kEffects{number}"
        if options:
            body.append(f"constexpr OptionRow {option_array}[] = {{")
            for name in sorted(options, key=lambda n: n.encode()):
                _, value, use, asks, risk, effect, reason = options[name]
                body.append(f"  {{{quoted(name)}, OptionValue::{value}, Use::{use}, {str(asks).lower()}, "
                            f"Risk::{spelled(risk)}, EffectKind::{spelled(effect)}, {view(reason)}}},")
            body.append("};")
        effects = [(text, False) for text in entry.get("does", [])] + [(text, True) for text in entry.get("denies", [])]
        if effects:
            body.append(f"constexpr EffectRow {effect_array}[] = {{")
            for text, denies in effects:
                risk, effect, reason = parse_effect(text, where)
                body.append(f"  {{Risk::{spelled(risk)}, EffectKind::{spelled(effect)}, {quoted(reason)}, {str(denies).lower()}}},")
            body.append("};")
        words = word_array(body, f"kWords{number}", entry.get("words", []))
        version = word_array(body, f"kVersion{number}", entry.get("version", ["--version", "--help"]))
        obeys = word_array(body, f"kObeys{number}", entry.get("obeys", []))
        for form in entry.get("looks", []):
            for token in form.split():
                name = token.lstrip("-")
                if len(token) > 1 and token.startswith("-") and name not in options:
                    raise Refused(f"{where}: looks = '{form}': '{token}' is not among its options")
        looks = word_array(body, f"kLooks{number}", entry.get("looks", []))
        interactive = {False: "No", True: "Yes", "language": "Language", "pager": "Pager", "secured": "Secured"}.get(entry.get("interactive", False))
        if interactive is None:
            raise Refused(f"{where}: interactive = '{entry['interactive']}'")
        args = entry.get("args", "text")
        for name in names:
            if name in seen:
                raise Refused(f"{where}: '{name}' is there twice")
            seen.add(name)
            truths = ", ".join(str(truth).lower() for truth in (
                numbers, *(bool(entry.get(key)) for key in ("subcommands", "recursive", "dash_words", "no_args", "inert", "inert_globs",
                                                            "at_files", "apart"))))
            rows.append((name, f"  {{{quoted(name)}, {view(flags)}, {option_array if options else '{}'}, "
                         f"{effect_array if effects else '{}'}, {words}, {version}, {obeys}, {looks}, {view(entry.get('special', ''))}, "
                         f"Use::{USES[entry.get('first', args)]}, Use::{USES[args]}, Use::{USES[entry.get('last', args)]}, "
                         f"{view(entry.get('first_unless', ''))}, {int(entry.get('inner', -1))}, {truths}, "
                         f"Interactive::{interactive}}},"))
        for key, decision in (("harmless", "Allow"), ("asks", "Ask"), ("refused", "Deny")):
            for example in entry.get(key, []):
                examples.append(f"  {{{quoted(names[0])}, {quoted(example)}, Decision::{decision}}},")
    rows.sort(key=lambda row: row[0].encode())
    with open(target, "w", encoding="utf-8") as out:
        out.write("// Made from programs.toml by tools/compile_programs.py.\n")
        out.write("\n".join(body))
        out.write("\nconstexpr ProgramRow kPrograms[] = {\n" + "\n".join(row for _, row in rows) + "\n};\n")
        out.write("constexpr ProgramExample kExamples[] = {\n" + "\n".join(examples) + "\n};\n")


if __name__ == "__main__":
    try:
        main()
    except (Refused, tomllib.TOMLDecodeError) as error:
        sys.exit(f"compile_programs: {error}")
