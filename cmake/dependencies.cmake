# Everything comes from Debian 12 packages; README.md lists them.

find_package(MPI REQUIRED COMPONENTS C)
find_package(TBB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
find_library(HDF5_HL_LIBRARY hdf5_serial_hl REQUIRED)  # dimension scales; not in hdf5-serial.pc
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)

find_library(METIS_LIBRARY metis REQUIRED)
find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
add_library(METIS::METIS UNKNOWN IMPORTED)
set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
