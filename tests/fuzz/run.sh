#!/usr/bin/env bash
# libFuzzer with address and undefined-behaviour sanitizers on everything that reads what users wrote.
#
#   tests/fuzz/run.sh [SECONDS]     for each input, 20 unless said otherwise
#
# What it finds is left in build/fuzz as crash-..., timeout-... or oom-...: mend it, and keep it in corpus/.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-20}
jobs/install_packages.sh run tests soak
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers
status=0
for input in ptx scenario workload hdf5 content recording checkpoint; do
  folder=build/fuzz/found/$input
  mkdir -p "$folder"
  words=()
  case $input in
    ptx) words=(-dict=tests/fuzz/ptx.dict) ;;
    scenario | workload) words=(-dict=tests/fuzz/yaml.dict) ;;
  esac
  echo "== $input =="
  # HDF5 keeps what it has until the process ends.
  ASAN_OPTIONS=detect_leaks=0 "build/fuzz/tests/fuzz/fuzz_$input" -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=3000 -max_len=8192 -print_final_stats=1 -verbosity=0 "${words[@]}" \
    -artifact_prefix="$folder-" "$folder" "tests/fuzz/corpus/$input" || status=1
done
exit "$status"
