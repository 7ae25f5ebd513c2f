#!/usr/bin/env bash
# Builds the last commit on another release of Debian or Ubuntu, in a tree of its own that debootstrap makes (root only),
# and compares what it writes with the golden runs, to the bit.
#
#   tests/soak/other_release.sh FOLDER RELEASE [MIRROR [C++ COMPILER...]]
#   tests/soak/other_release.sh /srv/trixie trixie
#   tests/soak/other_release.sh /srv/noble noble http://archive.ubuntu.com/ubuntu g++ clang++-17
#
# The folder stays: another call builds on.  Mounts are private to this script, so that the folder can be removed.
set -euo pipefail
[ "${LOCKSTEP_MOUNTS:-}" = private ] || LOCKSTEP_MOUNTS=private exec unshare --mount "$0" "$@"
cd "$(dirname "$0")/../.."
tree=$1 release=$2 mirror=${3:-http://deb.debian.org/debian}
compilers=("${@:4}")
[ ${#compilers[@]} -gt 0 ] || compilers=(g++)
components=main
[[ $mirror == *ubuntu* ]] && components="main universe"
if [ ! -e "$tree/etc/os-release" ]; then
  scripts=/usr/share/debootstrap/scripts
  script=$scripts/$release
  [ -e "$script" ] || script=$scripts/gutsy  # any release of Ubuntu
  debootstrap --variant=minbase --no-check-gpg "$release" "$tree" "$mirror" "$script"
fi
echo "deb [trusted=yes] $mirror $release $components" >"$tree/etc/apt/sources.list"
mount --bind /proc "$tree/proc"
mount --rbind /dev "$tree/dev"
rm -rf "$tree/lockstep"
mkdir "$tree/lockstep"
git archive HEAD | tar -x -C "$tree/lockstep"
in_tree() { chroot "$tree" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bash -euc "cd /lockstep; $1"; }
in_tree "jobs/install_packages.sh run"
for compiler in "${compilers[@]}"; do
  in_tree "command -v $compiler >/dev/null || apt-get install -y -qq ${compiler/clang++/clang} >/dev/null
    c_compiler=${compiler/clang++/clang}
    cmake -B /build-$compiler -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DLOCKSTEP_TESTS=OFF \
      -DCMAKE_CXX_COMPILER=$compiler -DCMAKE_C_COMPILER=\${c_compiler/g++/gcc} >/dev/null
    cmake --build /build-$compiler
    cd tests/scenarios
    LOCKSTEP=/build-$compiler/lockstep PYTHONPATH=. /usr/bin/python3 test_golden.py"
  echo "$release, $compiler: the golden runs"
done
