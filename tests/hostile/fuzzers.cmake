# Fuzzers: one entry point each. A short share runs with all tests; `fuzz_NAME CORPUS --runs 1000000` goes on. With ATTUNE_LIBFUZZER and Clang they
# are linked with libFuzzer instead of our driver, for an on-demand search that follows the code.
option(ATTUNE_LIBFUZZER "Link the fuzzers with libFuzzer, which Clang has" OFF)

add_library(attune_fuzz_driver OBJECT fuzz_driver.cpp)
target_link_libraries(attune_fuzz_driver PRIVATE attune_warnings)
target_compile_options(attune_fuzz_driver PRIVATE ${attune_light_options})

# attune_add_fuzzer(NAME CORPUS RUNS LIBRARIES...): tests/hostile/fuzz_NAME.cpp.
function(attune_add_fuzzer name corpus runs)
  add_executable(fuzz_${name} fuzz_${name}.cpp)
  target_link_libraries(fuzz_${name} PRIVATE attune_warnings ${ARGN})
  target_compile_options(fuzz_${name} PRIVATE ${attune_light_options})
  if(ATTUNE_LIBFUZZER)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    return()
  endif()
  target_link_libraries(fuzz_${name} PRIVATE attune_fuzz_driver)
  add_test(NAME hostile/fuzz_${name} COMMAND fuzz_${name} "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${corpus}" --runs ${runs})
  set_tests_properties(hostile/fuzz_${name} PROPERTIES LABELS hostile TIMEOUT 300)
endfunction()

attune_add_fuzzer(npy npy 200000 attune_npy)
attune_add_fuzzer(mlir mlir 2000 attune_command_line)
attune_add_fuzzer(compile mlir 4 attune_command_line)
attune_add_fuzzer(tuned tuned 20000 attune_command_line)
attune_add_fuzzer(options options 2000 attune_command_line)
attune_add_fuzzer(onnx ../../onnx/models 20000 attune_codegen attune_onnx)
attune_add_fuzzer(case case 4000 attune_onnx attune_npy)
attune_add_fuzzer(gguf gguf 20000 text_generation_parts)
attune_add_fuzzer(safetensors safetensors 20000 sentence_similarity_parts)

# The driver must find what one of its mutations brings about, and keep the input.
add_executable(fuzz_control fuzz_control.cpp)
target_link_libraries(fuzz_control PRIVATE attune_fuzz_driver attune_warnings)
add_test(NAME hostile/fuzz_control COMMAND sh -c "\"$1\" \"$2\" --runs 20000 && exit 1; grep -q 1e309 fuzz_control.input" sh
  $<TARGET_FILE:fuzz_control> "${CMAKE_CURRENT_SOURCE_DIR}/corpus/options")
set_tests_properties(hostile/fuzz_control PROPERTIES LABELS hostile TIMEOUT 60)
