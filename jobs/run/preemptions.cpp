#include "jobs/run/preemptions.hpp"

#include "core/checkpoint/packed.hpp"
#include "models/dispatch/dispatcher.hpp"

namespace lockstep {

namespace {

const char* name_of(Technique technique) {
  switch (technique) {
    case Technique::drain:
      return "drain";
    case Technique::save:
      return "switch";
    case Technique::flush:
      return "flush";
  }
  return "?";
}

}  // namespace

std::vector<PreemptedBlockRow> gather_preemptions(const Engine& engine) {
  std::vector<PreemptionRecord> mine;
  for (const LocalComponent& local : engine.components())
    if (const auto* dispatcher = dynamic_cast<const Dispatcher*>(local.component))
      mine = dispatcher->preemptions();
  std::vector<PreemptedBlockRow> rows;
  for (const Communicator::Bytes& bytes : engine.communicator().gather(packed(std::move(mine))))
    for (const PreemptionRecord& r : unpacked<std::vector<PreemptionRecord>>(bytes))
      rows.push_back({r.urgent, r.block.grid, r.block.sm, r.block.block, name_of(r.technique),
                      r.asked, r.released, r.bound, r.expected, r.expected_loss, r.executed, r.lost,
                      r.bytes});
  return rows;
}

}  // namespace lockstep
