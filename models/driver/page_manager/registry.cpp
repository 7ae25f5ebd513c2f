#include "core/parameters/registered.hpp"
#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

const PolicyRegistry<MakePageManager>& page_managers() {
  static const PolicyRegistry<MakePageManager> registry{
      LOCKSTEP_REGISTERED(MakePageManager, base_pages),
      LOCKSTEP_REGISTERED(MakePageManager, mixed_pages),
      LOCKSTEP_REGISTERED(MakePageManager, large_pages),
  };
  return registry;
}

const PolicyList& page_manager_policies() {
  return page_managers().list();
}

std::unique_ptr<PageManager> make_page_manager(const PolicyChoice& choice,
                                               const PageManager::Setup& setup) {
  return page_managers().factory(choice)(choice, setup);
}

}  // namespace lockstep
