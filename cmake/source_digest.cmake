# cmake -DROOT=... -DOUTPUT=... -DBUILD=... -P: writes a source file with a digest of all sources of the program, by
# which a checkpoint knows the program that wrote it, the commit that they are, and how they were built.
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
set(revision unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --abbrev=12 --exclude=* --dirty=+ WORKING_DIRECTORY ${ROOT}
                  OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(revision ${said})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "namespace lockstep {\nextern const char* const source_digest;\nextern const char* const git_revision;\nextern const char* const build_text;
const char* const source_digest = \"${digest}\";\nconst char* const git_revision = \"${revision}\";
const char* const build_text = \"${BUILD}\";\n}\n")
