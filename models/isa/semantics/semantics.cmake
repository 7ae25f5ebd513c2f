# The families of instruction semantics (families/*.cc), compiled once per x86-64 level.
#
# -O3 in every build type: an inline function that is not inlined would be shared between levels.
# No traps: comparisons become blends.  No strict aliasing: rows are read as floats and 64-bit words.
# Sanitizers look at what the source says, which one level shows.
set(levels v2 v3 v4)
set(optimisation -O3)
if(LOCKSTEP_SANITIZE)
  set(levels v2)
  set(optimisation -O1)
  target_compile_definitions(lockstep_isa PRIVATE LOCKSTEP_ONE_LEVEL)
endif()
file(GLOB semantics_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/families/*.cc)
# Options of the files, not of the targets: they come last and replace the -march of all others.
set_source_files_properties(
  ${semantics_sources} PROPERTIES COMPILE_OPTIONS
  "-march=x86-64-$<TARGET_PROPERTY:LOCKSTEP_LEVEL>;${optimisation};-fno-trapping-math;-fno-strict-aliasing")
foreach(level ${levels})
  add_library(lockstep_semantics_${level} OBJECT ${semantics_sources})
  # Families give the same names to the same operations: each stays a translation unit.
  set_target_properties(lockstep_semantics_${level} PROPERTIES LOCKSTEP_LEVEL ${level} UNITY_BUILD OFF)
  target_compile_definitions(lockstep_semantics_${level} PRIVATE LOCKSTEP_LEVEL=${level})
  target_link_libraries(lockstep_semantics_${level} PRIVATE lockstep_options)
  target_sources(lockstep_isa PRIVATE $<TARGET_OBJECTS:lockstep_semantics_${level}>)
endforeach()
