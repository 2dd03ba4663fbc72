#!/usr/bin/env python3
"""Make what is published from an installed tree: archives whose bytes depend on the sources alone.

Usage: make_dist.py VERSION TREE DIST     TREE is what `cmake --install --strip --component program` gave, without /usr

Into DIST go:
  ttyward-VERSION-linux-x86_64.tar.gz     the tree, to be unpacked anywhere
  ttyward_VERSION_amd64.deb               the same below /usr
  ttyward-VERSION-linux-x86_64.oci.tar    an image with the programs and nothing else, as an OCI layout
  ttyward-VERSION.tgz, ttyward-linux-x64-VERSION.tgz, ttyward-client-VERSION.tgz       npm
  ttyward-VERSION-py3-none-any.whl        the Python client
  ttyward-VERSION.spdx.json, notes.md, SHA256SUMS, which names what was in DIST before, too
Times are SOURCE_DATE_EPOCH, owners are root, orders are by name.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
MAINTAINER = "The ttyward maintainers <maintainers@ttyward.example>"
MACHINES = {"x86_64": ("amd64", "x64"), "aarch64": ("arm64", "arm64")}


def files_below(folder):
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            yield os.path.relpath(path, folder), path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def text(path):
    return read(os.path.join(ROOT, path)).decode()


def tar_bytes(members):
    """`members`: name in the archive -> (bytes, mode); a name that ends with / is a folder."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        folders = {"/".join(name.split("/")[:i]) for name in members for i in range(1, name.count("/") + 1)}
        for name in sorted(folders | {name for name in members if not name.endswith("/")}):
            info = tarfile.TarInfo(name)
            info.mtime = EPOCH
            info.uname = info.gname = "root"
            if name in members:
                data, info.mode = members[name]
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
            else:
                info.type, info.mode = tarfile.DIRTYPE, members[name + "/"][1] if name + "/" in members else 0o755
                tar.addfile(info)
    return raw.getvalue()


def gzipped(data):
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as f:
        f.write(data)
    return packed.getvalue()


def tar_gz(path, members):
    with open(path, "wb") as f:
        f.write(gzipped(tar_bytes(members)))


def tree_members(tree, prefix):
    members = {}
    for name, path in files_below(tree):
        mode = 0o755 if os.stat(path).st_mode & stat.S_IXUSR else 0o644
        members[f"{prefix}/{name}"] = (read(path), mode)
    return members


def machine_of(tree):
    header = read(os.path.join(tree, "bin/ttyward"))[:20]
    number = int.from_bytes(header[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}[number]


def debian(version, tree, dist, architecture):
    with tempfile.TemporaryDirectory() as stage:
        shutil.copytree(tree, f"{stage}/usr")
        os.makedirs(f"{stage}/DEBIAN")
        os.makedirs(f"{stage}/usr/share/doc/ttyward", exist_ok=True)
        shutil.copy(f"{ROOT}/packaging/debian/copyright", f"{stage}/usr/share/doc/ttyward/copyright")
        unit = f"{stage}/usr/lib/systemd/user/ttyward.service"
        with open(unit, "w", encoding="utf-8") as f:
            f.write(text("packaging/systemd/ttyward.service"))
        size = sum(os.path.getsize(path) for _, path in files_below(stage)) // 1024
        with open(f"{stage}/DEBIAN/control", "w", encoding="utf-8") as f:
            f.write(f"Package: ttyward\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
                    f"Installed-Size: {size}\nSection: utils\nPriority: optional\nDescription: terminal for AI agents\n"
                    " Runs commands in real terminals and tells how they ended: exit codes, time\n"
                    " limits, what they wait for. Terminals outlive the daemon that watches them.\n"
                    " What an agent wants to run is judged first, and asked about where it matters.\n")
        for place, folders, names in os.walk(stage):
            os.chmod(place, 0o755)
            for name in names:
                path = os.path.join(place, name)
                os.chmod(path, 0o755 if os.stat(path).st_mode & stat.S_IXUSR else 0o644)
                os.utime(path, (EPOCH, EPOCH))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", stage, f"{dist}/ttyward_{version}_{architecture}.deb"],
                       check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})


def image(version, tree, path, architecture):
    """An image of one layer, in the layout that podman, docker, skopeo and buildah load (OCI image format 1.1)."""
    layer = tar_bytes({
        "usr/bin/ttyward": (read(f"{tree}/bin/ttyward"), 0o755),
        "usr/libexec/ttyward/ttyward-hold": (read(f"{tree}/libexec/ttyward/ttyward-hold"), 0o755),
        "usr/share/doc/ttyward/LICENSE": (read(f"{ROOT}/LICENSE"), 0o644),
        "etc/passwd": (b"root:x:0:0:root:/root:/bin/sh\n", 0o644), "etc/group": (b"root:x:0:\n", 0o644),
        "root/": (None, 0o700), "tmp/": (None, 0o1777)})
    blobs = {}

    def blob(data, kind, **more):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = (data, 0o644)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data), **more}

    def packed(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
    server = json.loads(text("server.json"))
    labels = {"org.opencontainers.image.title": "ttyward", "org.opencontainers.image.version": version,
              "org.opencontainers.image.description": server["description"], "org.opencontainers.image.licenses": "Apache-2.0",
              "org.opencontainers.image.source": server["repository"]["url"], "org.opencontainers.image.created": created,
              "io.modelcontextprotocol.server.name": server["name"]}
    config = {"architecture": architecture, "os": "linux", "created": created,
              "config": {"Entrypoint": ["/usr/bin/ttyward"], "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root"], "WorkingDir": "/", "Labels": labels},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
              "history": [{"created": created, "created_by": "tools/make_dist.py"}]}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": blob(packed(config), "config.v1+json"),
                "layers": [blob(gzipped(layer), "layer.v1.tar+gzip")]}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
        blob(packed(manifest), "manifest.v1+json", platform={"architecture": architecture, "os": "linux"},
             annotations={"org.opencontainers.image.ref.name": f"ttyward:{version}"})]}
    with open(path, "wb") as f:
        f.write(tar_bytes({**blobs, "index.json": (packed(index), 0o644), "oci-layout": (packed({"imageLayoutVersion": "1.0.0"}), 0o644)}))


def npm(path, package, members):
    package = {"license": "Apache-2.0", "repository": {"type": "git", "url": "git+https://github.com/ttyward/ttyward.git"}, **package}
    members["package/package.json"] = (json.dumps(package, indent=2).encode() + b"\n", 0o644)
    members["package/LICENSE"] = (read(f"{ROOT}/LICENSE"), 0o644)
    tar_gz(path, members)


def npm_packages(version, tree, dist, arch):
    platform = f"@ttyward/linux-{arch}"
    npm(f"{dist}/ttyward-linux-{arch}-{version}.tgz",
        {"name": platform, "version": version, "description": f"The programs of ttyward for Linux on {arch}", "os": ["linux"], "cpu": [arch],
         "preferUnplugged": True},
        {"package/bin/ttyward": (read(f"{tree}/bin/ttyward"), 0o755),
         "package/bin/ttyward-hold": (read(f"{tree}/libexec/ttyward/ttyward-hold"), 0o755)})
    npm(f"{dist}/ttyward-{version}.tgz",
        {"name": "ttyward", "version": version, "description": "The terminal for AI agents", "bin": {"ttyward": "bin/ttyward.js"},
         "engines": {"node": ">=18"}, "os": ["linux"], "mcpName": json.loads(text("server.json"))["name"],
         "keywords": ["terminal", "agents", "mcp"], "optionalDependencies": {platform: version}},
        {"package/bin/ttyward.js": (read(f"{ROOT}/packaging/npm/ttyward.js"), 0o755),
         "package/README.md": (read(f"{ROOT}/README.md"), 0o644)})
    sdk = f"{ROOT}/sdk/typescript"
    members = {f"package/src/{name}": (read(path), 0o644) for name, path in files_below(f"{sdk}/src")}
    members["package/README.md"] = (read(f"{sdk}/README.md"), 0o644)
    npm(f"{dist}/ttyward-client-{version}.tgz", json.loads(read(f"{sdk}/package.json")), members)


def wheel(version, dist):
    """A wheel is a zip with its own list of contents; no build tool is needed for plain Python."""
    source = f"{ROOT}/sdk/python"
    info = f"ttyward-{version}.dist-info"
    members = {f"ttyward/{name}": read(path) for name, path in files_below(f"{source}/src/ttyward") if "__pycache__" not in name}
    members[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: ttyward\nVersion: {version}\nSummary: A client of ttyward, the terminal for AI agents\n"
                                   "License: Apache-2.0\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n").encode() + read(f"{source}/README.md")
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: ttyward\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members[f"{info}/LICENSE"] = read(f"{ROOT}/LICENSE")
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
            for name, data in sorted(members.items())]
    members[f"{info}/RECORD"] = ("\n".join(rows) + f"\n{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(f"{dist}/ttyward-{version}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in sorted(members.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, data)


def versions():
    """Every place that names the version."""
    return {"CMakeLists.txt": re.search(r"project\(ttyward VERSION (\S+)", text("CMakeLists.txt")).group(1),
            "sdk/typescript/package.json": json.loads(text("sdk/typescript/package.json"))["version"],
            "extension/vscode/package.json": json.loads(text("extension/vscode/package.json"))["version"],
            "sdk/python/pyproject.toml": re.search(r'^version = "(.*)"', text("sdk/python/pyproject.toml"), re.M).group(1),
            "sdk/python/src/ttyward/__init__.py": re.search(r'__version__ = "(.*)"', text("sdk/python/src/ttyward/__init__.py")).group(1),
            "server.json": json.loads(text("server.json"))["version"],
            "server.json, package": json.loads(text("server.json"))["packages"][0]["version"]}


def notes(version):
    """The section of this version in the changelog; what is not released yet, if it has none."""
    sections = re.split(r"^## ", text("CHANGELOG.md"), flags=re.M)[1:]
    for name in (version, "Unreleased"):
        for section in sections:
            if section.startswith(name):
                return section.partition("\n")[2].strip() + "\n"
    sys.exit(f"CHANGELOG.md has no section for {version}")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    version, tree, dist = sys.argv[1:]
    wrong = {place: found for place, found in versions().items() if found != version}
    if wrong:
        sys.exit(f"the version is not {version} everywhere: {wrong}")
    os.makedirs(dist, exist_ok=True)
    machine = machine_of(tree)
    architecture, arch = MACHINES[machine]
    # The unit of a tree that can be anywhere is of no use; the Debian package has its own.
    members = {name: data for name, data in tree_members(tree, f"ttyward-{version}").items() if "/systemd/" not in name}
    tar_gz(f"{dist}/ttyward-{version}-linux-{machine}.tar.gz", members)
    debian(version, tree, dist, architecture)
    image(version, tree, f"{dist}/ttyward-{version}-linux-{machine}.oci.tar", architecture)
    npm_packages(version, tree, dist, arch)
    wheel(version, dist)
    shutil.copyfile(f"{tree}/share/doc/ttyward/ttyward.spdx.json", f"{dist}/ttyward-{version}.spdx.json")
    with open(f"{dist}/notes.md", "w", encoding="utf-8") as f:
        f.write(notes(version))
    names = sorted(name for name in os.listdir(dist) if name not in ("SHA256SUMS", "notes.md"))
    with open(f"{dist}/SHA256SUMS", "w", encoding="utf-8") as f:
        for name in names:
            f.write(f"{hashlib.sha256(read(os.path.join(dist, name))).hexdigest()}  {name}\n")
    for name in names:
        print(f"{os.path.getsize(os.path.join(dist, name)):>10}  {name}")


if __name__ == "__main__":
    main()
