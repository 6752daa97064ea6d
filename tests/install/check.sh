#!/usr/bin/env bash
# check.sh package|subproject SOURCE BUILD FOLDER: builds samples/02_own_project in FOLDER with an installed Attune or with its source, and runs it.
set -euo pipefail
way=$1 source=$2 build=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder"
if [[ $way == package ]]; then
  cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
  where=(-DCMAKE_PREFIX_PATH="$folder/prefix")
else
  # The same options as in BUILD let ccache give what it has; a project that is no test has no need of them.
  where=(-DATTUNE_SOURCE="$source" -DATTUNE_WARNINGS_AS_ERRORS=ON)
fi
cmake -S "$source/samples/02_own_project" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${where[@]}"
cmake --build "$folder/build" -j2
"$folder/build/own_project"
