#!/usr/bin/env bash
# check.sh COMPILER ROOT FILE...: every FILE must fail to compile with the sentence of its first line in the first error,
# and its valid twin (the same file with -DVALID) must compile. Each failure names the file.
set -uo pipefail
export LC_ALL=C
compiler=$1 root=$2
shift 2
failures=0

compile() {
  "$compiler" -std=c++20 -fsyntax-only "-I$root" "$@" 2>&1
}

# Prints what is wrong with a file, nothing if it is as it should be.
problem() {
  local file=$1 expected output first
  expected=$(sed -n '1s,^// expect: ,,p' "$file")
  if [[ -z $expected ]]; then
    echo "its first line is not '// expect: <message>'"
  elif output=$(compile "$file"); then
    echo "compiles, expected '$expected'"
  elif first=$(grep -m1 'error:' <<<"$output"); [[ $first != *"$expected"* ]]; then
    printf "the first error does not say '%s':\n%s\n" "$expected" "${first:-$output}"
  elif ! output=$(compile -DVALID "$file"); then
    printf 'its valid twin (-DVALID) does not compile:\n%s\n' "$(grep -m1 'error:' <<<"$output")"
  fi
}

for file in "$@"; do
  sentence=$(problem "$file")
  if [[ -n $sentence ]]; then
    echo "$(basename "$file"): $sentence"
    failures=$((failures + 1))
  fi
done
echo "$# programs, $failures wrong"
((failures == 0 && $# > 0))
