#!/usr/bin/env bash
# For hours what ctest does for seconds: fuzzing, faults at every call, interrupted and damaged runs, random programs,
# and memory that must not grow.  What fails is told at the end.
#
#   tests/soak/soak.sh [HOURS]     8 unless said otherwise
set -euo pipefail
cd "$(dirname "$0")/../.."
hours=${1:-8}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LOCKSTEP=$PWD/build/release/lockstep
export LOCKSTEP_FAULTS_LIBRARY=$PWD/build/release/tests/scenarios/liblockstep_faults.so
export PYTHONPATH=$PWD/tests/scenarios:$PWD/tests/scenarios/checkpoints
failed=()

try() {
  echo "== $* =="
  "$@" || failed+=("$*")
}
scenario() { try env "${@:2}" /usr/bin/python3 "tests/scenarios/$1"; }

jobs/install_packages.sh run tests soak
cmake --preset release -DLOCKSTEP_TESTS=ON >/dev/null
cmake --build --preset release
try tests/fuzz/run.sh $((hours * 3600 / 4 / 5))  # a quarter of the time, for five inputs
export LOCKSTEP_ALL_CASES=1
scenario files/test_strange_data_sets.py
scenario paging/test_full_memory.py
try env LOCKSTEP_CASES=$((hours * 500)) build/release/tests/test_properties --gtest_brief=1
try env VECTOR_SUMS=$((hours * 12500)) VECTOR_SEED=$RANDOM TEST_ISA=build/release/tests/test_isa /usr/bin/python3 \
  tests/references/matrix/test_vectors.py
scenario faults/test_faults.py LOCKSTEP_FAULTS=$((hours * 50))
scenario checkpoints/test_resume.py LOCKSTEP_CHAINS=$((hours * 40))
scenario checkpoints/test_damaged_checkpoints.py LOCKSTEP_DAMAGES=$((hours * 200))
scenario files/test_last_stage.py LOCKSTEP_KILLS=$((hours * 50))
try tests/soak/memory_growth.py --minutes $((hours * 60 / 8))
[ ${#failed[@]} -eq 0 ] || printf 'failed: %s\n' "${failed[@]}"
[ ${#failed[@]} -eq 0 ]
