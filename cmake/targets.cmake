# One library per folder, one test program per library: the folder listing is the architecture.
add_library(lockstep_options INTERFACE)
# Small copies without `rep movs`, which takes longer to begin than to copy.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(copy_options -mmemcpy-strategy=vector_loop:256:noalign,libcall:-1:noalign
                   -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign)
endif()
set(LOCKSTEP_COPY_OPTIONS ${copy_options}
    CACHE STRING "options of g++ that other readers of its compile commands do not know")
# -ffp-contract=off: the same bits on every machine.  x86-64-v2: any machine of the last decade.
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${LOCKSTEP_WERROR}>:-Werror>
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>
                       # std::stable_sort of libstdc++ 12 uses get_temporary_buffer, which clang 19 warns of.
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
                       # False positives of GCC 12 on std::string (bugs 105651, 105329).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
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

# For code that runs before or after the simulation, or seldom: halves the time it takes to build and costs no
# simulated second.  GCC 12 also warns of strings that begin with a literal there (bug 105329).
set(LOCKSTEP_SETUP_OPTIONS $<$<CONFIG:Release>:-O1> -Wno-array-bounds)
# Since GCC 13 precompiled headers are refused where these differ, as they do between -O1 and -O3.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  list(APPEND LOCKSTEP_SETUP_OPTIONS -munroll-only-small-loops -mvzeroupper)
endif()

# Checks of a pointer before each use are half of the time that the sanitizers take to compile such code.  The address
# sanitizer still sees the uses of null and of memory behind an object.
if(LOCKSTEP_SANITIZE MATCHES "undefined")
  list(APPEND LOCKSTEP_SETUP_OPTIONS -fno-sanitize=null,alignment,object-size)
endif()

# Files of such code that one unity file includes: the template library's part of a compilation is then paid once for
# sixteen files instead of for eight, which saves a third of the time.
set(LOCKSTEP_SETUP_BATCH 16)

# Code of which a request passes many files, one after the other: they become few functions when a program is linked.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT LOCKSTEP_SANITIZE)
  set(link_time_options -flto -ffat-lto-objects)
endif()
set(LOCKSTEP_LINK_TIME_OPTIONS ${link_time_options}
    CACHE STRING "options of g++ for code that a program's link optimizes as a whole")
if(LOCKSTEP_LINK_TIME_OPTIONS)
  add_link_options($<$<CONFIG:Release>:-flto=auto>)
endif()
function(lockstep_optimize_at_link)
  foreach(library ${ARGN})
    target_compile_options(${library} PRIVATE "$<$<CONFIG:Release>:${LOCKSTEP_LINK_TIME_OPTIONS}>")
  endforeach()
endfunction()

# lockstep_library(NAME DIRECTORY dir [SETUP paths...] DEPENDS targets...): every .cpp below the folder; what stands
# below SETUP (files and folders in it, `.` for all) with LOCKSTEP_SETUP_OPTIONS.
function(lockstep_library name)
  cmake_parse_arguments(ARG "" "DIRECTORY" "SETUP;DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_DIRECTORY}/*.cpp)
  set(setup_sources)
  foreach(path ${ARG_SETUP})
    get_filename_component(below ${ARG_DIRECTORY}/${path} ABSOLUTE)
    if(IS_DIRECTORY ${below})
      file(GLOB_RECURSE below CONFIGURE_DEPENDS ${below}/*.cpp)
    endif()
    list(APPEND setup_sources ${below})
  endforeach()
  if(setup_sources)
    list(REMOVE_ITEM sources ${setup_sources})
    # A target of its own: options of single files would keep them out of unity builds.
    add_library(${name}_setup OBJECT ${setup_sources})
    target_link_libraries(${name}_setup PRIVATE lockstep_options ${ARG_DEPENDS})
    target_compile_options(${name}_setup PRIVATE ${LOCKSTEP_SETUP_OPTIONS})
    set_target_properties(${name}_setup PROPERTIES UNITY_BUILD_BATCH_SIZE ${LOCKSTEP_SETUP_BATCH})
    target_precompile_headers(${name}_setup REUSE_FROM lockstep_headers)
    list(APPEND sources $<TARGET_OBJECTS:${name}_setup>)
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC lockstep_options ${ARG_DEPENDS})
    target_precompile_headers(${name} REUSE_FROM lockstep_headers)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE lockstep_options ${ARG_DEPENDS})
  endif()
endfunction()
