#include "models/driver/fault_handling.hpp"

#include "models/driver/fault_parameters.hpp"

namespace lockstep {

const PolicyList& fault_handling_policies() {
  static const PolicyList list{{"host",
                                "the driver on the CPU, over the host link (001, B.2; 000, 2.3)",
                                &schema_of<HostFaultParameters>()}};
  return list;
}

}  // namespace lockstep
