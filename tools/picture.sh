#!/bin/sh
# Makes docs/images/tour.svg: `ttyward demo` in a ttyward terminal, as that terminal's screen shows it.
#   tools/picture.sh [TTYWARD]
set -eu
cd "$(dirname "$0")/.."
ttyward=$(realpath "${1:-./ttyward}")
folder=$(mktemp -d)
export TTYWARD_HOME="$folder/state" HOME="$folder" SHELL=/bin/bash PATH="$folder:$PATH" TERM=xterm-256color
ln -s "$ttyward" "$folder/ttyward"
# A script counts as an agent, which may not type at a prompt, unless it has the person's token.
TTYWARD_PERSON_TOKEN_FILE=$(ttyward person token)
export TTYWARD_PERSON_TOKEN_FILE
echo 'PS1="\[\e[1;32m\]~\[\e[0m\] \$ "' > "$folder/.bashrc"
trap 'ttyward daemon stop --kill-terminals >/dev/null 2>&1; rm -rf "$folder"' EXIT
ttyward open --name tour --cwd "$folder" --size 104x47 >/dev/null
ttyward send tour --text 'clear; ttyward demo --fast' --enter
ttyward wait tour --for 'The tour has removed' --from-start --timeout 60 >/dev/null
mkdir -p docs/images
ttyward screen tour --format svg > docs/images/tour.svg
echo "docs/images/tour.svg: $(wc -c < docs/images/tour.svg) bytes"
