#!/usr/bin/env bash
# Installs what is missing, builds, and runs the quickstart scenario twice: with the tree prefetcher, and without any.
# Ends with what happened in words, and a picture of it.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs/install_packages.sh run
if [ -z "${CXX:-}" ] && [ "$(g++ -dumpversion | cut -d. -f1)" -lt 12 ]; then  # Ubuntu 22.04
  jobs/install_packages.sh newer_compiler
  export CC=gcc-12 CXX=g++-12
fi
cmake -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DLOCKSTEP_TESTS=OFF >/dev/null
cmake --build build/release --target lockstep
results=build/quickstart
for prefetcher in tree none; do
  build/release/lockstep run configs/scenarios/quickstart.yaml --check --threads auto \
    --set policies.prefetcher=$prefetcher --output $results/$prefetcher.h5 --overwrite
done
build/release/lockstep plot $results/tree.h5 $results/none.h5 --output $results/quickstart.png
echo "results: $results/tree.h5, $results/none.h5"
echo "The pages of docs/ call the program \`lockstep\`.  In this terminal, and at home in ~/.bashrc:"
echo "    export PATH=$PWD/build/release:\$PATH"
