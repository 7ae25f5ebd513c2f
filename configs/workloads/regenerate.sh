#!/usr/bin/env bash
# Compiles every workload's CUDA source to the PTX that stands beside it.
# Usage: configs/workloads/regenerate.sh [NAME...]     (default: all; NVCC overrides the compiler)
# WORKLOADS names another folder (those below tests/validation).
#
# Floating point: the sources spell every fused multiply-add as fmaf(), so the compiler's own
# contraction is off and the PTX computes exactly what the source says.
set -euo pipefail
cd "${WORKLOADS:-$(dirname "${BASH_SOURCE[0]}")}"

nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" >/dev/null; then
  echo "regenerate.sh: skipped, no nvcc found; the PTX in this folder stays as it is" >&2
  exit 0
fi

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in *.cu; do names+=("${source%.cu}"); done
fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
for name in "${names[@]}"; do
  case $name in
    gemm_mma) arch=sm_80 ;;  # its matrix instructions
    *) arch=sm_75 ;;
  esac
  "$nvcc" --ptx -arch=$arch -O3 -fmad=false -o "$temporary/$name.ptx" "$name.cu"
  # The compiler's banner holds its build id: everything before .version goes.
  {
    echo "// Compiled from $name.cu by regenerate.sh; edit the source, not this file."
    awk 'found || /^\.version/ { found = 1; print }' "$temporary/$name.ptx"
  } >"$name.ptx"
  echo "$name.ptx"
done
