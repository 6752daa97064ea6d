# attune_add_kernel(NAME my_attention SOURCE my_attention.h STRUCT MyAttention
#                   [TARGETS x86-64-v3 x86-64-v4] [TYPE f32 bias=bf16] [SET depth=64] [PARAM window=512] [DEPENDS file ...])
#
# A library target NAME: the kernel of the variant STRUCT in SOURCE, compiled ahead of time by the program `attune`, with the
# headers NAME.h (C) and NAME.hpp (C++), and Attune's runtime. SOURCE may also be MLIR text or the name of one of Attune's variants
# (`attune list variants`), which have no STRUCT. Without TARGETS the kernel is for this machine. DEPENDS lists what SOURCE includes
# besides Attune's own headers.
function(attune_add_kernel)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SOURCE;STRUCT" "TARGETS;TYPE;SET;PARAM;DEPENDS")
  set(who "attune_add_kernel(NAME ${arg_NAME})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${who}: does not know '${arg_UNPARSED_ARGUMENTS}'; its words are NAME, SOURCE, STRUCT, TARGETS, TYPE, SET, PARAM, DEPENDS")
  endif()
  if(NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${who}: NAME is '${arg_NAME}'; it must be a name in C, because the generated headers use it")
  endif()
  set(source "${arg_SOURCE}")
  set(source_file "")
  if(arg_STRUCT OR NOT source MATCHES "^[a-z0-9_]+$")
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    set(source_file "${source}")
    if(NOT arg_SOURCE OR NOT EXISTS "${source}")
      message(FATAL_ERROR "${who}: SOURCE is '${arg_SOURCE}', which does not exist; it must be a C++ header, MLIR text or a variant's name")
    endif()
    if(NOT arg_STRUCT AND NOT source MATCHES "\\.mlir$")
      message(FATAL_ERROR "${who}: has no STRUCT; it says which struct of ${arg_SOURCE} is the variant")
    endif()
  endif()

  set(options "")
  if(arg_STRUCT)
    list(APPEND options --struct "${arg_STRUCT}")
  endif()
  foreach(option IN ITEMS TARGETS TYPE)
    if(arg_${option})
      string(REPLACE ";" "," words "${arg_${option}}")
      string(TOLOWER "--${option}" flag)
      string(REGEX REPLACE "s$" "" flag "${flag}")
      list(APPEND options "${flag}" "${words}")
    endif()
  endforeach()
  foreach(option IN ITEMS SET PARAM)
    string(TOLOWER "--${option}" flag)
    foreach(pair IN LISTS arg_${option})
      list(APPEND options "${flag}" "${pair}")
    endforeach()
  endforeach()

  if(TARGET attune)
    set(program attune)
  else()
    set(program attune::attune)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_kernel")
  file(MAKE_DIRECTORY "${folder}")
  set(object "${folder}/${arg_NAME}.o")
  set(others "${folder}/${arg_NAME}.h" "${folder}/${arg_NAME}.hpp" "${folder}/${arg_NAME}.json")
  add_custom_command(OUTPUT "${object}" ${others}
    COMMAND ${program} compile "${source}" ${options} --name "${arg_NAME}" -o "${folder}"
    DEPENDS ${source_file} ${arg_DEPENDS} ${program}
    COMMENT "Compiling the attention kernel ${arg_NAME}"
    VERBATIM)

  add_library(${arg_NAME} STATIC "${object}" ${others})
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${arg_NAME} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${arg_NAME} INTERFACE "${folder}")
  target_link_libraries(${arg_NAME} INTERFACE attune::runtime)
endfunction()
