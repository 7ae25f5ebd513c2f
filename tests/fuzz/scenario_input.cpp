#include <fstream>

#include "models/memory/memory_parameters.hpp"
#include "models/vm/vm_parameters.hpp"
#include "models/workload/scenario.hpp"
#include "tests/fuzz/cursor.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {

void scenario_input(const std::string& bytes) {
  const std::string file = scratch_file(".yaml");
  std::ofstream(file, std::ios::binary) << bytes;
  refused_well([&] {
    const Scenario scenario = read_scenario(file, {"simulation.epoch=5us"});
    if (!scenario.gpu.is_map()) return;
    if (const Node memory = scenario.gpu.find("memory"); memory.exists())
      read_parameters<MemoryParameters>(memory);
    if (const Node vm = scenario.gpu.find("vm"); vm.exists()) read_parameters<VmParameters>(vm);
  });
}

}  // namespace lockstep
