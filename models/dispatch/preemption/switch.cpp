/// Switching: an SM's blocks stop, their contexts - registers, as `context` says, and all
/// shared memory that they occupy - go through GPU memory, and they return when the more urgent
/// grid has left the SM.
///
/// Latency: until its warps have come to points, if only these are wanted, and nothing of a block
/// is in flight, then its context over the SM's share of memory bandwidth, one block after the
/// other. Source: preemption.md, section 2 (switch, "Occup"); 002, sections II and III.
///
/// Simplified: a block returns to the SM that it left.
#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

struct SwitchParameters {
  ContextKind context;
  StopPlaces points;
  static auto schema() {
    using P = SwitchParameters;
    return parameters<P>()
        .field("context", &P::context, ContextKind::occupied, context_kinds(), context_kinds_doc)
        .field("points", &P::points, StopPlaces::any, choice({"none", "selective"}),
               "where warps stop: anywhere, or at the points that the compiler puts into loops and "
               "long stretches of code (002, section IV.A); code without points runs to its end");
  }
};

}  // namespace

Saving saving_of(const PolicyChoice& choice) {
  if (choice.schema() != &schema_of<SwitchParameters>()) return {};
  const auto& parameters = choice.parameters<SwitchParameters>();
  return {parameters.context, parameters.points};
}

PreemptionRow preemption_by_switching() {
  return {"switch", "blocks stop, their contexts go to memory and come back", Technique::save,
          &schema_of<SwitchParameters>()};
}

}  // namespace lockstep
