/// Switching: an SM's blocks stop at once, their contexts - registers, as `context` says, and all
/// shared memory that they occupy - go through GPU memory, and they return when the more urgent
/// grid has left the SM.
///
/// Latency: until nothing of a block is in flight, then its context over the SM's share of memory
/// bandwidth, one block after the other.
/// Source: preemption.md, section 2 (switch, "Occup"); 002, sections II and III.
///
/// Simplified: a block returns to the SM that it left.
#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

struct SwitchParameters {
  ContextKind context;
  static auto schema() {
    using P = SwitchParameters;
    return parameters<P>().field("context", &P::context, ContextKind::occupied, context_kinds(),
                                 context_kinds_doc);
  }
};

}  // namespace

ContextKind contexts_of(const PolicyChoice& choice) {
  return choice.schema() == &schema_of<SwitchParameters>()
             ? choice.parameters<SwitchParameters>().context
             : ContextKind::occupied;
}

PreemptionRow preemption_by_switching() {
  return {"switch", "blocks stop, their contexts go to memory and come back", Technique::save,
          &schema_of<SwitchParameters>()};
}

}  // namespace lockstep
