/// Switching: an SM's blocks stop, their contexts - registers, as `context` says, and all
/// shared memory that they occupy - go through GPU memory, and they return when the more urgent
/// grid has left the SM, or to another SM if that has room sooner.
///
/// Latency: until its warps have come to points, if only these are wanted, and nothing of a block
/// is in flight, then its context over the memory bandwidth.
/// In place, blocks that stand in nobody's way leave their registers, their shared memory or both
/// on chip (victims/in_place.hpp): less goes through memory, and they return to this SM. Source:
/// preemption.md, section 2 (switch, "Occup"); 002, sections II, III and V.
///
/// Simplified: state that one grid has left on chip moves to memory only after its blocks have
/// returned, and only if arriving blocks do not fit beside it. No second grid leaves state on the
/// SM at the same time, nor one that makes room for a signal.
#include "core/parameters/parameters.hpp"
#include "models/dispatch/preemption/preemption.hpp"

namespace lockstep {

namespace {

struct SwitchParameters {
  ContextKind context;
  StopPlaces points;
  ContextTraffic traffic;
  bool in_place;
  Cycles signal;
  static auto schema() {
    using P = SwitchParameters;
    return parameters<P>()
        .field("context", &P::context, ContextKind::occupied, context_kinds(), context_kinds_doc)
        .field("points", &P::points, StopPlaces::any, stop_places(), stop_places_doc)
        .field("traffic", &P::traffic, ContextTraffic::real, context_traffics(),
               context_traffic_doc)
        .field("in_place", &P::in_place, false,
               "blocks leave registers and shared memory on chip if these are not in the way of "
               "arriving blocks (002, section III.A)")
        .field("signal", &P::signal, Cycles{0}, range(Cycles{0}, Cycles{1'000'000'000}),
               "cycles after which one SM, the next in turn, makes room and takes its blocks back, "
               "though no other grid wants it (002, section V); 0: never");
  }
};

class Switching final : public Preemption {
 public:
  explicit Switching(const SwitchParameters& parameters) : parameters_(parameters) {}

  PreemptionSteps steps() const override {
    const Saving saving{parameters_.context, parameters_.points, parameters_.traffic};
    return {.take = PreemptionSteps::Take{.others = Technique::save, .signal = parameters_.signal},
            .save = PreemptionSteps::Save{saving, parameters_.in_place},
            .placement = parameters_.in_place ? Placement::packed : Placement::summed};
  }

 private:
  const SwitchParameters parameters_;
};

}  // namespace

PreemptionRow preemption_by_switching() {
  return {"switch", "blocks stop, their contexts go to memory and come back",
          [](const PolicyChoice& choice) -> std::unique_ptr<Preemption> {
            return std::make_unique<Switching>(choice.parameters<SwitchParameters>());
          },
          &schema_of<SwitchParameters>()};
}

}  // namespace lockstep
