#include "models/sm/warp_scheduler/registry.hpp"

#include <type_traits>

#include "models/sm/warp_scheduler/warp_scheduler.hpp"

namespace lockstep {

namespace {

using MakeScheduler = WarpScheduler (*)(const PolicyChoice&, unsigned schedulers);
using Registry = PolicyRegistry<MakeScheduler>;

template <class Policy>
constexpr bool has_parameters = requires {
  typename Policy::Parameters;
};

template <class Policy>
WarpScheduler make(const PolicyChoice& choice, unsigned schedulers) {
  if constexpr (has_parameters<Policy>) {
    return Policy(choice.parameters<typename Policy::Parameters>(), schedulers);
  } else {
    return Policy(schedulers);
  }
}

template <class Policy>
Registry::Row row() {
  const ParameterSchema* parameters = nullptr;
  if constexpr (has_parameters<Policy>) parameters = &schema_of<typename Policy::Parameters>();
  return {Policy::name, Policy::documentation, make<Policy>, parameters};
}

template <class... Policies>
Registry registry_of(std::type_identity<std::variant<Policies...>>) {
  return {row<Policies>()...};
}

const Registry& schedulers() {
  static const Registry registry = registry_of(std::type_identity<WarpScheduler>());
  return registry;
}

}  // namespace

const PolicyList& warp_scheduler_policies() {
  return schedulers().list();
}

WarpScheduler make_warp_scheduler(const PolicyChoice& choice, unsigned schedulers_of_sm) {
  return schedulers().factory(choice)(choice, schedulers_of_sm);
}

}  // namespace lockstep
