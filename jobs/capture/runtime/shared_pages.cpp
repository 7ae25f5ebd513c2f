#include "jobs/capture/runtime/shared_pages.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>

#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {
namespace {

constexpr std::uint64_t page = 4096;

/// Accesses that the CPU may make to a page, and so has made since the page was taken.
enum class Admitted : std::uint8_t { none, reads, all };

struct Region {
  std::atomic<std::uint64_t> address{0};  ///< 0: unused
  std::uint64_t bytes = 0;
  Admitted* pages = nullptr;
  bool taken = false;  ///< a page has been closed to the program since the last launch

  std::uint64_t page_count() const { return (bytes + page - 1) / page; }
};

// The table never moves, since a signal handler reads it.
constexpr std::size_t most_regions = 8192;
Region regions[most_regions];
std::atomic<std::size_t> region_count{0};
std::mutex regions_mutex;
struct sigaction program_action;

Region* region_at(std::uint64_t address) {
  const std::size_t count = region_count.load(std::memory_order_acquire);
  for (std::size_t r = 0; r < count; ++r) {
    const std::uint64_t begin = regions[r].address.load(std::memory_order_acquire);
    if (begin != 0 && address - begin < regions[r].bytes) return &regions[r];
  }
  return nullptr;
}

bool admit(Region& region, std::uint64_t address, bool writes) {
  const std::uint64_t begin = region.address, index = (address - begin) / page;
  const Admitted wanted = writes ? Admitted::all : Admitted::reads;
  if (region.pages[index] >= wanted) return false;
  region.pages[index] = wanted;
  return ::mprotect(reinterpret_cast<void*>(begin + index * page), page,
                    writes ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  constexpr long long write_bit = 2;  // bit of the page fault's error code
  const bool writes =
      (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
  if (Region* region = region_at(address); region && admit(*region, address, writes)) return;
  // Not our page: calls the program's own handler, or ends.
  if ((program_action.sa_flags & SA_SIGINFO) != 0) {
    program_action.sa_sigaction(signal, info, context);
  } else if (program_action.sa_handler != SIG_DFL && program_action.sa_handler != SIG_IGN) {
    program_action.sa_handler(signal);
  } else {
    ::sigaction(SIGSEGV, &program_action, nullptr);  // the access is repeated and ends the program
  }
}

void listen() {
  static const bool once = [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    return ::sigaction(SIGSEGV, &action, &program_action) == 0;
  }();
  static_cast<void>(once);
}

}  // namespace

void track_pages(std::uint64_t address, std::uint64_t bytes) {
  listen();
  const std::lock_guard lock(regions_mutex);
  std::size_t place = 0;
  while (place < region_count && regions[place].address != 0) ++place;
  if (place == most_regions) return;  // writes to this region are still found by comparing
  Region& region = regions[place];
  region.bytes = bytes;
  region.pages = new Admitted[region.page_count()];
  region.taken = false;
  std::fill_n(region.pages, region.page_count(), Admitted::all);
  region.address.store(address, std::memory_order_release);
  if (place == region_count) region_count.store(place + 1, std::memory_order_release);
}

void forget_pages(std::uint64_t address) {
  const std::lock_guard lock(regions_mutex);
  Region* region = region_at(address);
  if (!region) return;
  region->address.store(0, std::memory_order_release);
  delete[] region->pages;
}

void take_pages() {
  const std::lock_guard lock(regions_mutex);
  for (std::size_t r = 0; r < region_count; ++r) {
    Region& region = regions[r];
    if (region.address == 0) continue;
    const auto admitted = [](Admitted a) { return a != Admitted::none; };
    if (std::none_of(region.pages, region.pages + region.page_count(), admitted)) continue;
    std::fill_n(region.pages, region.page_count(), Admitted::none);
    region.taken = true;
    ::mprotect(reinterpret_cast<void*>(region.address.load()), region.page_count() * page,
               PROT_NONE);
  }
}

std::vector<Touch> touched_pages() {
  const std::lock_guard lock(regions_mutex);
  std::vector<Touch> touches;
  for (std::size_t r = 0; r < region_count; ++r) {
    const Region& region = regions[r];
    if (region.address == 0 || !region.taken) continue;  // before a launch no bytes have moved
    for (std::uint64_t first = 0; first < region.page_count();) {
      std::uint64_t last = first;
      while (last < region.page_count() && region.pages[last] == region.pages[first]) ++last;
      const std::uint64_t begin = first * page, end = std::min(last * page, region.bytes);
      if (region.pages[first] != Admitted::none)
        touches.push_back(
            {region.address + begin, end - begin, region.pages[first] == Admitted::all ? 1u : 0u});
      first = last;
    }
  }
  return touches;
}

void admit_pages(const void* pointer, std::size_t bytes, bool writes) {
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  if (region_count == 0 || begin - Connection::get().first_address() >= address_space)
    return;  // most calls end here
  for (std::uint64_t at = begin; at < begin + bytes; at = (at / page + 1) * page)
    if (Region* region = region_at(at)) admit(*region, at, writes);
}

void report_touches() {
  const std::vector<Touch> touches = touched_pages();
  if (touches.empty()) return;
  Connection::get().ask(
      Operation::touch, {},
      {reinterpret_cast<const char*>(touches.data()), touches.size() * sizeof(Touch)});
}

}  // namespace lockstep::capture
