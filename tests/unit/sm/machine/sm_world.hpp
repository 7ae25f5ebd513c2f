/// What every part of an SM refers to, with nothing behind it: for tests of a part alone.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/isa/load.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/blocks/resident_blocks.hpp"
#include "models/sm/front_end/drained_warps.hpp"
#include "models/sm/front_end/suspended_waits.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/parameters/sm_setup.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/sm/ports/sm_ports.hpp"
#include "models/sm/translation/parked_lines.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep {

/// An SM's surroundings: four partitions, host, dispatcher and GMMU, and two tenants.
class SmWorld {
 public:
  /// A kernel `k` with this body, see kernel_of; and what is not as it is by default.
  explicit SmWorld(const std::string& body = "", void (*change)(SmSetup&) = nullptr,
                   const std::string& declarations = "");

  const isa::Instruction& instruction(std::uint32_t pc) const {
    return blocks.grid(0).instructions[pc];
  }
  const IssueRecord& record(std::uint32_t pc) const { return blocks.grid(0).issue->records[pc]; }
  /// pc of the first instruction of a category; of the first one on global memory.
  std::uint32_t find(isa::Category category) const;
  std::uint32_t find_global(isa::Category category) const;

  /// Starts the kernel's grid and enters its block `index`.
  BlockPlace enter_block(std::uint32_t threads, std::uint64_t index = 0, std::uint16_t tenant = 0);

  /// Messages to a partition (0 to 3), the host, the dispatcher or the GMMU since the last call.
  enum Whom : std::size_t { host = 4, dispatcher = 5, gmmu = 6 };
  std::vector<const MessageHeader*> sent(std::size_t whom) { return sink_.to(whom); }
  std::size_t requests() const;
  void forget_sent() { sink_.clear(); }

 private:
  isa::Module module_;
  MessageSink sink_;

 public:
  const SmConstants constants;
  SmStatistics statistics;
  SmPorts ports;
  ResidentBlocks blocks;
  Mistakes mistakes;
  /// All of these, for a part.
  const SmContext sm{constants, statistics, ports, blocks, mistakes};
};

/// Remembers who has been drained.
struct DrainedList final : DrainedWarps {
  void drained(WarpSlot warp, SmCycle now) override {
    warps.push_back(warp);
    cycles.push_back(now);
  }
  std::vector<WarpSlot> warps;
  std::vector<SmCycle> cycles;
};

/// Nobody waits for a phase, nor owes an arrival.
struct NoWaits final : SuspendedWaits {
  void copies_came(WarpSlot, SmCycle) override {}
  void limit_came(WarpSlot, SmCycle) override {}
  void forget(WarpSlot) override {}
};

/// Remembers what became of parked lines.
struct ParkedLog final : ParkedLines {
  void dropped(const Access& access, SmCycle) override { ended.push_back(access.pc); }
  void squashed(const Access& access, unsigned group, SmCycle) override {
    squashed_lines.push_back(access.group[group].line);
  }
  bool come(TlbKey page, SmCycle) override {
    came.push_back(page);
    return waits;
  }
  std::uint64_t stopped_warps() const override { return 0; }
  void violated(const Access& access, unsigned group, SmCycle) override {
    mistaken.push_back(access.group[group].line);
  }
  std::vector<std::uint32_t> ended;
  std::vector<std::uint64_t> mistaken, squashed_lines;
  std::vector<TlbKey> came;
  bool waits = false;  ///< something squashed for what has come
};

/// `other` becomes what `part` is: saved and restored.
template <class Part>
void save_and_restore(Part& part, Part& other) {
  std::ostringstream out;
  {
    Archive archive = Archive::saving(out);
    archive(part);
  }
  std::istringstream in(out.str());
  Archive archive = Archive::restoring(in);
  archive(other);
}

}  // namespace lockstep
