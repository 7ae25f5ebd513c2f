#include "jobs/run/preemptions.hpp"

#include <map>

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

const char* kept(const PreemptionRecord& record) {
  if (record.bound == Time::never()) return "-";
  return record.released - record.asked <= record.bound ? "yes" : "no";
}

const char* predictor_of(const PreemptionRecord& record) {
  if (record.technique != Technique::drain || record.expected == Time::never()) return "-";
  return record.own_pace ? "own" : "finished";
}

}  // namespace

std::vector<PreemptedBlockRow> gather_preemptions(const Engine& engine, const Machine& machine) {
  using OfGpus = std::map<std::uint32_t, std::vector<PreemptionRecord>>;
  OfGpus mine, all;
  for (const LocalComponent& local : engine.components())
    if (const auto* dispatcher = dynamic_cast<const Dispatcher*>(local.component))
      mine[machine.site_of(local.id).place().gpu] = dispatcher->preemptions();
  for (const Communicator::Bytes& bytes : engine.communicator().gather(packed(std::move(mine))))
    all.merge(unpacked<OfGpus>(bytes));
  std::vector<PreemptedBlockRow> rows;
  for (const auto& [gpu, records] : all)
    for (const PreemptionRecord& r : records)
      rows.push_back({r.urgent,
                      r.block.grid,
                      gpu,
                      r.block.sm,
                      r.block.block,
                      name_of(r.technique),
                      r.asked,
                      r.stopped,
                      r.released,
                      r.returned,
                      r.bound,
                      kept(r),
                      r.expected,
                      r.expected_loss,
                      predictor_of(r),
                      r.before.work.executed.warp,
                      r.before.work.cycles,
                      r.before.idempotent,
                      r.before.ended_by,
                      r.before.faulted,
                      r.lost,
                      r.bytes,
                      r.parts.register_bytes,
                      r.parts.shared_bytes});
  return rows;
}

}  // namespace lockstep
