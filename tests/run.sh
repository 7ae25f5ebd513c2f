#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests; prints how many ran.
#
#   tests/run.sh [OPTION...]   options of cmake; LOCKSTEP_WERROR=ON, which CI sets, makes another build of every file
set -euo pipefail
cd "$(dirname "$0")/.."
jobs/install_packages.sh run tests
cmake --preset release -DLOCKSTEP_TESTS=ON "$@" >/dev/null
cmake --build --preset release
log=build/release/ctest.log
status=0
# Twice as many programs as cores: half of the time of the scenario tests is waiting, for signals, sleeps and other ranks.
ctest --preset release -j "$((2 * $(nproc)))" 2>&1 | tee "$log" || status=$?
passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed' "$log" || true)
failed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*' "$log" || true)
tests=$(awk '/^\[=+\] [0-9]+ tests? from .* ran/ { n += $2 } /^Ran [0-9]+ test/ { n += $2 } END { print n + 0 }' \
  build/release/Testing/Temporary/LastTest.log)
echo "$passed programs passed, $failed failed; $tests tests ran in them"
exit "$status"
