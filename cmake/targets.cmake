# One library per folder, one test program per library: the folder listing is the architecture.
add_library(lockstep_options INTERFACE)
# -ffp-contract=off: the same bits on every machine.  x86-64-v2: any machine of the last decade.
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror
                       -Wno-restrict  # false positives of GCC 12 on std::string (bug 105651)
                       -ffp-contract=off -march=x86-64-v2 -fno-math-errno)
target_compile_definitions(lockstep_options INTERFACE OMPI_SKIP_MPICXX=1)
target_include_directories(lockstep_options INTERFACE ${PROJECT_SOURCE_DIR})
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()

# lockstep_library(NAME DIRECTORY dir DEPENDS targets...): every .cpp below the folder.
function(lockstep_library name)
  cmake_parse_arguments(ARG "" "DIRECTORY" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_DIRECTORY}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC lockstep_options ${ARG_DEPENDS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE lockstep_options ${ARG_DEPENDS})
  endif()
endfunction()
