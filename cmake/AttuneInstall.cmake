# The installed package: bin/attune, the language and the runtime, and what find_package(attune) reads.
include(CMakePackageConfigHelpers)

set(attune_package "${CMAKE_INSTALL_LIBDIR}/cmake/attune")
set(attune_headers "${CMAKE_INSTALL_INCLUDEDIR}/attune")

# In a package a target is called attune::NAME. attune_warnings stands there because static libraries name what they link.
foreach(pair IN ITEMS attune_dsl=dsl attune_interpreter=interpreter attune_rt=runtime attune_rt_shared=runtime_shared attune_halide_runtime=halide_runtime
                      attune_warnings=warnings attune=attune)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 target)
  if(TARGET ${target})
    list(GET pair 1 name)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS ${target} EXPORT attune INCLUDES DESTINATION "${attune_headers}")
  endif()
endforeach()
if(TARGET attune-opt)
  install(TARGETS attune-opt)
endif()

install(DIRECTORY dsl runtime DESTINATION "${attune_headers}" FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES "${ATTUNE_HALIDE}/include/HalideRuntime.h" DESTINATION "${attune_headers}")
# Laid out as in the source, so that links between pages hold.
install(FILES CONTRIBUTING.md LICENSE NOTICE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
if(ATTUNE_BUILD_COMPILER)
  install(FILES "${ATTUNE_HALIDE}/lib64/libHalide.so" DESTINATION "${CMAKE_INSTALL_LIBDIR}/attune")
  install(FILES "${ATTUNE_HALIDE}/share/doc/Halide/LICENSE.txt" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME LICENSE.Halide)
  install(DIRECTORY schedules/tuned DESTINATION "${CMAKE_INSTALL_DATADIR}/attune" FILES_MATCHING PATTERN "*.json")
endif()

install(EXPORT attune NAMESPACE attune:: FILE attune-targets.cmake DESTINATION "${attune_package}")
configure_package_config_file(cmake/attune-config.cmake.in "${PROJECT_BINARY_DIR}/attune-config.cmake"
  INSTALL_DESTINATION "${attune_package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/attune-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/attune-config.cmake" "${PROJECT_BINARY_DIR}/attune-config-version.cmake"
  cmake/AttuneAddKernel.cmake DESTINATION "${attune_package}")
