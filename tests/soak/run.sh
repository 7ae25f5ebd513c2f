#!/usr/bin/env bash
# What CI does a few times, many times: kills, damaged checkpoints, full disks.  Some half an hour.
#
#   tests/soak/run.sh [KILLS] [DAMAGES] [DISKS]
set -euo pipefail
cd "$(dirname "$0")/../scenarios"
export LOCKSTEP_KILLS=${1:-50} LOCKSTEP_DAMAGES=${2:-200} LOCKSTEP_DISKS=${3:-30}
export LOCKSTEP=${LOCKSTEP:-$PWD/../../build/release/lockstep} PYTHONPATH=$PWD:$PWD/checkpoints PYTHONDONTWRITEBYTECODE=1
for test in checkpoints/test_kills.py files/test_last_stage.py checkpoints/test_damaged_checkpoints.py \
  ../soak/test_full_disks.py; do
  echo "== $test =="
  /usr/bin/python3 "$test"
done
