#!/usr/bin/env bash
# check.sh package|subproject|devices SOURCE BUILD FOLDER: builds a project in FOLDER and runs it: samples/02_own_project with an installed
# Attune or with its source, or device_files with an installed Attune. An installed Attune has its documentation.
set -euo pipefail
way=$1 source=$2 build=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder"
project=$source/samples/02_own_project
program=own_project
if [[ $way == devices ]]; then
  project=$source/tests/install/device_files
  program=device_files
fi
if [[ $way == subproject ]]; then
  # The same options as in BUILD let ccache give what it has, and Halide's runtimes are there; a project that is no test has no need of them.
  where=(-DATTUNE_SOURCE="$source" -DATTUNE_WARNINGS_AS_ERRORS=ON -DATTUNE_RUNTIMES_OF="$build")
else
  cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
  /usr/bin/python3 links.py "$folder/prefix/share/doc/attune"
  where=(-DCMAKE_PREFIX_PATH="$folder/prefix")
fi
cmake -S "$project" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${where[@]}"
cmake --build "$folder/build" -j1
"$folder/build/$program"
