# cmake -DROOT=... -DOUTPUT=... -P: writes a source file with a digest of all sources of the program, by which a
# checkpoint knows the program that wrote it.
file(GLOB_RECURSE sources RELATIVE ${ROOT}
     ${ROOT}/core/*.?pp ${ROOT}/core/*.cc ${ROOT}/models/*.?pp ${ROOT}/models/*.cc
     ${ROOT}/partitioner/*.?pp ${ROOT}/jobs/*.?pp)
list(SORT sources)
set(all "")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} digest)
  string(APPEND all "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "namespace lockstep {\nextern const char* const source_digest;\nconst char* const source_digest = \"${digest}\";\n}\n")
