#!/usr/bin/env bash
# Builds the program with other compilers and compares what it writes with the golden runs, to the bit.
#
#   tests/soak/other_compilers.sh [C++ COMPILER...]        # of Debian 12: clang++-16 clang++-19
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [ $# -eq 0 ]; then
  jobs/install_packages.sh run other_compilers
  set -- clang++-16 clang++-19
fi
for compiler in "$@"; do
  build=$PWD/build/$compiler
  c_compiler=${compiler/clang++/clang}
  cmake -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DLOCKSTEP_TESTS=OFF \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${c_compiler/g++/gcc}" >/dev/null
  cmake --build "$build"
  (cd tests/scenarios && LOCKSTEP=$build/lockstep PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 test_golden.py)
  echo "$compiler: the golden runs"
done
