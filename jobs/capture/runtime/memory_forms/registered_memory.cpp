#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/copies.hpp"
#include "jobs/capture/runtime/memory.hpp"

namespace lockstep::capture {
namespace {

constexpr std::uint64_t page_bytes = 4096;

/// Whole pages of the program, and their address on the GPU; 0: none.
struct Registered {
  std::uint64_t first = 0, bytes = 0, on_gpu = 0;
};

std::mutex registered_mutex;
std::map<std::uint64_t, Registered> registered;  ///< registered memory by the program's address

bool overlaps_others(std::uint64_t first, std::uint64_t bytes) {
  for (const auto& [pointer, other] : registered)
    if (other.on_gpu != 0 && first < other.first + other.bytes && other.first < first + bytes)
      return true;
  return false;
}

bool holds_this_stack(std::uint64_t first, std::uint64_t bytes) {
  const char here = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&here);
  // Room for the frames of functions called from here.
  constexpr std::uint64_t frames = std::uint64_t{64} << 10;
  return address + frames >= first && address - frames < first + bytes;
}

/// The pages of the program become pages of the file.
bool share_pages(const Registered& pages) {
  void* const place = reinterpret_cast<void*>(pages.first);
  std::memcpy(reinterpret_cast<void*>(pages.on_gpu), place, pages.bytes);
  const Connection& connection = Connection::get();
  return ::mmap(place, pages.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                connection.memory_file(),
                static_cast<off_t>(pages.on_gpu - connection.first_address())) != MAP_FAILED;
}

void take_back_pages(const Registered& pages) {
  void* const place = reinterpret_cast<void*>(pages.first);
  if (::mmap(place, pages.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
    return;  // the pages stay shared, with the same bytes
  std::memcpy(place, reinterpret_cast<void*>(pages.on_gpu), pages.bytes);
}

}  // namespace

Error register_host(void* pointer, std::size_t bytes) {
  constexpr Error already_registered = 712;
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  if (!pointer || bytes == 0 || !is_mapped(pointer, bytes)) return invalid_value;
  const std::lock_guard lock(registered_mutex);
  if (registered.contains(begin)) return already_registered;
  Registered pages;
  pages.first = begin / page_bytes * page_bytes;
  pages.bytes = (begin + bytes + page_bytes - 1) / page_bytes * page_bytes - pages.first;
  if (!overlaps_others(pages.first, pages.bytes) && !holds_this_stack(pages.first, pages.bytes)) {
    void* shared = nullptr;
    const Error error =
        allocate(&shared, pages.bytes, MemoryKind::pinned, {begin - pages.first, bytes});
    if (error != success) return error;
    pages.on_gpu = reinterpret_cast<std::uint64_t>(shared);
    if (!share_pages(pages)) {
      release(shared);
      return memory_allocation;
    }
    AddressBook::get().add({begin, bytes, MemoryKind::pinned, pages.on_gpu + begin - pages.first});
  }
  registered[begin] = pages;
  return success;
}

Error unregister_host(void* pointer) {
  constexpr Error not_registered = 713;
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(registered_mutex);
  const auto found = registered.find(begin);
  if (found == registered.end()) return not_registered;
  const Registered pages = found->second;
  registered.erase(found);
  if (pages.on_gpu == 0) return success;
  AddressBook::get().remove(begin);
  take_back_pages(pages);
  return release(reinterpret_cast<void*>(pages.on_gpu));
}

LOCKSTEP_EXPORT Error cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return noted(register_host(pointer, bytes));
}
LOCKSTEP_EXPORT Error cudaHostUnregister(void* pointer) {
  return noted(unregister_host(pointer));
}

}  // namespace lockstep::capture
