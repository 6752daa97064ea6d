# What Attune links. MLIR and Halide come as two calls, attune_use_mlir(TARGET) and attune_use_halide(TARGET).
# Neither is a precompiled header: both as such take 100 s of 610 off a build on two cores, but a second build, as that of a project around
# Attune, then finds nothing in ccache, whose files are those of one build folder's precompiled header.

find_package(Threads REQUIRED)

set(ATTUNE_HALIDE "${PROJECT_SOURCE_DIR}/.deps/halide" CACHE PATH "Halide 21: a folder with include/ and lib64/")
if(NOT EXISTS "${ATTUNE_HALIDE}/include/HalideRuntime.h")
  message(FATAL_ERROR "Halide 21 is not in ${ATTUNE_HALIDE}; run scripts/setup, or set ATTUNE_HALIDE to a folder with include/ and lib64/")
endif()

# The C header of kernels' arguments alone: it needs no library.
add_library(attune_halide_runtime INTERFACE)
add_library(attune::halide_runtime ALIAS attune_halide_runtime)
target_include_directories(attune_halide_runtime SYSTEM INTERFACE "$<BUILD_INTERFACE:${ATTUNE_HALIDE}/include>")
file(CREATE_LINK "${ATTUNE_HALIDE}/include/HalideRuntime.h" "${PROJECT_BINARY_DIR}/include/attune/HalideRuntime.h" SYMBOLIC)

if(NOT ATTUNE_BUILD_COMPILER)
  return()
endif()

find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(mimalloc REQUIRED)
find_package(nlohmann_json REQUIRED)

# ONNX's protobuf definitions, compiled, in the full form that ONNX-ML has. They are of proto2: what later versions add is kept or skipped.
find_package(Protobuf REQUIRED)
find_library(attune_onnx_proto onnx_proto REQUIRED)
find_path(attune_onnx_include onnx/onnx_pb.h REQUIRED)
add_library(attune_onnx_definitions INTERFACE)
add_library(attune::onnx_definitions ALIAS attune_onnx_definitions)
target_include_directories(attune_onnx_definitions SYSTEM INTERFACE "${attune_onnx_include}")
target_compile_definitions(attune_onnx_definitions INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(attune_onnx_definitions INTERFACE "${attune_onnx_proto}" protobuf::libprotobuf)

add_library(attune::halide SHARED IMPORTED)
set_target_properties(attune::halide PROPERTIES
  IMPORTED_LOCATION "${ATTUNE_HALIDE}/lib64/libHalide.so"
  INTERFACE_INCLUDE_DIRECTORIES "${ATTUNE_HALIDE}/include")

find_program(attune_llvm_config NAMES llvm-config-22)
if(attune_llvm_config)
  execute_process(COMMAND "${attune_llvm_config}" --prefix OUTPUT_VARIABLE attune_llvm_prefix
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
find_package(MLIR 22.1 REQUIRED CONFIG HINTS "${attune_llvm_prefix}")

# A program of Attune is linked in a fifth of the time by LLVM's linker, if it is there.
find_program(attune_lld ld.lld HINTS "${attune_llvm_prefix}/bin")
if(attune_lld)
  cmake_path(GET attune_lld PARENT_PATH attune_lld_folder)
  add_link_options(-fuse-ld=lld "-B${attune_lld_folder}")
endif()

add_library(attune_mlir INTERFACE)
target_include_directories(attune_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(attune_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
# These C++20 on Linux has anyway; on the command line they would keep sources from a header that was precompiled without them.
list(REMOVE_ITEM attune_llvm_definitions -D_GLIBCXX_USE_CXX11_ABI=1 -D_GNU_SOURCE -D__STDC_CONSTANT_MACROS -D__STDC_FORMAT_MACROS -D__STDC_LIMIT_MACROS)
target_compile_definitions(attune_mlir INTERFACE ${attune_llvm_definitions})
target_link_libraries(attune_mlir INTERFACE MLIR LLVM)

# Halide allocates each node of its trees: a program compiles in 0.87 of the time with an allocator made for that. Nothing names a function of it, so
# the linker must be told to keep it. Sanitizers bring their own.
add_library(attune_allocator INTERFACE)
if(NOT ATTUNE_SANITIZE)
  target_link_libraries(attune_allocator INTERFACE mimalloc)
  target_link_options(attune_allocator INTERFACE LINKER:--no-as-needed)
endif()

# Links Halide into a target of Attune.
function(attune_use_halide target)
  target_link_libraries(${target} PUBLIC attune::halide attune_allocator)
endfunction()

# Links MLIR and LLVM into a target of Attune.
function(attune_use_mlir target)
  target_link_libraries(${target} PUBLIC attune_mlir)
endfunction()
