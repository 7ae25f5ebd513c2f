/// Functional run of one application: the host program in order, kernels in the interpreter, no
/// time.  The machine must leave the same buffers (`--check`).
///
/// Buffers and the module's variables have the addresses that the driver gives them, so that
/// pointers stored in memory agree as well.
/// Source: architecture.md, section 8, "What --check means".
///
/// Simplified: all streams run as one. A program whose result depends on the order of two streams
/// has no single meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/program.hpp"
#include "models/reference/buffer_bytes.hpp"
#include "models/reference/check.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Buffers at the end of an application, numbered as declared in the workload, whatever names they
/// were swapped to.
struct FunctionalResult {
  struct BufferContent {
    BufferBytes host;                   ///< host bytes; the only copy of managed and pinned buffers
    std::optional<BufferBytes> device;  ///< GPU bytes of a device buffer
  };
  std::vector<BufferContent> buffers;  ///< contents at the end, or when the buffers were freed
  /// Buffer that each name (index in the workload) means at the end.
  std::vector<std::uint32_t> meaning;

  struct Saved {
    std::uint32_t name = 0;  ///< index of the name in the workload
    std::vector<std::byte> bytes;
  };
  std::vector<Saved> saved;  ///< last content saved under each name, in the order of saving

  /// Lines printed by kernels, in another order than the machine's.
  std::vector<std::string> printed;

  /// First copy to the host of a recording that brought other bytes than when it was recorded.
  std::optional<std::string> unexpected;

  /// A line for each device buffer that a kernel reads before anything was written to it.
  std::vector<std::string> warnings;

  std::uint64_t launches = 0;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;

  TenantImages images() const;
};

/// Number of executions of each instruction, by kernel of the module and pc.
struct ExecutionProfile {
  bool lowered = false;  ///< true: runs and counts the lowered programs instead of the reference
  std::vector<std::vector<std::uint64_t>> executions;
};

struct FunctionalOptions {
  ExecutionProfile* profile = nullptr;
  isa::MachineSize machine{};
  /// Launches after which the run ends before the next one.
  std::uint64_t launches = ~std::uint64_t{0};
  /// Function that is called at intervals, if set; it may throw to leave the run.
  std::function<void()> look{};
};

/// Runs the whole host program of tenant `tenant`. Throws UserError for mistakes that the timed
/// host or the interpreter would report: use after free, accesses outside of buffers, bad
/// arguments.
FunctionalResult run_functionally(const std::string& tenant, const Workload& workload,
                                  const isa::Module& module, const FunctionalOptions& options = {});

}  // namespace lockstep
