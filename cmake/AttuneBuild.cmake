# How Attune's own code is compiled: language, warnings, folders. Everything here ends at Attune's directory.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
include(GNUInstallDirs)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/attune")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# The build folder is laid out as the installed package is, so that bin/attune finds the rest by the same paths from itself:
# ../include/attune/ and ../lib/libattune_rt.a.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/attune")
foreach(folder IN ITEMS dsl runtime)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/include/attune/${folder}" SYMBOLIC)
endforeach()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Also for programs' own files: libattune_rt.a and kernels may end up in a shared object.
add_compile_options(-fPIC)

# Programs name their source files from the root of the repository, wherever they were built.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

# GCC collects its garbage from 512 MB on only: 10 % of a build's time, for up to 0.4 GB more in the largest files.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)

# Includes are written from the root of the repository: #include "dsl/graph.h".
include_directories("${PROJECT_SOURCE_DIR}")

# For the compiler and the tests. Graphs and assertions are small, and the optimiser would take longer over them than it saves: what takes time
# when they run is in Halide, LLVM, the interpreter and the runtime.
set(attune_light_options $<$<CONFIG:Release>:-O1>)

# Of most sources the compiler reads headers for longer than what is in them: Halide's, MLIR's, those of the language. So the sources of a library or a
# test that are in one folder are compiled as one; in the preset dev each alone, so that each includes what it needs. Sources with options of their own
# and generated ones stay alone.
option(ATTUNE_TOGETHER "Compile the sources of a folder as one" ON)
# Where a source includes them is in the private folder, if there is one: so ccache knows it from every build folder.
set(attune_together_folder "${PROJECT_BINARY_DIR}/together")
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/.deps")
  set(attune_together_folder "${PROJECT_SOURCE_DIR}/.deps/together")
endif()
# attune_join(OUTPUT NAME sources...): a source that includes those, which are named from the root of the repository.
function(attune_join output name)
  set(path "${attune_together_folder}/${name}.cpp")
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE text)
  string(JOIN "" text ${text})
  file(CONFIGURE OUTPUT "${path}" CONTENT "${text}" @ONLY)
  set(${output} "${path}" PARENT_SCOPE)
endfunction()
function(attune_compile_together target)
  if(NOT ATTUNE_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(member IN LISTS sources)
    set(source "${member}")
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR "${source}" is_generated)
    if(options OR is_generated OR NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders "${folder}")
    list(APPEND "members_${folder}" "${member}")
    list(APPEND "sources_${folder}" "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH "sources_${folder}" count)
    if(count EQUAL 1)
      continue()
    endif()
    attune_join(joined "${target}/${folder}" ${sources_${folder}})
    list(REMOVE_ITEM sources ${members_${folder}})
    list(APPEND sources "${joined}")
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

# ccache asks the compiler which headers a source includes, instead of preprocessing it first: 7 % of a first build.
# What it must not mind, for a precompiled header, is macros of the time of day; there are none.
find_program(attune_ccache ccache)
if(attune_ccache AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(attune_launcher "${CMAKE_COMMAND}" -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${attune_ccache}")
  set(CMAKE_C_COMPILER_LAUNCHER "${attune_launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${attune_launcher}")
endif()

# Applied PRIVATE to each of Attune's targets, never to what links them.
add_library(attune_warnings INTERFACE)
# GCC 12 sees overlaps in std::string's operator+ that are not there (GCC bug 105651).
target_compile_options(attune_warnings INTERFACE -Wall -Wextra -Wconversion -Wno-restrict
  $<$<BOOL:${ATTUNE_WARNINGS_AS_ERRORS}>:-Werror>)

set(ATTUNE_SANITIZE "" CACHE STRING "Sanitizers for Attune's own code: address,undefined or thread")
if(ATTUNE_SANITIZE)
  # GCC 12 then sees bounds in std::string's operator+, too, that are not there.
  add_compile_options(-fsanitize=${ATTUNE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-array-bounds)
  add_link_options(-fsanitize=${ATTUNE_SANITIZE})
endif()
