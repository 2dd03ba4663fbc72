#!/usr/bin/env python3
"""Write the generated files of the Python and TypeScript clients from the daemon's protocol.

Usage: make_sdks.py [--check]

docs/protocol/socket.schema.json is itself made from the types that the daemon uses (src/wire/types), so a call that is
added there gets its method, its types and its comment here. With --check nothing is written; the exit status is 1
if a file is not what it would be.
"""
import json
import keyword
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = os.path.join(ROOT, "docs/protocol/socket.schema.json")
NOTE = "Made by tools/make_sdks.py from docs/protocol/socket.schema.json: change that, not this."
# Calls of which the schema names the argument that makes them repeatable, and what a client puts there.
AIDS = {"run": ("command_id", "c"), "exec": ("command_id", "c"), "batch": ("batch_id", "b"), "open": ("request", "r")}
SIMPLE = {"string": ("str", "string"), "integer": ("int", "number"), "boolean": ("bool", "boolean"), "null": ("None", "null")}


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


class Types:
    """Every object of the schema with a name of its own: those of $defs, and the nested ones by where they stand."""

    def __init__(self, schema):
        self.objects = {}  # name: (schema, is a request)
        for name, each in schema["$defs"].items():
            self.add(name, each, False)
        for name, call in schema["calls"].items():
            self.add(camel(name) + "Request", call["args"], True)
            if "properties" in call["ok"]:
                self.add(camel(name) + "Answer", call["ok"], False)
        for name, event in schema["events"].items():
            self.add(camel(name) + "Event", event, False)

    def add(self, name, each, request):
        self.objects[name] = (each, request)
        for key, value in each.get("properties", {}).items():
            self.find(name + camel(key), value, request)

    def find(self, name, value, request):
        if "anyOf" in value:
            for option in value["anyOf"]:
                self.find(name, option, request)
        elif value.get("type") == "array":
            self.find(name, value["items"], request)
        elif value.get("type") == "object" and "properties" in value:
            value["name"] = name
            self.add(name, value, request)

    def required(self, name):
        """Members that are always there. Nested objects of a request may leave out what is null or has a default."""
        each, request = self.objects[name]
        names = each.get("required", [])
        if not request or name.endswith("Request"):
            return names
        return [key for key in names if "anyOf" not in each["properties"][key] and
                each["properties"][key].get("type") != "boolean"]


def shown(value, python):
    """The type of a value, in the language."""
    if "$ref" in value:
        return value["$ref"].rpartition("/")[2]
    if "anyOf" in value:
        options = [shown(option, python) for option in value["anyOf"]]
        if python:
            plain = [o for o in options if o != "None"]
            inner = plain[0] if len(plain) == 1 else "Union[" + ", ".join(plain) + "]"
            return f"Optional[{inner}]" if len(plain) < len(options) else inner
        return " | ".join(options)
    if "enum" in value:
        words = ", ".join(json.dumps(word) for word in value["enum"])
        return f"Literal[{words}]" if python else words.replace(", ", " | ")
    kind = value.get("type")
    if isinstance(kind, list):
        options = [SIMPLE[k][0 if python else 1] for k in kind]
        return "Union[" + ", ".join(options) + "]" if python else " | ".join(options)
    if kind in SIMPLE:
        return SIMPLE[kind][0 if python else 1]
    if kind == "array":
        inner = shown(value["items"], python)
        if python:
            return f"List[{inner}]"
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind == "object" and "name" in value:
        return value["name"]
    if kind == "object" and "additionalProperties" in value and value["additionalProperties"]:
        inner = shown(value["additionalProperties"], python)
        return f"Dict[str, {inner}]" if python else f"Record<string, {inner}>"
    return "Any" if python else "unknown"


def safe(name):
    return name + "_" if keyword.iskeyword(name) else name


def words(text, indent, width=112):
    return textwrap.wrap(" ".join(text.split()), width - len(indent)) or [""]


def repeat_rule(name, call):
    """When a call may be sent again after the connection was lost: always, never, or with an argument."""
    if call["repeatable"] == "always":
        return "always"
    if name in AIDS:
        return AIDS[name][0]
    return {"wait": "wait", "read": "read"}.get(name, "")


def python_types(types):
    out = []
    for name, (each, request) in types.objects.items():
        if name.endswith("Request") and request:
            continue
        required = types.required(name)
        always = {k: v for k, v in each.get("properties", {}).items() if k in required}
        maybe = {k: v for k, v in each.get("properties", {}).items() if k not in required}
        # Names of members can be words of the language, so the functional form is used for those.
        def body(members):
            return "{" + ", ".join(f'"{k}": "{shown(v, True)}"' if '"' not in shown(v, True)
                                   else f'"{k}": {shown(v, True)}' for k, v in members.items()) + "}"
        plain = not any(keyword.iskeyword(k) for k in each.get("properties", {}))
        out.append("")
        out.append("")
        if plain:
            base = "TypedDict"
            if always and maybe:
                out += [f"class _{name}(TypedDict):"] + [f"    {k}: {shown(v, True)}" for k, v in always.items()] + ["", ""]
                base = f"_{name}"
            members = maybe if maybe else always
            out.append(f"class {name}({base}{', total=False' if maybe else ''}):")
            about = words(each.get("description", ""), "    ", 105)
            if each.get("description"):
                out += ['    """' + about[0]] + ["    " + line for line in about[1:]]
                out[-1] += '"""'
            out += [f"    {k}: {shown(v, True)}" for k, v in members.items()]
            if not members:
                out.append("    pass")
        else:
            out.append(f"{name} = TypedDict({name!r}, {body(each['properties'])}, total=False)")
    return out


def python_method(name, call, kind):
    """A method of the blocking or the asynchronous client, or one that gives a stream."""
    args = call["args"].get("properties", {})
    required = [k for k in args if k in call["args"].get("required", [])]
    optional = [k for k in args if k not in required]
    optional = [k for k in optional if k != "stream"]  # the client sets it
    result = shown(call["ok"], True) if "$ref" in call["ok"] else camel(name) + "Answer"
    parameters = ["self"] + [f"{safe(k)}: {shown(args[k], True)}" for k in required]
    # The first argument of a call may be given without its name.
    given = [f"{safe(k)}: {shown(args[k], True)} = None" for k in optional]
    if not required and given:
        parameters.append(given.pop(0))
    parameters += (["*"] if given else []) + given
    method = name + ("_stream" if kind == "stream" else "")
    answer = {"blocking": result, "async": result, "stream": "Stream"}[kind]
    head = f"    {'async ' if kind == 'async' else ''}def {method}("
    lines = [""]
    line = head
    for i, parameter in enumerate(parameters):
        piece = parameter + (", " if i + 1 < len(parameters) else f") -> {answer}:")
        if len(line) + len(piece) > 118:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += piece
    lines.append(line)
    text = call["description"] if kind != "stream" else f"As `{name}`; gives what it prints while it runs."
    about = words(text, "        ", 105)
    lines += ['        """' + about[0]] + ["        " + each for each in about[1:]]
    told = [k for k in required + optional if args[k].get("description")]
    if told and kind != "stream":
        lines.append("")
        for k in told:
            each = words(f"{safe(k)}: {args[k]['description']}", "            ", 105)
            lines += ["        " + each[0]] + ["            " + more for more in each[1:]]
        lines.append('        """')
    else:
        lines[-1] += '"""'
    pairs = ", ".join(f'"{k}": {safe(k)}' for k in required + optional)
    given = "{" + pairs + "}"
    if kind == "stream":
        lines.append(f'        return self._stream("{name}", {given})')
    else:
        lines.append(f'        return {"await " if kind == "async" else ""}self._call("{name}", {given})')
    return lines


def streams(call):
    """Whether output comes while it runs."""
    return "stream" in call["args"].get("properties", {}) and "$ref" in call["ok"]


def python(schema, types):
    out = [f'"""The calls, answers and events of the daemon\'s socket. {NOTE}"""', "from __future__ import annotations", "",
           "from typing import Any, Dict, List, Optional, TypedDict, Union, Literal", "",
           "# When a call may be sent again: always, or with this argument.", "REPEAT = {"]
    out += [f'    "{name}": "{repeat_rule(name, call)}",' for name, call in schema["calls"].items() if repeat_rule(name, call)]
    out += ["}", "# What the client puts into such an argument: random characters behind a letter.", f"AIDS = {AIDS!r}",
            f"EVENTS = {sorted(schema['events'])!r}"]
    out += python_types(types)
    for kind, title in (("async", "AsyncCalls"), ("blocking", "Calls")):
        out += ["", "", f"class {title}:", f'    """Every call of the daemon, {"to be awaited" if kind == "async" else "blocking"}."""', "",
                "    def _call(self, name: str, args: Dict[str, Any]) -> Any:", "        raise NotImplementedError", "",
                "    def _stream(self, name: str, args: Dict[str, Any]) -> Any:", "        raise NotImplementedError"]
        for name, call in schema["calls"].items():
            out += python_method(name, call, kind)
            if streams(call):
                out += [line.replace("-> Stream", "-> Any") for line in python_method(name, call, "stream")]
    return "\n".join(out) + "\n"


def comment(text, indent):
    lines = words(text.replace("*/", "* /"), indent, 110)
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**"] + [f"{indent} * {line}" for line in lines] + [f"{indent} */"]


def typescript_types(schema, types):
    out = [f"// {NOTE}", ""]
    for name, (each, request) in types.objects.items():
        required = types.required(name)
        if each.get("description"):
            out += comment(each["description"], "")
        out.append(f"export interface {name} {{")
        if name.endswith("Event"):
            out += [f'  event: "{snake(name[:-5])}";', "  subscription: number;"]
        for key, value in each.get("properties", {}).items():
            if value.get("description"):
                out += comment(value["description"], "  ")
            out.append(f"  {key}{'' if key in required else '?'}: {shown(value, False)};")
        out += ["}", ""]
    out.append("export type Event =")
    out += [f"  | {camel(name)}Event" for name in schema["events"]]
    out[-1] += ";"
    out += ["", "/** Every call of the daemon. */", "export interface Calls {"]
    for name, call in schema["calls"].items():
        args = camel(name) + "Request"
        needed = bool(call["args"].get("required"))
        result = shown(call["ok"], False) if "$ref" in call["ok"] else camel(name) + "Answer"
        out += comment(call["description"], "  ")
        out.append(f"  {name}(args{'' if needed else '?'}: {args}, options?: CallOptions): Promise<{result}>;")
        if streams(call):
            out += comment(f"As `{name}`; gives what it prints while it runs.", "  ")
            out.append(f"  {name}Stream(args: Omit<{args}, \"stream\">, options?: CallOptions): Stream<{result}>;")
    out += ["}", "", "export interface CallOptions {", "  /** Ends the call; what it started keeps running unless `on_cancel` says otherwise. */",
            "  signal?: AbortSignal;", "}", "",
            "/** What a command prints, part by part; `result` settles with its end. */",
            "export interface Stream<T> extends AsyncIterable<Part> {", "  readonly result: Promise<T>;", "}"]
    return "\n".join(out) + "\n"


def javascript(schema):
    repeat = {name: repeat_rule(name, call) for name, call in schema["calls"].items() if repeat_rule(name, call)}
    calls = list(schema["calls"])
    streamed = [name for name, call in schema["calls"].items() if streams(call)]
    return "\n".join([f"// {NOTE}", f"export const CALLS = {json.dumps(calls)};", f"export const STREAMED = {json.dumps(streamed)};",
                      "// When a call may be sent again: always, or with this argument.", f"export const REPEAT = {json.dumps(repeat)};",
                      "// What the client puts into such an argument: random characters behind a letter.", f"export const AIDS = {json.dumps(AIDS)};"]) + "\n"


def generated():
    with open(SCHEMA, encoding="utf-8") as f:
        schema = json.load(f)
    types = Types(schema)
    return {"sdk/python/src/ttyward/_calls.py": python(schema, types),
            "sdk/typescript/src/types.d.ts": typescript_types(schema, types),
            "sdk/typescript/src/calls.js": javascript(schema)}


def main():
    stale = []
    for path, text in generated().items():
        full = os.path.join(ROOT, path)
        try:
            with open(full, encoding="utf-8") as f:
                same = f.read() == text
        except FileNotFoundError:
            same = False
        if same:
            continue
        stale.append(path)
        if "--check" not in sys.argv:
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
    if stale and "--check" in sys.argv:
        sys.exit("not up to date: " + ", ".join(stale) + "; run tools/make_sdks.py")
    print("\n".join(stale) or "up to date")


if __name__ == "__main__":
    main()
