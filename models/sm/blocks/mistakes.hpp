/// Mistakes of a thread's program.  The host hears of them once per tenant and ends the tenant;
/// other tenants go on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

/// Returns a text such as "0x1f40".
std::string hexadecimal(std::uint64_t value);

struct Mistake {
  std::string where, what, advice;
};

class Mistakes {
 public:
  Mistakes(const SmConstants& constants, const ResidentBlocks& blocks, SmPorts& ports)
      : constants_(constants),
        blocks_(blocks),
        ports_(ports),
        reported_(constants.setup.tenants.size()) {}

  Mistake by(const Warp& warp, std::uint32_t pc, unsigned lane, const std::string& what,
             const std::string& advice) const;
  /// Throws a Mistake, while an instruction issues and before anything waits for it.
  [[noreturn]] void user_error(const Warp& warp, std::uint32_t pc, unsigned lane,
                               const std::string& what, const std::string& advice) const;
  /// Throws the message with which the program itself gave up.
  [[noreturn]] void trapped(const Warp& warp, const isa::Instruction& trap, unsigned lane) const;
  [[noreturn]] void misaligned(const Warp& warp, const LaneAddresses& address, std::uint32_t active,
                               unsigned bytes) const;
  /// Throws if not all lanes execute an instruction that needs a whole warp.
  void require_whole_warp(const Warp& warp, const isa::Instruction& instruction,
                          std::uint32_t lanes) const;
  /// Warns the host if the warp has just gone on without lanes that its instruction names. The host
  /// prints one warning for each line.
  void warn_of_absent(Warp& warp, SmCycle now) {
    if (const auto absent = warp.paths.take_absent(); absent) [[unlikely]]
      warn(warp, *absent, now);
  }
  /// `kind`: "store to "; `outside` the buffers of the tenant.
  [[noreturn]] void outside(const Warp& warp, std::uint32_t pc, unsigned lane,
                            const std::string& kind, unsigned bytes, std::uint64_t address,
                            const BufferBounds::Outside& outside) const;
  /// Tells the host, which ends the tenant.
  void report(TenantId tenant, const Mistake& mistake, SmCycle now);

  void serialize(Archive& archive) {
    archive.section("sm/mistakes", 2);
    archive(reported_, warned_);
  }

 private:
  void warn(const Warp& warp, const isa::WarpPaths::Absent& absent, SmCycle now);
  /// Returns the name of a buffer of the warp's tenant.
  std::string name_of(const Warp& warp, const BufferBound& buffer) const;

  const SmConstants& constants_;
  const ResidentBlocks& blocks_;
  SmPorts& ports_;
  std::vector<std::uint8_t> reported_;  ///< flag of each tenant
  std::vector<std::string> warned_;     ///< tenants and lines that the host has heard of
};

}  // namespace lockstep
