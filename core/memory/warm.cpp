#include "core/memory/warm.hpp"

namespace lockstep {

// Measured on processors of Intel (Granite Rapids) and AMD (Zen 4 and 5).
const bool keeps_prefetches = [] {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}();

}  // namespace lockstep
