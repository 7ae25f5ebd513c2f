#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing: install_packages.sh GROUP... (the groups are below)
set -euo pipefail
declare -A groups=(
  [run]="g++ cmake ninja-build ccache pkg-config libopenmpi-dev openmpi-bin libtbb-dev libjemalloc-dev
         libhdf5-dev hdf5-tools libyaml-cpp-dev libfmt-dev libcli11-dev libmetis-dev libmuparser-dev
         liblz4-dev libzstd-dev
         librandom123-dev tao-pegtl-dev python3 python3-h5py python3-matplotlib
         python3-numpy python3-pandas libjs-dygraphs"
  [container]="openmpi-bin libtbb12 libjemalloc2 libhdf5-103-1 libhdf5-hl-100 libyaml-cpp0.7 libfmt9 libmetis5
               libmuparser2v5 python3 python3-h5py python3-matplotlib python3-numpy python3-pandas"
  [tests]="libgtest-dev libbenchmark-dev python3-venv python3-setuptools python3-wheel chromium"
  [cluster]="slurmctld slurmd slurm-client slurm-wlm munge"
  [lint]="clang-format-14 clang-tidy-14 shellcheck universal-ctags python3-flake8"
  [soak]="clang-14 valgrind python3-yaml"
  [second_mpi]="mpich libmpich-dev"
)
missing=()
for group in "$@"; do
  for package in ${groups[$group]}; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}"
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
