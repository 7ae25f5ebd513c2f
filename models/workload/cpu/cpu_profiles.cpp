#include "models/workload/cpu/cpu_profiles.hpp"

#include <array>

namespace lockstep {

namespace {

constexpr CpuTraffic stream(double misses) {
  return {misses, 0.9, 1.5, 0.25};
}
constexpr CpuTraffic scattered(double misses) {
  return {misses, 0.4, 4, 0.2};
}
constexpr CpuTraffic mixed(double misses) {
  return {misses, 0.65, 2.2, 0.25};
}

}  // namespace

std::span<const CpuProfile> cpu_profiles() {
  static constexpr std::array profiles = {
      CpuProfile{"tonto", mixed(0.01)},        CpuProfile{"povray", mixed(0.01)},
      CpuProfile{"calculix", stream(0.06)},    CpuProfile{"perlbench", scattered(0.11)},
      CpuProfile{"namd", mixed(0.11)},         CpuProfile{"dealII", mixed(0.14)},
      CpuProfile{"wrf", stream(0.21)},         CpuProfile{"gcc", scattered(0.33)},
      CpuProfile{"sjeng", scattered(1.08)},    CpuProfile{"gobmk", scattered(1.19)},
      CpuProfile{"gromacs", mixed(1.67)},      CpuProfile{"h264ref", stream(1.86)},
      CpuProfile{"bzip2", mixed(6.08)},        CpuProfile{"astar", scattered(7.6)},
      CpuProfile{"hmmer", mixed(8.65)},        CpuProfile{"cactusADM", mixed(14.99)},
      CpuProfile{"sphinx3", stream(17.24)},    CpuProfile{"omnetpp", scattered(21.85)},
      CpuProfile{"milc", stream(21.93)},       CpuProfile{"xalancbmk", scattered(22.32)},
      CpuProfile{"libquantum", stream(26.27)}, CpuProfile{"leslie3d", stream(38.13)},
      CpuProfile{"soplex", stream(52.45)},     CpuProfile{"GemsFDTD", mixed(63.61)},
      CpuProfile{"lbm", stream(69.63)},        CpuProfile{"mcf", scattered(155.30)},
  };
  return profiles;
}

}  // namespace lockstep
