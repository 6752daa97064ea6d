# Tests give attune headers of variants by the hundred, and near half of what a compiler does for one is to read those of the language. Here are
# compilers that have read them: programs that take what attune gives a compiler. Where its options change, GCC reads the headers as it does elsewhere.
set(attune_compilers "${PROJECT_BINARY_DIR}/tests/compilers")
add_custom_target(attune_compilers ALL)
foreach(name IN ITEMS c++ g++-12 clang++-22)
  find_program("attune_program_${name}" "${name}")
  if(NOT attune_program_${name})
    continue()
  endif()
  file(REAL_PATH "${attune_program_${name}}" program)
  cmake_path(GET program FILENAME file)
  set(header "${attune_compilers}/read_by_${file}/variant_library.h")
  if(NOT TARGET "attune_read_by_${file}")
    file(CONFIGURE OUTPUT "${header}" CONTENT "#include \"dsl/variant_library.h\"\n" @ONLY)
    add_custom_command(OUTPUT "${header}.gch"
      COMMAND "${program}" -std=c++20 -O0 -fPIC "-I${PROJECT_BINARY_DIR}/include/attune" -x c++-header -MD -MF "${header}.d" -MT "${header}.gch" "${header}" -o "${header}.gch"
      DEPENDS "${header}" DEPFILE "${header}.d" VERBATIM)
    add_custom_target("attune_read_by_${file}" DEPENDS "${header}.gch")
    add_dependencies(attune_compilers "attune_read_by_${file}")
  endif()
  file(CONFIGURE OUTPUT "${attune_compilers}/${name}" CONTENT "#!/bin/sh\nexec '${attune_program_${name}}' -include '${header}' \"$@\"\n" @ONLY)
  file(CHMOD "${attune_compilers}/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
