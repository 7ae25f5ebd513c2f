#include "core/parameters/registered.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

const PolicyRegistry<PageManagerFactory>& page_managers() {
  static const PolicyRegistry<PageManagerFactory> registry{
      LOCKSTEP_REGISTERED(PageManagerFactory, base_pages),
      LOCKSTEP_REGISTERED(PageManagerFactory, mixed_pages),
      LOCKSTEP_REGISTERED(PageManagerFactory, large_pages),
      LOCKSTEP_REGISTERED(PageManagerFactory, mosaic_pages),
  };
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
