#include "core/memory/lazy_region.hpp"

#include <sys/mman.h>

#include <cstring>
#include <string>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"

namespace lockstep {

namespace {

constexpr std::uint64_t host_page = 4096;

}  // namespace

LazyRegion::LazyRegion(std::uint64_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    throw UserError("", "cannot reserve " + std::to_string(bytes >> 20) + " MiB of address space",
                    "raise the limit (ulimit -v) or simulate less memory");
  }
  data_ = static_cast<std::byte*>(place);
}

LazyRegion::~LazyRegion() {
  if (data_) munmap(data_, size_);
}

void LazyRegion::zero(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t first = round_up(offset, host_page);
  const std::uint64_t last = (offset + bytes) / host_page * host_page;
  if (first >= last) {
    std::memset(data_ + offset, 0, bytes);
    return;
  }
  std::memset(data_ + offset, 0, first - offset);
  std::memset(data_ + last, 0, offset + bytes - last);
  LOCKSTEP_CHECK(madvise(data_ + first, last - first, MADV_DONTNEED) == 0, "madvise failed");
}

}  // namespace lockstep
