# cmake -DOUTPUT=FILE.cpp -DLIBRARIES=A.a;B.a -P compiler_digest.cmake: a source that defines attune::compiler_digest.
set(digests)
foreach(library IN LISTS LIBRARIES)
  file(SHA256 "${library}" digest)
  string(APPEND digests "${digest}")
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING "${digest}" 0 32 digest)
file(WRITE "${OUTPUT}" "#include \"tools/attune/compiler_digest.h\"

const std::string_view attune::compiler_digest = \"${digest}\";
")
