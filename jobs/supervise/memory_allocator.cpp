/// Memory allocator of the program: jemalloc, in 2 MiB pages of this computer if it has them.
///
/// A window goes once through the state of all components; in 4 KiB pages that exceeds the TLB of a
/// core.  Memory is kept until the program ends: returning parts of a page would break it up.

#include "jobs/supervise/memory_allocator.hpp"

#include <cstddef>

/// jemalloc reads this before main().
extern "C" const char* const malloc_conf = "thp:always,metadata_thp:auto,dirty_decay_ms:-1";

/// Entry of jemalloc; not there under a sanitizer.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old, std::size_t* old_size,
                                     void* value, std::size_t size) noexcept;

namespace lockstep {

void return_freed_memory() {
  constexpr const char* all_arenas = "arena.4096.purge";  // value of MALLCTL_ARENAS_ALL
  if (mallctl != nullptr) mallctl(all_arenas, nullptr, nullptr, nullptr, 0);
}

}  // namespace lockstep
