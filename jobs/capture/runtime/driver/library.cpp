/// libcuda.so.1: each entry calls the entry of its name in the runtime's library: the library that
/// the program has loaded already, otherwise the newest version.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "jobs/capture/protocol.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): symbols and the places that they jump to
#define LOCKSTEP_ENTRY(name)                                                    \
  extern "C" __attribute__((visibility("hidden"))) void* lockstep_place_##name; \
  void* lockstep_place_##name = nullptr;                                        \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name         \
          ":\n\tjmp *lockstep_place_" #name "(%rip)\n.size " #name ", .-" #name "\n");
#define LOCKSTEP_OWN(name) LOCKSTEP_ENTRY(name)
#define LOCKSTEP_OLD(name, newer) LOCKSTEP_ENTRY(name)
#define LOCKSTEP_OF_RUNTIME(name, runtime) LOCKSTEP_ENTRY(name)
#define LOCKSTEP_NOT_THERE(name) LOCKSTEP_ENTRY(name)
#include "jobs/capture/runtime/driver/entries.def"
#undef LOCKSTEP_OWN
#undef LOCKSTEP_OLD
#undef LOCKSTEP_OF_RUNTIME
#undef LOCKSTEP_NOT_THERE

namespace {

using Finder = void* (*)(const char*);

Finder finder() {
  void* runtime = nullptr;
  for (const char* name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"})
    if (!runtime) runtime = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (!runtime) runtime = ::dlopen("libcudart.so.13", RTLD_NOW);
  void* const found = runtime ? ::dlsym(runtime, "cudaLockstepDriverEntry") : nullptr;
  if (!found) {
    std::fputs(
        "lockstep capture: there is another CUDA runtime beside this libcuda.so.1 - start "
        "the program below `lockstep capture -- PROGRAM`\n",
        stderr);
    std::_Exit(1);
  }
  return reinterpret_cast<Finder>(found);
}

/// Leaves a mark, so that a program that loads the driver's library without calling it is told
/// apart from one without CUDA.
void leave_mark() {
  int socket = -1, memory = -1;
  const char* channel = std::getenv(lockstep::capture::channel_variable);
  if (!channel || std::sscanf(channel, "%d,%d", &socket, &memory) != 2) return;
  const char mark = 1;
  [[maybe_unused]] const ssize_t told = ::pwrite(memory, &mark, 1, lockstep::capture::driver_mark);
}

__attribute__((constructor)) void find_places() {
  leave_mark();
  const Finder find = finder();
#define LOCKSTEP_OWN(name) lockstep_place_##name = find(#name);
#define LOCKSTEP_OLD(name, newer) LOCKSTEP_OWN(name)
#define LOCKSTEP_OF_RUNTIME(name, runtime) LOCKSTEP_OWN(name)
#define LOCKSTEP_NOT_THERE(name) LOCKSTEP_OWN(name)
#include "jobs/capture/runtime/driver/entries.def"
}
// NOLINTEND(cppcoreguidelines-macro-usage)

}  // namespace
