#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/properties/machine_bench.hpp"

namespace lockstep::testing {

/// A random program on several GPUs, alone on its machine.
struct RandomTenant {
  unsigned gpus = 2;
  std::string ptx, workload;
  std::string tenant;                 ///< what a scenario says of it
  std::vector<std::string> settings;  ///< of a machine with so many GPUs

  std::unique_ptr<MachineBench> make() const {
    return std::make_unique<MachineBench>(
        std::vector<MachineBench::Application>{{ptx, workload, tenant}}, settings);
  }
};

}  // namespace lockstep::testing
