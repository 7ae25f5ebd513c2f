#include "core/parameters/registered.hpp"
#include "models/driver/managed/fault_handling/fault_handling.hpp"

namespace lockstep {

/// A faulting access waits in the TLB, or its warp makes room for a handler: each of these fits
/// half of the exception schemes.
static PolicyTraits traits_of_handling(const PolicyChoice& choice) {
  PolicyTraits traits;
  if (host_fault_parameters(choice).replay == ReplayMode::block_tlb)
    traits.needs.push_back(
        {.plug_point = "exception_scheme",
         .trait = "squashes",
         .absent = true,
         .why = "with replay: block-tlb keeps accesses in a blocked TLB",
         .other = "squashes them",
         .advice = "choose replay: listed or broadcast, or exception_scheme: stall-on-fault"});
  if (!gpu_fault_handling(choice)) return traits;
  traits.needs.push_back({.plug_point = "exception_scheme",
                          .trait = "squashes",
                          .why = "runs a handler in the place of the warp that faulted",
                          .other = "does not give it up",
                          .advice = "choose warp-disable-commit, warp-disable-last-check, "
                                    "replay-queue or operand-log"});
  traits.needs.push_back({.plug_point = "page_manager",
                          .trait = "gives large frames",
                          .absent = true,
                          .why = "maps 4 KiB pages into any frames",
                          .other = "gives frames of 2 MiB to one tenant each",
                          .advice = "choose another page manager"});
  return traits;
}

const PolicyRegistry<FaultHandlingFactory>& fault_handlings() {
  static const PolicyRegistry<FaultHandlingFactory> registry{
      {
          LOCKSTEP_REGISTERED(FaultHandlingFactory, host_fault_handling),
          LOCKSTEP_REGISTERED(FaultHandlingFactory, local_fault_handling),
      },
      traits_of_handling};
  return registry;
}

const PolicyList& fault_handling_policies() {
  return fault_handlings().list();
}

std::unique_ptr<FaultHandling> make_fault_handling(const PolicyChoice& choice,
                                                   const FaultHandling::Setup& setup,
                                                   const FaultHandling::Parts& parts) {
  return fault_handlings().factory(choice).make(choice, setup, parts);
}

std::optional<LocalHandling> gpu_fault_handling(const PolicyChoice& choice) {
  const auto on_gpu = fault_handlings().factory(choice).on_gpu;
  return on_gpu == nullptr ? std::nullopt : std::optional(on_gpu(choice));
}

HostFaultParameters host_fault_parameters(const PolicyChoice& choice) {
  return fault_handlings().factory(choice).host(choice);
}

}  // namespace lockstep
