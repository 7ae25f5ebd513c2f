#pragma once

#include <cstdint>
#include <vector>

#include "models/gpu/machine_parameters.hpp"
#include "models/isa/program.hpp"
#include "models/sm/parameters/context_area.hpp"
#include "models/sm/tables/issue_tables.hpp"

namespace lockstep {

/// GPU memory set aside for contexts of thread blocks, at the end of gpu.memory.capacity.  Each SM
/// has `extra_blocks` + 1 places, and for each priority that a preemption may save as many places
/// as blocks fit on the SM.  A place holds the largest context of all launches (loop counters at
/// their first value).
/// Source: 000, section 4.1.
class ContextMemory {
 public:
  /// No memory: no block leaves its SM.
  ContextMemory() = default;
  /// Sets memory aside for a policy that lets some blocks leave.  `module_of_tenant`: index in
  /// `modules`. Throws UserError if the contexts do not fit.
  ContextMemory(const Scenario& scenario, const MachineParameters& parameters,
                const std::vector<const isa::Module*>& modules,
                const std::vector<std::uint16_t>& module_of_tenant, const IssueTables& tables);

  /// Returns the bytes of GPU memory for all contexts, in whole pages of the page manager.
  std::uint64_t bytes() const { return bytes_; }
  ContextArea area_of(std::uint32_t sm) const;

 private:
  ContextArea first_;  ///< area of SM 0
  std::uint64_t bytes_ = 0;
};

}  // namespace lockstep
