#!/usr/bin/env bash
# check.sh COMPILER ROOT PRECOMPILED FILE...: every FILE must fail to compile with the sentence of its first line in the
# first error, and its valid twin (the same file with -DVALID) must compile. PRECOMPILED is a header that includes
# dsl/graph.h, compiled beforehand by the same compiler. Each failure names the file.
set -uo pipefail
export LC_ALL=C
compiler=$1 root=$2 precompiled=$3
shift 3
failures=0

compile() {
  "$compiler" -std=c++20 -fsyntax-only -include "$precompiled" "-I$root" "$@" 2>&1
}

# Prints what is wrong with a file, nothing if it is refused as it should be.
problem() {
  local file=$1 expected output first
  expected=$(sed -n '1s,^// expect: ,,p' "$file")
  if [[ -z $expected ]]; then
    echo "its first line is not '// expect: <message>'"
  elif output=$(compile "$file"); then
    echo "compiles, expected '$expected'"
  elif first=$(grep -m1 'error:' <<<"$output"); [[ $first != *"$expected"* ]]; then
    printf "the first error does not say '%s':\n%s\n" "$expected" "${first:-$output}"
  fi
}

# The valid twins of all files as one program, each in a namespace of its own.
twins() {
  local number=0 file
  for file in "$@"; do
    number=$((number + 1))
    printf 'namespace twin_%d {\n#include "%s"\n}\n' "$number" "$PWD/$file"
  done
}

for file in "$@"; do
  sentence=$(problem "$file")
  if [[ -n $sentence ]]; then
    echo "$(basename "$file"): $sentence"
    failures=$((failures + 1))
  fi
done
if ! output=$(twins "$@" | compile -DVALID -x c++ -); then
  printf 'a valid twin (-DVALID) does not compile:\n%s\n' "$output"
  failures=$((failures + 1))
fi
echo "$# programs, $failures wrong"
((failures == 0 && $# > 0))
