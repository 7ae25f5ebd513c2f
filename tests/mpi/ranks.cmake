# Tests that need mpirun: one program, run with several numbers of ranks and threads.  A time limit
# turns a hang into a failure.
file(GLOB mpi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mpi/*.cpp)
add_executable(test_mpi ${mpi_sources})
target_link_libraries(test_mpi PRIVATE lockstep_core GTest::gtest)
target_precompile_headers(test_mpi REUSE_FROM lockstep_headers)

function(lockstep_mpi_test ranks threads)
  set(name test_mpi_${ranks}x${threads})
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
           --oversubscribe --bind-to none $<TARGET_FILE:test_mpi> --threads=${threads})
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ranks} TIMEOUT 120 ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
endfunction()

lockstep_mpi_test(1 1)
lockstep_mpi_test(2 1)
lockstep_mpi_test(2 2)
lockstep_mpi_test(3 1)
lockstep_mpi_test(4 1)
