/// The streaming multiprocessor: blocks in, memory requests and finished blocks out.
///
/// Stages are explicit: fetch (the instruction buffer always holds a warp's next instruction, a
/// branch empties it for its latency), issue (scoreboard, unit and queue free), operand read,
/// execute (the last translation check of a memory instruction is its turn in the load-store unit),
/// commit (the scoreboard bit of a destination falls).  A warp instruction computes its values when
/// it issues; loads get theirs when the memory answers.
/// Source: architecture.md, sections 3 and 8; hot-path.md (layout); gpu-parameters.md, section 3.
///
/// Simplified: the instruction cache always hits; register banks never conflict; one result bus per
/// unit.  Constant and parameter memory always hit (as in the configurations of section 7).
/// Cost model: see sm_parameters.hpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "core/parameters/policy.hpp"
#include "models/isa/program.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/messages.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/sm/parameters/sm_parameters.hpp"
#include "models/sm/tables/constant_rows.hpp"
#include "models/vm/replay_mode.hpp"
#include "models/vm/vm_parameters.hpp"

namespace lockstep {

struct SmState;
class IssueTables;

class StreamingMultiprocessor final : public Component {
 public:
  struct Setup {
    SmParameters parameters;
    NocParameters noc;
    PolicyChoice warp_scheduler;    ///< of warp_scheduler_policies()
    PolicyChoice exception_scheme;  ///< of exception_scheme_policies()
    std::uint32_t index = 0;
    std::vector<std::string> tenants;  ///< names, for messages
    std::vector<const isa::Module*> modules;
    /// What issue needs to know of each instruction; shared by all SMs of a rank.  Made by
    /// make_issue_tables; nullptr: this SM makes its own.
    std::shared_ptr<const IssueTables> issue_tables;
    /// The constants of grids, shared in the same way.
    std::shared_ptr<ConstantRows> constant_rows = std::make_shared<ConstantRows>();
    AddressMapping mapping;
    /// Physical address where the local memory of all SMs begins, above the GPU's capacity; SM i
    /// has the range [i, i + 1) * local_memory_bytes(parameters) from there.
    std::uint64_t local_memory_base = std::uint64_t{1} << 40;
    std::vector<Link> to_partitions;
    Link to_host, to_dispatcher, to_gmmu;
    VmParameters vm = defaults<VmParameters>();
    ReplayMode replay = ReplayMode::listed;
  };
  explicit StreamingMultiprocessor(Setup setup);
  ~StreamingMultiprocessor() override;

  Time next_activity() const override;
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  bool finished() const override;
  std::string waiting_for() const override;

 private:
  std::unique_ptr<SmState> state_;
};

/// Bytes of physical address space that an SM's threads need for local memory.
std::uint64_t local_memory_bytes(const SmParameters& parameters);

}  // namespace lockstep
