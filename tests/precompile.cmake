# attune_precompile(HEADER INCLUDED SUFFIX COMPILER OPTIONS...) writes HEADER, which includes INCLUDED alone, and reads it once for all programs: into
# HEADER and the suffix by which the compiler finds what it has read. A program that is compiled with other options reads the header itself.
function(attune_precompile header included suffix compiler)
  file(CONFIGURE OUTPUT "${header}" CONTENT "#include \"${included}\"\n" @ONLY)  # writes it only if it is another
  add_custom_command(OUTPUT "${header}${suffix}" DEPENDS "${header}" DEPFILE "${header}.d" VERBATIM
    COMMAND "${compiler}" -std=c++20 ${ARGN} -MD -MF "${header}.d" -MT "${header}${suffix}" -x c++-header "${header}" -o "${header}${suffix}")
endfunction()
