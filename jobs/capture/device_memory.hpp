/// The GPU's memory at capture: a file in memory; the program maps the parts that its CPU code
/// shares with the GPU.
///
/// Freed device memory is used for later requests of fitting size, as in allocators of drivers, so
/// that a program that allocates in a loop needs few buffers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/capture/protocol.hpp"
#include "models/isa/interpreter/flat_memory.hpp"

namespace lockstep::capture {

class DeviceMemory {
 public:
  struct Buffer {
    std::uint64_t address = 0, bytes = 0;  ///< room of the allocation; a smaller request may use it
    std::uint64_t used = 0;                ///< bytes of the present allocation; 0: none
    MemoryKind kind = MemoryKind::device;
    std::string symbol;  ///< module variable behind the buffer
    std::uint32_t device = 0;
    std::uint64_t asked = 0;           ///< requested part of `used`, in bytes
    std::uint64_t hidden = 0;          ///< bytes at the begin that the program does not see
    std::vector<std::byte> last_seen;  ///< shared memory: the bytes recorded so far

    /// Returns the begin of the part of shared memory that belongs to the recording.
    std::uint64_t shared_address() const { return address + hidden; }
    std::uint64_t shared_bytes() const { return asked - hidden; }
  };

  /// Makes the memory.  `capacity`: bytes of each GPU.  `strict`: allocations end with their last
  /// byte; otherwise with the next multiple of 512, as with a driver, so that programs may access a
  /// little behind their allocation (lowest_stray() reports that).
  DeviceMemory(std::uint64_t capacity, bool strict);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  int file() const { return file_; }
  /// Lets addresses begin there. Must be called before anything is allocated.
  void begin_at(std::uint64_t address) { first_ = next_ = address; }
  /// Returns whether a child process with the file has left its mark there (protocol.hpp).
  bool has_child_mark() const { return base_[child_mark] != std::byte{0}; }
  bool has_driver_mark() const { return base_[driver_mark] != std::byte{0}; }
  /// Allocates memory. Returns its address; 0 when there is no room.
  std::uint64_t allocate(MemoryKind kind, std::uint64_t bytes, const std::string& symbol = "",
                         std::uint32_t device = 0);
  /// Hides device memory from kernels, on devices for which `hides(device)` is true.  Returns the
  /// addresses of hidden buffers.
  template <class Hides>
  std::vector<std::uint64_t> hide(const Hides& hides) {
    std::vector<std::uint64_t> hidden;
    for (const auto& [address, buffer] : buffers_)
      if (buffer.used != 0 && buffer.kind == MemoryKind::device && hides(buffer.device))
        hidden.push_back(address);
    for (const std::uint64_t address : hidden) flat_.unmap(address);
    return hidden;
  }
  void show(const std::vector<std::uint64_t>& hidden) {
    for (const std::uint64_t address : hidden) map(buffers_.at(address));
  }
  /// Restricts recording to a part of the whole pages that the program shares: the `bytes` bytes
  /// that begin `hidden` bytes behind the pages' begin.
  void hide_around(std::uint64_t address, std::uint64_t hidden, std::uint64_t bytes);
  /// Returns the lowest address since the last call that lay behind the bytes asked for.
  std::optional<std::uint64_t> lowest_stray();
  /// Releases memory. Returns false when no allocation begins there.
  bool release(std::uint64_t address);
  /// Shares a variable that turns out to be managed.
  void share(std::uint64_t address);

  /// Returns the buffer that holds all of these bytes; null: none.
  const Buffer* buffer_around(std::uint64_t address, std::uint64_t bytes) const;
  /// Returns the bytes; nothing unless all lie in one allocation.
  std::span<std::byte> find(std::uint64_t address, std::uint64_t bytes);
  isa::FlatMemory& flat() { return flat_; }
  std::map<std::uint64_t, Buffer>& buffers() { return buffers_; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used_bytes(std::uint32_t device) const { return used_bytes_[device]; }

 private:
  static constexpr std::uint64_t no_stray = ~std::uint64_t{0};
  std::byte* place(std::uint64_t address) const { return base_ + (address - first_); }
  Buffer* reusable(std::uint64_t bytes, std::uint32_t device);
  void map(const Buffer& buffer) {
    flat_.map(buffer.address, std::span(place(buffer.address), buffer.asked),
              buffer.used - buffer.asked);
  }

  const std::uint64_t capacity_;
  const bool strict_;
  std::array<std::uint64_t, most_devices> used_bytes_{};
  std::uint64_t first_ = first_addresses[0], next_ = first_;
  int file_ = -1;
  std::byte* base_ = nullptr;
  std::map<std::uint64_t, Buffer> buffers_;  ///< buffers by address
  isa::FlatMemory flat_;
  std::atomic<std::uint64_t> lowest_stray_{no_stray};
};

}  // namespace lockstep::capture
