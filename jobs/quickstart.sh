#!/usr/bin/env bash
# Installs what is missing, builds, runs the quickstart scenario and shows where its results are.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs/install_packages.sh run
cmake --preset release -DLOCKSTEP_TESTS=OFF >/dev/null
cmake --build --preset release --target lockstep
mkdir -p build/quickstart
build/release/lockstep run configs/scenarios/quickstart.yaml --check --threads "$(nproc)" \
  --output build/quickstart/quickstart.h5
/usr/bin/python3 jobs/analysis/plot_run.py build/quickstart/quickstart.h5 \
  --output build/quickstart/quickstart.png
echo "results: build/quickstart/quickstart.h5"
echo "plot:    build/quickstart/quickstart.png"
