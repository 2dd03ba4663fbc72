#!/usr/bin/env python3
"""The bill of materials, made from packaging/dependencies.toml.

Usage: make_sbom.py spdx VERSION [bundled]
                                   an SPDX 2.3 document (JSON) on stdout; package versions are dpkg's;
                                   bundled: all but the C library is inside (TTYWARD_BUNDLE)
       make_sbom.py table          the table of docs/licences.md
       make_sbom.py check FILE     whether FILE holds exactly that table; exit status 1 if not
"""
import datetime
import hashlib
import json
import os
import subprocess
import sys
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def dependencies():
    with open(os.path.join(ROOT, "packaging/dependencies.toml"), "rb") as f:
        return tomllib.load(f)["dependency"]


def version_of(dependency):
    if "version" in dependency:
        return dependency["version"]
    try:
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", dependency["package"]], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""  # not a Debian system: SPDX says NOASSERTION by leaving it out


def purl_of(dependency, version):
    if "purl" in dependency:
        return dependency["purl"]
    return f"pkg:deb/debian/{dependency['package']}@{version}" if version else ""


def spdx_package(dependency):
    version = version_of(dependency)
    package = {
        "SPDXID": "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in dependency["name"]),
        "name": dependency["name"],
        "downloadLocation": "NOASSERTION",
        "homepage": dependency["home"],
        "filesAnalyzed": False,
        "licenseConcluded": dependency["licence"],
        "licenseDeclared": dependency["licence"],
        "copyrightText": "NOASSERTION",
    }
    if version:
        package["versionInfo"] = version
        package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                    "referenceLocator": purl_of(dependency, version)}]
    return package


def spdx(version, bundled):
    ours = {"SPDXID": "SPDXRef-ttyward", "name": "ttyward", "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
            "copyrightText": "NOASSERTION"}
    # Programs for any Linux come without ttyward-fleet.
    used = [d for d in dependencies() if not (bundled and d.get("program") == "ttyward-fleet")]
    packages = [spdx_package(d) for d in used]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-ttyward"}]
    for dependency, package in zip(used, packages):
        shared = dependency["use"] == "linked" and (not bundled or dependency["name"] == "glibc")
        kind = "DYNAMIC_LINK" if shared else "STATIC_LINK"
        relations.append({"spdxElementId": "SPDXRef-ttyward", "relationshipType": kind,
                          "relatedSpdxElement": package["SPDXID"]})
    # The name of the document follows from what it says, so the same build makes the same document.
    digest = hashlib.sha256(json.dumps([ours, packages], sort_keys=True).encode()).hexdigest()
    made = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), datetime.timezone.utc)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"ttyward-{version}", "documentNamespace": f"urn:sha256:{digest}",
            "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: make_sbom.py"]},
            "packages": [ours] + packages, "relationships": relations}


def table():
    lines = ["| what | for | terms (SPDX) | how |", "|---|---|---|---|"]
    for d in dependencies():
        lines.append(f"| [{d['name']}]({d['home']}) | {d['why']} | {d['licence']} | {d['use']} |")
    return "\n".join(lines) + "\n"


def main(args):
    if args[:1] == ["spdx"] and len(args) in (2, 3) and args[2:] in ([], ["bundled"]):
        print(json.dumps(spdx(args[1], bundled=len(args) == 3), indent=2))
        return 0
    if args == ["table"]:
        print(table(), end="")
        return 0
    if args[:1] == ["check"] and len(args) == 2:
        with open(args[1], encoding="utf-8") as f:
            if table() in f.read():
                return 0
        print(f"{args[1]} does not hold the table that `tools/make_sbom.py table` prints: put it there")
        return 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
