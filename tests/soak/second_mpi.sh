#!/usr/bin/env bash
# The layout tests with MPICH in place of Open MPI, in a build of its own.  HDF5 is the serial one and needs no MPI.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs/install_packages.sh run tests second_mpi
cmake --preset release -B build/mpich -DLOCKSTEP_TESTS=ON -DMPI_C_COMPILER=mpicc.mpich \
  -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" >/dev/null
cmake --build build/mpich --target lockstep test_mpi
for layout in "1 1" "2 1" "2 2" "3 1" "4 1"; do
  read -r ranks threads <<<"$layout"
  echo "== $ranks ranks, $threads threads =="
  mpiexec.mpich -n "$ranks" build/mpich/tests/test_mpi --threads="$threads"
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scenario=configs/scenarios/two_tenants_tiny.yaml
build/mpich/lockstep run "$scenario" --quiet --output "$folder/alone.h5"
for ranks in 2 3; do
  mpiexec.mpich -n "$ranks" build/mpich/lockstep run "$scenario" --quiet --output "$folder/$ranks.h5"
  build/mpich/lockstep diff "$folder/alone.h5" "$folder/$ranks.h5"
done
