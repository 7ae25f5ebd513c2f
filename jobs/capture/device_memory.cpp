#include "jobs/capture/device_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"

namespace lockstep::capture {
namespace {

constexpr std::uint64_t alignment = std::uint64_t{2} << 20, guard = 4096;
constexpr std::uint64_t granule = 512;

/// Returns the memory of the computer that captures.  Memory shared with the CPU is kept twice, so
/// more than this cannot fit.
std::uint64_t memory_of_this_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns a file in memory with a fixed size. The program has it too, and removing a page would
/// end the reader with a signal.
int sealed_file(std::uint64_t bytes) {
  const int file = ::memfd_create("gpu memory", MFD_ALLOW_SEALING);
  if (file < 0) return file;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0 &&
      ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return file;
  ::close(file);
  return -1;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity, bool strict)
    : capacity_(capacity), strict_(strict), file_(sealed_file(file_bytes)) {
  void* base = MAP_FAILED;
  if (file_ >= 0)
    base =
        ::mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (base == MAP_FAILED)
    throw UserError("", std::string("no room for the memory of the GPU: ") + std::strerror(errno),
                    "raise the limit of virtual memory (ulimit -v)");
  base_ = static_cast<std::byte*>(base);
  flat_.note_strays(lowest_stray_);
}

DeviceMemory::~DeviceMemory() {
  ::munmap(base_, file_bytes);
  ::close(file_);
}

DeviceMemory::Buffer* DeviceMemory::reusable(std::uint64_t bytes, std::uint32_t device) {
  Buffer* best = nullptr;
  for (auto& [address, buffer] : buffers_) {
    const bool fits = buffer.used == 0 && buffer.device == device &&
                      buffer.kind == MemoryKind::device && buffer.symbol.empty() &&
                      buffer.bytes >= bytes && buffer.bytes <= 2 * bytes;
    if (fits && (!best || buffer.bytes < best->bytes)) best = &buffer;
  }
  return best;
}

std::uint64_t DeviceMemory::allocate(MemoryKind kind, std::uint64_t bytes,
                                     const std::string& symbol, std::uint32_t device) {
  const bool on_gpu = kind == MemoryKind::device;
  const std::uint64_t asked = bytes;
  if (!strict_ && symbol.empty()) bytes = round_up(bytes, granule);
  if (bytes == 0 || bytes > address_space / 2 ||
      (on_gpu && bytes > capacity_ - used_bytes_[device]))
    return 0;
  if (!on_gpu && bytes > memory_of_this_machine()) return 0;
  Buffer* buffer = on_gpu && symbol.empty() ? reusable(bytes, device) : nullptr;
  if (!buffer) {
    const std::uint64_t address = next_;
    next_ = round_up(address + bytes + guard, alignment);
    if (next_ > first_ + address_space) return 0;
    buffer = &buffers_[address];
    *buffer = {address, bytes, 0, kind, symbol, device, 0, 0, {}};
  }
  buffer->used = bytes;
  buffer->asked = asked;
  buffer->hidden = 0;
  if (on_gpu) used_bytes_[device] += bytes;
  if (!on_gpu) share(buffer->address);
  map(*buffer);
  return buffer->address;
}

void DeviceMemory::hide_around(std::uint64_t address, std::uint64_t hidden, std::uint64_t bytes) {
  Buffer& buffer = buffers_.at(address);
  LOCKSTEP_CHECK(hidden <= buffer.asked && bytes <= buffer.asked - hidden,
                 "what is recorded of a buffer lies within it");
  buffer.hidden = hidden;
  buffer.asked = hidden + bytes;
}

std::optional<std::uint64_t> DeviceMemory::lowest_stray() {
  const std::uint64_t lowest = lowest_stray_.exchange(no_stray);
  return lowest == no_stray ? std::nullopt : std::optional(lowest);
}

bool DeviceMemory::release(std::uint64_t address) {
  const auto found = buffers_.find(address);
  if (found == buffers_.end() || found->second.used == 0 || !found->second.symbol.empty())
    return false;
  Buffer& buffer = found->second;
  flat_.unmap(address);
  if (buffer.kind == MemoryKind::device) used_bytes_[buffer.device] -= buffer.used;
  buffer.used = 0;
  buffer.last_seen.clear();
  return true;
}

void DeviceMemory::share(std::uint64_t address) {
  Buffer& buffer = buffers_.at(address);
  if (buffer.kind == MemoryKind::device) buffer.kind = MemoryKind::managed;
  const std::byte* content = place(address);
  buffer.last_seen.assign(content, content + buffer.bytes);
}

const DeviceMemory::Buffer* DeviceMemory::buffer_around(std::uint64_t address,
                                                        std::uint64_t bytes) const {
  const auto behind = buffers_.upper_bound(address);
  if (behind == buffers_.begin()) return nullptr;
  const Buffer& buffer = std::prev(behind)->second;
  const std::uint64_t offset = address - buffer.address;
  const bool fits = buffer.used != 0 && offset <= buffer.used && bytes <= buffer.used - offset;
  return fits ? &buffer : nullptr;
}

std::span<std::byte> DeviceMemory::find(std::uint64_t address, std::uint64_t bytes) {
  std::byte* found = flat_.find(address, bytes);
  return found ? std::span(found, bytes) : std::span<std::byte>();
}

}  // namespace lockstep::capture
