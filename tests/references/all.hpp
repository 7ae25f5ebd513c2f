#pragma once

// Every shipped workload with its reference, so that one test can drive them all.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/references/backprop.hpp"
#include "tests/references/bandwidth.hpp"
#include "tests/references/bfs.hpp"
#include "tests/references/btree.hpp"
#include "tests/references/buffers.hpp"
#include "tests/references/chirp.hpp"
#include "tests/references/histogram.hpp"
#include "tests/references/hotspot.hpp"
#include "tests/references/kmeans.hpp"
#include "tests/references/lbm.hpp"
#include "tests/references/lud.hpp"
#include "tests/references/managed_add.hpp"
#include "tests/references/mri_q.hpp"
#include "tests/references/nw.hpp"
#include "tests/references/pathfinder.hpp"
#include "tests/references/persistent.hpp"
#include "tests/references/pointer_chase.hpp"
#include "tests/references/reduction.hpp"
#include "tests/references/saxpy.hpp"
#include "tests/references/sgemm.hpp"
#include "tests/references/spmv.hpp"
#include "tests/references/srad.hpp"
#include "tests/references/stencil2d.hpp"
#include "tests/references/stencil3d.hpp"
#include "tests/references/streamcluster.hpp"
#include "tests/references/transpose.hpp"
#include "tests/references/vector_add.hpp"

namespace lockstep::reference {

struct Reference {
  std::string workload;  ///< configs/workloads/<workload>.yaml
  void (*run)(const Parameters&, Buffers&);
  /// Float buffers that agree only within() a tolerance; all other buffers agree to the bit, but
  /// for those that the workload declares `check: false`.
  std::map<std::string, double> tolerance{};
};

/// Relative above 1, absolute below: sums of sines may cancel.
inline bool within(double tolerance, double expected, double actual) {
  return std::abs(expected - actual) <= tolerance * std::max(1.0, std::abs(expected));
}

inline std::vector<Reference> all() {
  return {
      {"backprop", backprop::run, {{"hidden", 1e-5}, {"weight", 1e-5}, {"change", 1e-5}}},
      {"bandwidth", bandwidth::run},
      {"bfs", bfs::run},
      {"btree", btree::run},
      {"chirp", chirp::run, {{"in_phase", 4e-7}, {"quadrature", 4e-7}}},
      {"dram_latency", pointer_chase::run},
      {"histogram", histogram::run},
      {"hotspot", hotspot::run},
      {"kmeans", kmeans::run},
      {"l1_latency", pointer_chase::run},
      {"l2_latency", pointer_chase::run},
      {"lbm", lbm::run, {{"f", 1e-6}, {"next", 1e-6}}},
      {"lud", lud::run},
      {"managed_add", managed_add::run},
      {"mri_q", mri_q::run, {{"q", 5e-5}}},
      {"nw", nw::run},
      {"pathfinder", pathfinder::run},
      {"persistent", persistent::run},
      {"pointer_chase", pointer_chase::run},
      {"reduction", reduction::run},
      {"saxpy", saxpy::run},
      {"sgemm", sgemm::run},
      {"spmv", spmv::run},
      {"srad", srad::run},
      {"stencil2d", stencil2d::run},
      {"stencil3d", stencil3d::run},
      {"streamcluster", streamcluster::run, {{"saved", 1e-4}}},
      {"transpose", transpose::run},
      {"vector_add", vector_add::run},
  };
}

}  // namespace lockstep::reference
