/// The driver's entries by name: its own, those shared with the runtime, and all others, which
/// return CUDA_ERROR_NOT_SUPPORTED with one line that names them.
#include <string>

#include "jobs/capture/runtime/driver/driver.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): names that are declared, defined and listed
#define LOCKSTEP_OWN(name) extern "C" __attribute__((visibility("hidden"))) void name();
#define LOCKSTEP_OLD(name, newer)
#define LOCKSTEP_OF_RUNTIME(name, runtime) extern "C" void runtime();
#define LOCKSTEP_NOT_THERE(name)                                                                   \
  static lockstep::capture::Error refuse_##name() {                                                \
    return lockstep::capture::driver::apart([] { return lockstep::capture::unsupported(#name); }); \
  }
#include "jobs/capture/runtime/driver/entries.def"
#undef LOCKSTEP_OWN
#undef LOCKSTEP_OLD
#undef LOCKSTEP_OF_RUNTIME
#undef LOCKSTEP_NOT_THERE

namespace lockstep::capture::driver {
namespace {

struct Entry {
  const char* name;
  void* address;
};

#define LOCKSTEP_OWN(name) {#name, reinterpret_cast<void*>(&(name))},
#define LOCKSTEP_OLD(name, newer) {#name, reinterpret_cast<void*>(&(newer))},
#define LOCKSTEP_OF_RUNTIME(name, runtime) {#name, reinterpret_cast<void*>(&(runtime))},
#define LOCKSTEP_NOT_THERE(name) {#name, reinterpret_cast<void*>(&refuse_##name)},
const Entry entries[] = {
#include "jobs/capture/runtime/driver/entries.def"
};
// Entries of graphs with other arguments than those of the runtime.

}  // namespace

void* entry_named(const std::string& name) {
  for (const Entry& entry : entries)
    if (name == entry.name) return entry.address;
  return nullptr;
}

}  // namespace lockstep::capture::driver
