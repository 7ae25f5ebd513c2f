#include "jobs/capture/runtime/loaded_file.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace lockstep::capture {

LoadedFile file_around(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || !map)
    return {};
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const bool is_program = map->l_prev == nullptr;  // the first map of a process is the program
  return {slash ? slash + 1 : info.dli_fname, is_program};
}

}  // namespace lockstep::capture
