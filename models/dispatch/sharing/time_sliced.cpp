/// Time slices: tenants have the whole GPU in turn, each for a slice.
///
/// When a slice is over, or its tenant has nothing to run, the next tenant in turn that has a
/// kernel takes SMs from the others, as many as its blocks fill, by the `preemption` of the
/// scenario.  What it does not fill stays with those that have it.  Between kernels of one tenant
/// priorities decide. Source: 003, section 1 (time multiplexing of GPUs); preemption.md, errata of
/// section 2.1.
///
/// A slice begins when its tenant has its SMs, and blocks that were saved there have returned with
/// their contexts and have done what they were squashed for, so that tenants get on however short
/// slices are: an instruction that has been issued is done before its block leaves.
#include "core/parameters/parameters.hpp"
#include "models/dispatch/sharing/exclusive.hpp"

namespace lockstep {

namespace {

struct TimeSliceParameters {
  Time slice;
  static auto schema() {
    using namespace literals;
    using P = TimeSliceParameters;
    return parameters<P>().field("slice", &P::slice, 1_ms, range(1_us, 1000_ms),
                                 "how long a tenant has the GPU while others wait");
  }
};

class TimeSliced final : public Exclusive {
 public:
  TimeSliced(std::uint32_t sm_count, Time slice) : Exclusive(sm_count), slice_(slice) {}

  Time slice() const override { return slice_; }

 private:
  const Time slice_;
};

}  // namespace

SharingRow time_sliced_sharing() {
  return {"time-sliced", "tenants have the whole GPU in turn, by policies.preemption",
          [](const PolicyChoice& choice, const SharingSetup& setup) -> std::unique_ptr<Sharing> {
            return std::make_unique<TimeSliced>(setup.sm_count,
                                                choice.parameters<TimeSliceParameters>().slice);
          },
          &schema_of<TimeSliceParameters>(),
          [](const PolicyChoice&) {
            constexpr const char* advice = "choose preemption: drain or switch";
            return PolicyTraits{{lets_sms_be_taken},
                                {{.plug_point = "preemption",
                                  .trait = "takes whole SMs",
                                  .why = "gives each tenant the whole GPU in turn",
                                  .other = "takes no whole SMs from one",
                                  .advice = advice},
                                 {.plug_point = "preemption",
                                  .trait = "throws work away",
                                  .absent = true,
                                  .why = "ends slices",
                                  .other = "may throw away what a block did in its own, every time "
                                           "anew",
                                  .advice = advice}}};
          }};
}

}  // namespace lockstep
