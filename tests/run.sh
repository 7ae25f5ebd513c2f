#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests; prints how many ran.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs/install_packages.sh run tests
cmake --preset release -DLOCKSTEP_TESTS=ON >/dev/null
cmake --build --preset release
log=build/release/ctest.log
status=0
ctest --test-dir build/release --output-on-failure -j "$(nproc)" 2>&1 | tee "$log" || status=$?
passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed' "$log" || true)
failed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*' "$log" || true)
echo "$passed passed, $failed failed"
exit "$status"
