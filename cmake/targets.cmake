# One library per folder, one test program per library: the folder listing is the architecture.
add_library(lockstep_options INTERFACE)
# Small copies without `rep movs`, which takes longer to begin than to copy.
set(LOCKSTEP_COPY_OPTIONS -mmemcpy-strategy=vector_loop:256:noalign,libcall:-1:noalign
                          -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign
    CACHE STRING "options of g++ that other readers of its compile commands do not know")
# -ffp-contract=off: the same bits on every machine.  x86-64-v2: any machine of the last decade.
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror
                       # False positives of GCC 12 on std::string (bugs 105651, 105329).
                       -Wno-restrict -Wno-stringop-overflow
                       -ffp-contract=off -march=x86-64-v2 -fno-math-errno
                       ${LOCKSTEP_COPY_OPTIONS}
                       $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
target_compile_definitions(lockstep_options INTERFACE OMPI_SKIP_MPICXX=1)
target_include_directories(lockstep_options INTERFACE ${PROJECT_SOURCE_DIR})
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()

# lockstep_setup_code(files and folders...): code that runs before or after the simulation, or seldom; called
# where its targets are made.  -O1 halves the time it takes to build and costs no simulated second.
set(LOCKSTEP_SETUP_OPTIONS $<$<CONFIG:Release>:-O1>)
function(lockstep_setup_code)
  foreach(path ${ARGV})
    set(sources ${path})
    if(IS_DIRECTORY ${path})
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${path}/*.cpp)
    endif()
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${LOCKSTEP_SETUP_OPTIONS}")
  endforeach()
endfunction()

# lockstep_library(NAME DIRECTORY dir DEPENDS targets...): every .cpp below the folder.
function(lockstep_library name)
  cmake_parse_arguments(ARG "" "DIRECTORY" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_DIRECTORY}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC lockstep_options ${ARG_DEPENDS})
    if(NOT name STREQUAL lockstep_core)
      target_precompile_headers(${name} REUSE_FROM lockstep_core)
    endif()
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE lockstep_options ${ARG_DEPENDS})
  endif()
endfunction()
