/// Search for missing fences of proxies in an interpreted block: it is told the threads' writes to
/// shared memory and the reads of asynchronous copies there.
#pragma once

#include <cstdint>
#include <optional>

#include "models/isa/instruction.hpp"
#include "models/isa/interpreter/races/proxy_writes.hpp"
#include "models/isa/interpreter/warp.hpp"

namespace lockstep::isa {

class BlockRunner;

class ProxyWatch {
 public:
  explicit ProxyWatch(BlockRunner& block) : block_(block) {}

  /// Checks an instruction that accesses memory, in these lanes.
  void access(const InterpretedWarp& warp, const Instruction& instruction, std::uint32_t active);
  /// Notes a fence, which may be of another kind.
  void fence(const Instruction& instruction, std::uint32_t active) {
    if (writes_ && active != 0 && instruction.memory.ordering == Ordering::weak) writes_->fence();
  }
  /// Notes that an asynchronous copy begun by a lane writes, or reads, these bytes.  A read throws
  /// UserError if it would miss a write.
  void write(std::uint64_t offset, std::uint64_t bytes) {
    if (writes_) writes_->write_asynchronously(offset, bytes);
  }
  void read(const InterpretedWarp& warp, unsigned lane, std::uint64_t offset, std::uint64_t bytes);

 private:
  BlockRunner& block_;
  std::optional<ProxyWrites> writes_;  ///< writes by each proxy; absent before the first write
};

}  // namespace lockstep::isa
