#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/isa/cluster.hpp"
#include "models/isa/program.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// How many blocks of how many threads a launch step asks for.
struct LaunchShape {
  std::array<std::uint32_t, 3> blocks{1, 1, 1}, threads{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  /// Registers of a thread for occupancy; 0: as many as the program has.
  std::uint32_t registers = 0;
  isa::ClusterShape cluster = isa::no_cluster;
  bool is_explicit_cluster = false;  ///< the launch or the kernel names a cluster size
};

/// Returns the kernel of a launch step.  Throws UserError at the step, with the module's kernels
/// and the nearest name, if there is none.
std::uint32_t find_kernel(const Step& launch, const isa::Module& module);

/// Names of the kernels that a workload's steps launch.
std::set<std::string> launched_kernels(const Workload& workload);

/// Returns grid, block, shared memory and registers of a launch.  Throws UserError at an expression
/// that is no size, or at the step when the kernel is made for other blocks (.reqntid, .maxntid) or
/// other clusters (cluster_shape.hpp).
LaunchShape launch_shape(const isa::Program& kernel, const Step& launch,
                         const Variables& variables);

/// Returns the kernel's parameter buffer: numbers converted to the parameters' types, buffers as
/// the addresses at `addresses_by_buffer` (by index in the workload, after swaps).
///
/// A list gives the bytes of a structure, or of any parameter: numbers of 4 bytes, buffers of 8.
/// Integer parameters take every number that fits with or without a sign, since PTX writes `int` as
/// .u32. PTX does not tell pointers from 64-bit integers, so a number passes where a pointer is
/// meant. Throws UserError at the argument for everything else that does not fit.
std::vector<std::byte> pack_arguments(const isa::Program& kernel, const Step& launch,
                                      const Variables& variables,
                                      std::span<const std::uint64_t> addresses_by_buffer);

/// Returns the initial content of a variable of the module, empty for zeros; `addresses`: addresses
/// of all variables.
std::vector<std::byte> initial_content(const isa::GlobalVariable& variable,
                                       const Workload& workload, const isa::Module& module,
                                       const std::vector<std::uint64_t>& addresses);

/// Checks every launch of the workload as far as that needs no counters: the kernel exists, takes
/// that many arguments, and buffers stand where an address fits.
void validate_workload(const Workload& workload, const isa::Module& module);

}  // namespace lockstep
