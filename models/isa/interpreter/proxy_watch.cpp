#include "models/isa/interpreter/proxy_watch.hpp"

#include <fmt/format.h>

#include "models/isa/barriers/mbarrier.hpp"
#include "models/isa/interpreter/block_runner.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/move_matrices.hpp"

namespace lockstep::isa {

void ProxyWatch::access(const InterpretedWarp& warp, const Instruction& instruction,
                        std::uint32_t active) {
  if (!block_.state_.reads_asynchronously) return;
  if (!writes_) writes_.emplace(block_.shared_.size());
  const MemoryFields& fields = instruction.memory;
  const std::uint32_t pc = warp.paths.pc();
  const auto note = [&](unsigned lane, std::uint64_t offset, std::uint64_t bytes) {
    writes_->write(offset, bytes, pc, warp.identity.warp_in_block * warp_size + lane);
  };
  const bool stores = instruction.category == Category::store;
  if (moves_matrices(instruction)) {
    for (unsigned lane = 0; stores && lane < matrix_rows * fields.elements; ++lane)
      note(lane, block_.address_of(warp, instruction, lane), matrix_row_bytes);
    return;
  }
  if (instruction.category == Category::copy) {
    const std::uint32_t* to = block_.row(warp, instruction.source[1]);
    return for_each_lane(active, [&](unsigned lane) { note(lane, to[lane], 4 * fields.elements); });
  }
  if (!stores && instruction.category != Category::atomic) return;
  if (is_of_mbarrier(fields.atomic)) return;
  if (fields.space != Space::shared && fields.space != Space::generic &&
      fields.space != Space::shared_cluster)
    return;
  const std::uint64_t base = fields.space == Space::generic ? shared_window_base : 0;
  for_each_lane(active, [&](unsigned lane) {
    const std::uint64_t offset = block_.address_of(warp, instruction, lane) - base;
    if (offset < block_.shared_.size())
      note(lane, offset, std::uint64_t{bytes_of(fields.type)} * fields.elements);
  });
}

void ProxyWatch::read(const InterpretedWarp& warp, unsigned lane, std::uint64_t offset,
                      std::uint64_t bytes) {
  if (!writes_) return;
  const ProxyWrites::Write* write = writes_->missed(offset, bytes);
  if (write == nullptr) return;
  const auto& block = block_.state_.launch.block;
  const std::uint32_t x = write->thread % block[0], rest = write->thread / block[0];
  block_.fail(
      warp, lane,
      fmt::format(
          "the asynchronous copy reads shared memory that thread ({}, {}, {}) has written at "
          "line {} without a fence behind it",
          x, rest % block[1], rest / block[1], block_.state_.program.source_lines[write->pc]),
      "put fence.proxy.async.shared::cta between the write and the copy, in front of the barrier "
      "between them");
}

}  // namespace lockstep::isa
