# Found by CMake's own modules and pkg-config, so that the names are those of no distribution; docs/install.md says how
# the packages are called on several.

find_package(MPI REQUIRED COMPONENTS C)
find_package(TBB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C HL)  # HL: dimension scales
find_package(PkgConfig REQUIRED)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)
pkg_check_modules(JEMALLOC IMPORTED_TARGET jemalloc)
if(NOT JEMALLOC_FOUND)
  message(STATUS "jemalloc was not found: the program uses the allocator of the C library and is slower")
endif()

# Releases of yaml-cpp before 0.8 name their target without a namespace.
if(NOT TARGET yaml-cpp AND TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp ALIAS yaml-cpp::yaml-cpp)
endif()

find_library(METIS_LIBRARY metis REQUIRED)
find_path(METIS_INCLUDE_DIR metis.h PATH_SUFFIXES metis REQUIRED)
add_library(METIS::METIS UNKNOWN IMPORTED)
set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})

# Headers alone: missing ones are told of here, not in the middle of the build.
foreach(header Random123/philox.h tao/pegtl.hpp)
  string(MAKE_C_IDENTIFIER FOUND_${header} found)
  find_path(${found} ${header})
  if(NOT ${found})
    message(FATAL_ERROR "${header} was not found - docs/install.md names its package")
  endif()
endforeach()
