#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "models/isa/semantics/word_moves.hpp"

namespace lockstep::isa {

/// Global memory of the interpreter: allocations at 64-bit virtual addresses, with byte-exact
/// bounds.  Fresh memory is zero.
class FlatMemory {
 public:
  /// Maps a range with bytes of its own; ranges must not overlap.  `is_fresh`: the content has no
  /// meaning yet.
  void map(std::uint64_t address, std::uint64_t bytes, bool is_fresh = false);
  /// Maps bytes that the caller owns, with `slack` bytes behind them: accesses to these are
  /// allowed, and the lowest one is noted.
  void map(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t slack = 0);
  /// Makes bytes [offset, offset + bytes) of an allocation ready, and returns the ready bytes
  /// around them.
  using Ready = std::function<std::span<std::byte>(std::uint64_t offset, std::uint64_t bytes)>;
  /// Maps bytes that the caller owns and that `ready` prepares when they are first looked up.
  /// Memory with such bytes cannot be viewed.
  void map(std::uint64_t address, std::span<std::byte> bytes, Ready ready, bool is_fresh);
  /// Sets the place in which all views note the lowest address behind its allocation.
  void note_strays(std::atomic<std::uint64_t>& lowest) { lowest_stray_ = &lowest; }
  void unmap(std::uint64_t address);
  /// Returns a view of the same bytes, for another thread.
  FlatMemory view();

  /// Returns the bytes at `address`; nullptr when not all of them lie in one allocation.
  std::byte* find(std::uint64_t address, std::uint64_t bytes) {
    if (address - last_base_ < last_bytes_ && bytes <= last_bytes_ - (address - last_base_))
        [[likely]]
      return last_data_ + (address - last_base_);
    return look_up(address, bytes);
  }

  /// Returns the allocation around the address, if it is not fresh; no bytes otherwise.
  PlacedBytes range(std::uint64_t address) {
    if (find(address, 1) == nullptr || is_fresh() || address - last_base_ >= last_bytes_) return {};
    return {last_base_, last_bytes_, last_data_};
  }

  /// Returns whether the allocation that find() found last is still fresh; end_freshness() ends
  /// that.
  bool is_fresh() const { return *last_is_fresh_; }
  void end_freshness() { *last_is_fresh_ = false; }
  /// Ends freshness of the allocation that begins there.
  void end_freshness_at(std::uint64_t address) { allocations_.at(address).is_fresh = false; }

  /// Copies bytes. Throws InternalError outside of allocations.
  void read(std::uint64_t address, void* to, std::uint64_t bytes);
  void write(std::uint64_t address, const void* from, std::uint64_t bytes);

 private:
  struct Allocation {
    std::vector<std::byte> own;
    std::span<std::byte> bytes;
    std::uint64_t slack = 0;
    bool is_fresh = false;
    Ready ready{};
  };

  std::byte* look_up(std::uint64_t address, std::uint64_t bytes);
  void note_stray(std::uint64_t address) const;
  Allocation& add(std::uint64_t address, std::uint64_t bytes);

  std::map<std::uint64_t, Allocation> allocations_;
  std::uint64_t last_base_ = 0, last_bytes_ = 0;
  std::byte* last_data_ = nullptr;
  bool* last_is_fresh_ = nullptr;
  std::atomic<std::uint64_t>* lowest_stray_ = nullptr;
};

}  // namespace lockstep::isa
