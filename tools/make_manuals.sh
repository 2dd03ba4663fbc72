#!/bin/sh
# Write the manual pages, made by the program they describe: ttyward(1), and ttyward-VERB(1) for each verb.
#   tools/make_manuals.sh PROGRAM FOLDER
set -eu
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
for verb in $("$program" manual --list); do
  "$program" manual "$verb" | gzip -9n >"$folder/ttyward-$verb.1.gz"
done
"$program" manual | gzip -9n >"$folder/ttyward.1.gz" # last: it says that all are there
