#!/usr/bin/env bash
# The cluster's tests, with the program that tests/run.sh built.
set -euo pipefail
cd "$(dirname "$0")"
../../jobs/install_packages.sh cluster
/usr/bin/python3 test_cluster.py
