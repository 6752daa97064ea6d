# cmake -DOUTPUT=FILE.cpp -DFOLDER=FOLDER -P headers_digest.cmake: a source that defines attune::digest_of_own_headers, the digest of the headers in
# FOLDER/dsl. What headers_digest (tools/attune/headers_digest.cpp) makes of them is the same.
file(GLOB_RECURSE names RELATIVE "${FOLDER}/dsl" "${FOLDER}/dsl/*.h")
list(SORT names)
set(lines)
foreach(name IN LISTS names)
  file(SHA256 "${FOLDER}/dsl/${name}" digest)
  string(APPEND lines "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${lines}")
string(SUBSTRING "${digest}" 0 16 digest)
file(WRITE "${OUTPUT}" "#include \"tools/attune/headers_digest.h\"

const std::string_view attune::digest_of_own_headers = \"${digest}\";
")
