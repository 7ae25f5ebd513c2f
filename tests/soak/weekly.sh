#!/usr/bin/env bash
# Once a week: whether every source compiles by itself, every test under the sanitizers, then small runs, and the tests of
# the parts that handle memory of their own, under valgrind, which sees what is read before it is written.
set -euo pipefail
cd "$(dirname "$0")/../.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
jobs/install_packages.sh run tests soak
tests/soak/alone.py
.ci/sanitizers all

cmake --preset release -DLOCKSTEP_TESTS=ON >/dev/null
cmake --build --preset release --target lockstep test_core test_workload test_fuzz
memcheck=(valgrind --error-exitcode=9 --quiet --leak-check=no --suppressions=tests/soak/valgrind.supp)
# The instructions that valgrind knows; its memory is not that of jemalloc.
export LOCKSTEP_CPU_LEVEL=2 LOCKSTEP_FUZZ_SECONDS=60
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${memcheck[@]}" build/release/tests/test_core --gtest_brief=1 --gtest_filter='-*Threads*'
# valgrind computes floating-point numbers of 80 bits with 64 (its manual, "Limitations"): literals beyond 2^53 differ.
"${memcheck[@]}" build/release/tests/test_workload --gtest_brief=1 \
  --gtest_filter='-KernelArguments.LiteralsAreExactBeyondDoubles'
"${memcheck[@]}" build/release/tests/fuzz/test_fuzz --gtest_brief=1
for scenario in quickstart two_tenants_tiny oversubscribed_tiny; do
  "${memcheck[@]}" build/release/lockstep run "configs/scenarios/$scenario.yaml" --check --quiet \
    --output "$folder/$scenario.h5"
done
