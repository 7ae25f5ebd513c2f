#include "core/parameters/registered.hpp"
#include "models/driver/managed/fault_handling/fault_handling.hpp"

namespace lockstep {

const PolicyRegistry<FaultHandlingFactory>& fault_handlings() {
  static const PolicyRegistry<FaultHandlingFactory> registry{
      LOCKSTEP_REGISTERED(FaultHandlingFactory, host_fault_handling),
      LOCKSTEP_REGISTERED(FaultHandlingFactory, local_fault_handling),
  };
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
