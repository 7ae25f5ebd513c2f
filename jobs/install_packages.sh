#!/usr/bin/env bash
# Installs the packages of Debian 12 or Ubuntu that are missing: install_packages.sh GROUP... (the groups are below).
# One that a release lacks is named and left out; whether that matters the build says, and docs/install.md.
set -euo pipefail
declare -A groups=(
  [run]="g++ cmake ninja-build ccache pkg-config libopenmpi-dev openmpi-bin libtbb-dev libjemalloc-dev
         libhdf5-dev hdf5-tools libyaml-cpp-dev libfmt-dev libcli11-dev libmetis-dev libmuparser-dev
         liblz4-dev libzstd-dev
         librandom123-dev tao-pegtl-dev python3 python3-h5py python3-matplotlib
         python3-numpy python3-pandas libjs-dygraphs"
  [newer_compiler]="g++-12"
  [container]="openmpi-bin libtbb12 libjemalloc2 libhdf5-103-1 libhdf5-hl-100 libyaml-cpp0.7 libfmt9 libmetis5
               libmuparser2v5 liblz4-1 libzstd1 python3 python3-h5py python3-matplotlib python3-numpy python3-pandas"
  [tests]="libgtest-dev libbenchmark-dev python3-venv python3-setuptools python3-wheel chromium"
  [manual]="python3-sphinx python3-myst-parser furo"
  [cluster]="slurmctld slurmd slurm-client slurm-wlm munge"
  [lint]="clang-format-14 clang-tidy-14 shellcheck universal-ctags python3-flake8 python3-yaml"
  [soak]="clang-14 valgrind python3-yaml"
  [other_compilers]="clang-16 clang-19"
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
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
$sudo apt-get update -qq
there=()
for package in "${missing[@]}"; do
  if apt-cache show "$package" >/dev/null 2>&1; then
    there+=("$package")
  else
    echo "this release has no $package"
  fi
done
[ ${#there[@]} -eq 0 ] && exit 0
echo "installing: ${there[*]}"
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
  "${there[@]}" >/dev/null
