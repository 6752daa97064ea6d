# cmake -D OUTPUT=tuned_files.cpp -D "FILES=a.json;b.json" -P embed_tuned.cmake: the files as text of the program.
set(entries "")
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  file(READ "${file}" text)
  string(APPEND entries "    {\"${name}\", R\"tuned(${text})tuned\"},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "schedules/records/tuned.h"

namespace attune {

std::span<const BuiltInText> built_in_texts() {
  static constexpr BuiltInText texts[] = {
@entries@  };
  return texts;
}

}  // namespace attune
]])
