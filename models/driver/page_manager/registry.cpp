#include "core/parameters/registered.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

/// Trait: frames of 2 MiB belong to one tenant each.
constexpr const char* gives_large_frames = "gives large frames";

static PolicyTraits traits_of_manager(const PolicyChoice& choice) {
  PolicyTraits traits;
  if (make_page_manager(choice, {})->capacity_unit() > 1) traits.has = {gives_large_frames};
  const auto needs = page_managers().factory(choice).needs;
  if (needs != nullptr && needs(choice).stalls)
    traits.needs = {{.plug_point = "exception_scheme",
                     .trait = "squashes",
                     .absent = true,
                     .why = "has the SMs stand still while it moves pages",
                     .other = "must not: what it has squashed issues again before a page can leave",
                     .advice = "set stall: false, or choose exception_scheme: stall-on-fault"}};
  return traits;
}

const PolicyRegistry<PageManagerFactory>& page_managers() {
  static const PolicyRegistry<PageManagerFactory> registry{
      {
          LOCKSTEP_REGISTERED(PageManagerFactory, base_pages),
          LOCKSTEP_REGISTERED(PageManagerFactory, mixed_pages),
          LOCKSTEP_REGISTERED(PageManagerFactory, large_pages),
          LOCKSTEP_REGISTERED(PageManagerFactory, mosaic_pages),
      },
      traits_of_manager};
  return registry;
}

const PolicyList& page_manager_policies() {
  return page_managers().list();
}

std::unique_ptr<PageManager> make_page_manager(const PolicyChoice& choice,
                                               const PageManager::Setup& setup) {
  return page_managers().factory(choice).make(choice, setup);
}

}  // namespace lockstep
