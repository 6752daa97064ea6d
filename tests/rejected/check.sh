#!/usr/bin/env bash
# check.sh COMPILER ROOT PRECOMPILED FILE...: every FILE must fail to compile with the sentence of its first line in the
# first error, and its valid twin (the same file with -DVALID) must compile. PRECOMPILED is a header that includes
# dsl/gradients.h, compiled beforehand by the same compiler. Each failure names the file.
#
# A compiler reads PRECOMPILED for longer than a program takes. So all programs are compiled as one, each in a namespace
# of its own, and again one by one only if the errors are not one for each program, in their order.
set -uo pipefail
export LC_ALL=C
compiler=$1 root=$2 precompiled=$3
shift 3
failures=0

compile() {
  "$compiler" -std=c++20 -fsyntax-only -include "$precompiled" "-I$root" "$@" 2>&1
}

sentence_of() {
  sed -n '1s,^// expect: ,,p' "$1"
}

# Prints what is wrong with a file, nothing if it is refused as it should be.
problem() {
  local file=$1 expected output first
  expected=$(sentence_of "$file")
  if [[ -z $expected ]]; then
    echo "its first line is not '// expect: <message>'"
  elif output=$(compile "$file"); then
    echo "compiles, expected '$expected'"
  elif first=$(grep -m1 'error:' <<<"$output"); [[ $first != *"$expected"* ]]; then
    printf "the first error does not say '%s':\n%s\n" "$expected" "${first:-$output}"
  fi
}

# All files as one program.
together() {
  local number=0 file
  for file in "$@"; do
    number=$((number + 1))
    printf 'namespace program_%d {\n#include "%s"\n}\n' "$number" "$PWD/$file"
  done
}

# Whether the programs, compiled as one, are refused with an error each, which has its program's sentence.
are_refused_in_order() {
  local -a errors
  local file expected number=0
  local unlimited=
  [[ $("$compiler" --version) == *clang* ]] && unlimited=-ferror-limit=0
  mapfile -t errors < <(together "$@" | compile ${unlimited:+"$unlimited"} -x c++ - | grep 'error:')
  ((${#errors[@]} == $#)) || return
  for file in "$@"; do
    expected=$(sentence_of "$file")
    [[ -n $expected && ${errors[number]} == *"$expected"* ]] || return
    number=$((number + 1))
  done
}

if ! are_refused_in_order "$@"; then
  for file in "$@"; do
    sentence=$(problem "$file")
    if [[ -n $sentence ]]; then
      echo "$(basename "$file"): $sentence"
      failures=$((failures + 1))
    fi
  done
fi
if ! output=$(together "$@" | compile -DVALID -x c++ -); then
  printf 'a valid twin (-DVALID) does not compile:\n%s\n' "$output"
  failures=$((failures + 1))
fi
echo "$# programs, $failures wrong"
((failures == 0 && $# > 0))
