/// Writes of a block's threads to shared memory that asynchronous reads would miss, because no
/// fence.proxy.async follows them.
///
/// A fence of any thread of the block counts for all writes before it, in the order of
/// interpretation.  This is a legal order, and it keeps the program's order of writer, fence and
/// reader: every finding is a real mistake, and some mistakes are not found.
/// Source: PTX ISA 8.x, "Memory Consistency Model", sections "Proxies" and "Causality order".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::isa {

class ProxyWrites {
 public:
  struct Write {
    std::uint32_t time = 0;  ///< time of the write; 0: none
    std::uint32_t pc = 0, thread = 0;
  };

  explicit ProxyWrites(std::size_t shared_bytes) : pieces_((shared_bytes + piece - 1) / piece) {}

  /// Notes a write of a thread of the block, by the instruction at `pc`.
  void write(std::uint64_t offset, std::uint64_t bytes, std::uint32_t pc, std::uint32_t thread) {
    for_each_piece(offset, bytes, [&](Write& last) { last = {time_, pc, thread}; });
  }
  /// Notes an asynchronous write, which needs no fence; neither do bytes that were there before.
  void write_asynchronously(std::uint64_t offset, std::uint64_t bytes) {
    for_each_piece(offset, bytes, [](Write& last) { last = {}; });
  }
  void fence() { ++time_; }
  /// Returns a write of these bytes that an asynchronous read would miss; null: there is none.
  const Write* missed(std::uint64_t offset, std::uint64_t bytes) {
    const Write* found = nullptr;
    for_each_piece(offset, bytes, [&](const Write& last) {
      if (found == nullptr && last.time == time_) found = &last;
    });
    return found;
  }

 private:
  /// Bytes tracked together: an asynchronous copy covers whole pieces.
  static constexpr std::size_t piece = 16;

  template <class Function>
  void for_each_piece(std::uint64_t offset, std::uint64_t bytes, Function&& function) {
    if (bytes == 0) return;
    const std::size_t end =
        std::min<std::size_t>((offset + bytes + piece - 1) / piece, pieces_.size());
    for (std::size_t p = offset / piece; p < end; ++p) function(pieces_[p]);
  }

  std::uint32_t time_ = 1;
  std::vector<Write> pieces_;
};

}  // namespace lockstep::isa
