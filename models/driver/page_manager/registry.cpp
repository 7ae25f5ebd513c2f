#include "models/driver/page_manager/page_manager.hpp"

namespace lockstep {

const PolicyRegistry<MakePageManager>& page_managers() {
  static const PolicyRegistry<MakePageManager> registry{
      {"base-pages", "4 KiB pages, frames in the order of all tenants' requests (004, 7.2.1)",
       make_base_pages},
      {"mixed-pages", "device memory in 2 MiB pages where it fills them, managed memory in 4 KiB",
       make_mixed_pages},
      {"large-pages", "every page has 2 MiB (004, 7.2.1)", make_large_pages},
  };
  return registry;
}

const PolicyList& page_manager_policies() {
  return page_managers().list();
}

std::unique_ptr<PageManager> make_page_manager(const PolicyChoice& choice) {
  return page_managers().factory(choice)(choice);
}

}  // namespace lockstep
