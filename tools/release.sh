#!/bin/sh
# Build a release into dist/: programs for any Linux, packages, clients, bill of materials, checksums.
#   tools/release.sh VERSION
#   TTYWARD_BUILD=build/release tools/release.sh VERSION    takes the programs of a build that is there
# The same sources give the same bytes: times come from the last commit. Publishing is docs/releasing.md.
set -eu
cd "$(dirname "$0")/.."
version=${1:?say which version: tools/release.sh VERSION}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
build=${TTYWARD_BUILD:-}
if [ -z "$build" ]; then
  build=build/dist
  tools/build_panel.sh # becomes part of the program
  cmake --preset dist >/dev/null
  cmake --build --preset dist --target programs made_text
fi
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cmake --install "$build" --strip --component program --prefix "$tree" >/dev/null
echo "what the programs need:"
for program in "$tree/bin/ttyward" "$tree/libexec/ttyward/ttyward-hold"; do
  needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
  newest=$(objdump -T "$program" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
  echo "  ${program##*/}: ${needed:-nothing}${newest:+(up to $newest)}, $(($(stat -c %s "$program") / 1024)) KiB"
done
rm -rf dist
mkdir dist
tools/build_extension.sh
cp extension/vscode/dist/ttyward.vsix "dist/ttyward-$version.vsix"
tools/make_dist.py "$version" "$tree" dist
