# The runtime on CPUs that this machine is not: x86-64 without AVX-512, and arm64. What is missing for it makes a skipped test.

function(skipped_test name reason)
  add_test(NAME "${name}" COMMAND sh -c "echo 'skipped: ${reason}'; exit 77")
  set_tests_properties("${name}" PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# cpu_test(CPU FEATURES): what the runtime finds on a CPU of QEMU's.
add_executable(print_features print_features.cpp)
target_link_libraries(print_features PRIVATE attune::runtime attune_warnings)
find_program(attune_qemu_x86_64 qemu-x86_64)
function(cpu_test cpu features)
  set(name "test_runtime/features of ${cpu}")
  if(NOT attune_qemu_x86_64 OR ATTUNE_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
    skipped_test("${name}" "it needs qemu-x86_64 and a build for x86-64 without sanitizers")
    return()
  endif()
  add_test(NAME "${name}" COMMAND "${attune_qemu_x86_64}" -cpu ${cpu} $<TARGET_FILE:print_features>)
  set_tests_properties("${name}" PROPERTIES PASS_REGULAR_EXPRESSION "features: ${features}\n$")
endfunction()
cpu_test(Nehalem "sse4.2")
cpu_test(Haswell "sse4.2 avx2 fma f16c bmi2")

# The runtime and the kernels of the tests for arm64; the C program of the tests runs them under QEMU.
set(name "test_runtime/from_c on arm64")
find_program(attune_arm64_cxx aarch64-linux-gnu-g++)
find_program(attune_arm64_cc aarch64-linux-gnu-gcc)
find_program(attune_arm64_ar aarch64-linux-gnu-ar)
find_program(attune_qemu_arm64 qemu-aarch64)
if(NOT attune_arm64_cxx OR NOT attune_arm64_cc OR NOT attune_arm64_ar OR NOT attune_qemu_arm64)
  skipped_test("${name}" "it needs aarch64-linux-gnu-g++ and qemu-aarch64")
  return()
endif()
set(arm64 "${CMAKE_CURRENT_BINARY_DIR}/arm64")
file(MAKE_DIRECTORY "${arm64}")
set(arm64_flags -O1 -fPIC -Wall -Wextra -Wconversion -Werror -I "${PROJECT_SOURCE_DIR}" -isystem "${ATTUNE_HALIDE}/include")
set(here "${CMAKE_CURRENT_SOURCE_DIR}")
attune_halide_runtime_object("${arm64}/halide_runtime.o" arm-64-linux)

attune_join(runtime_source runtime_for_arm64 ${runtime_sources})
file(GLOB runtime_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/*.h" "${PROJECT_SOURCE_DIR}/runtime/*.cpp")
add_custom_command(OUTPUT "${arm64}/libattune_rt.a"
  COMMAND "${attune_arm64_cxx}" -std=c++20 ${arm64_flags} -c "${runtime_source}" -o runtime.o
  COMMAND "${CMAKE_COMMAND}" -E rm -f libattune_rt.a
  COMMAND "${attune_arm64_ar}" rcs libattune_rt.a runtime.o halide_runtime.o
  DEPENDS ${runtime_files} "${arm64}/halide_runtime.o"
  WORKING_DIRECTORY "${arm64}" COMMENT "Building the runtime for arm64" VERBATIM)
set(kernel_sources "${here}/kernels/arithmetic.c" "${here}/kernels/shapes.c" "${here}/kernels/steps.c" "${here}/kernels/library.c")
add_custom_command(OUTPUT "${arm64}/whole.so"
  COMMAND "${attune_arm64_cc}" -std=c11 ${arm64_flags} -shared ${kernel_sources} halide_runtime.o
          "-Wl,--version-script,${here}/kernels/exports.map" -o kernels.so
  COMMAND append_trailer kernels.so whole.so
  DEPENDS ${kernel_sources} "${here}/kernels/kernels.h" "${here}/kernels/exports.map" "${arm64}/halide_runtime.o" append_trailer
  WORKING_DIRECTORY "${arm64}" VERBATIM)
add_custom_command(OUTPUT "${arm64}/from_c"
  COMMAND "${attune_arm64_cc}" -std=c11 ${arm64_flags} -c "${here}/from_c.c" -o from_c.obj
  COMMAND "${attune_arm64_cxx}" from_c.obj libattune_rt.a -o from_c
  DEPENDS "${here}/from_c.c" "${arm64}/libattune_rt.a"
  WORKING_DIRECTORY "${arm64}" VERBATIM)
add_custom_target(runtime_for_arm64 ALL DEPENDS "${arm64}/from_c" "${arm64}/whole.so")
add_test(NAME "${name}" COMMAND "${attune_qemu_arm64}" -L /usr/aarch64-linux-gnu "${arm64}/from_c" "${arm64}/whole.so")
