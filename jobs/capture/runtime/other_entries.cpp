/// Every other entry of the runtime: it returns cudaErrorNotSupported, with one line that names it.
#include "jobs/capture/runtime/connection.hpp"

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_UNSUPPORTED(name) \
  LOCKSTEP_EXPORT Error name() {   \
    return unsupported(#name);     \
  }

namespace lockstep::capture {

#include "jobs/capture/runtime/other_entries.def"

}  // namespace lockstep::capture
