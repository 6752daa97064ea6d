#!/bin/bash
# run.sh FILE ATTUNE_OPT FILECHECK NOT: runs each "// RUN:" line of the file; %s is the file. Fails if one fails or there is none.
set -euo pipefail
file=$1 attune_opt=$2 filecheck=$3 not=$4
attune-opt() { "$attune_opt" "$@"; }
FileCheck() { "$filecheck" "$@"; }
not() { "$not" "$attune_opt" "${@:2}"; }  # always `not attune-opt ...`
count=0
while IFS= read -r command; do
  echo "+ $command"
  eval "${command//%s/\"\$file\"}"
  count=$((count + 1))
done < <(sed -n 's|^// RUN: ||p' "$file")
[[ $count -gt 0 ]] || { echo "$file has no RUN line" >&2; exit 1; }
