#include "models/sm/execution/constant_memory.hpp"

#include <algorithm>
#include <array>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_data.hpp"
#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

using isa::Category;
using isa::for_each_lane;
using isa::Instruction;

SmCycle ConstantMemory::usable_at(unsigned words, unsigned latency, SmCycle now) {
  if (interval_.count() == 0) return now + latency + words - 1;
  const SmCycle begin = std::max(now, port_free_);
  port_free_ = begin + interval_.count() * words;
  return port_free_ - interval_.count() + latency;
}

void ConstantMemory::issue(WarpSlot slot, const Instruction& instruction, const IssueRecord& record,
                           std::uint32_t active, const LaneAddresses& address, bool commits,
                           SmCycle now) {
  Warp& warp = blocks_.warp(slot);
  const GridSlot& grid = blocks_.grid_of(warp);
  const unsigned bytes = isa::bytes_of(instruction.memory.type);
  // Different words are served one after the other.
  std::array<std::uint64_t, 32> words;
  std::array<std::uint32_t, 64> lines;  // a value may reach into a second line
  unsigned distinct = 0, line_count = 0;
  for_each_lane(active, [&](unsigned lane) {
    const bool is_parameter = address[lane] >= isa::parameter_window_base;
    const std::vector<std::byte>& bank = is_parameter ? grid.parameters
                                         : grid.relocated_image.empty()
                                             ? grid.module->constant_image
                                             : grid.relocated_image;
    const std::uint64_t offset =
        address[lane] - (is_parameter ? isa::parameter_window_base : isa::constant_window_base);
    if (offset >= bank.size() || offset + lane_bytes(instruction.memory) > bank.size() ||
        instruction.category != Category::load) [[unlikely]]
      mistakes_.user_error(warp, warp.paths.pc(), lane,
                           "constant address " + hexadecimal(address[lane]) +
                               " is outside of its " + std::to_string(bank.size()) +
                               " bytes, or written to",
                           "an index runs over a constant array, or constant memory is stored to");
    for (unsigned e = 0; e < instruction.memory.elements; ++e)
      write_element(instruction, blocks_.context_of(warp), e, lane,
                    bank.data() + offset + e * bytes);
    const auto end = words.begin() + distinct;
    if (std::find(words.begin(), end, address[lane] / 4) == end)
      words[distinct++] = address[lane] / 4;
    if (!cache_.on()) return;
    for (const std::uint64_t at : {offset, offset + lane_bytes(instruction.memory) - 1}) {
      const std::uint32_t line = is_parameter
                                     ? CodeRegion::parameter_line(grid.launch.number_on_gpu, at)
                                     : CodeRegion::constant_line(grid.launch.module, at);
      const auto lines_end = lines.begin() + line_count;
      if (std::find(lines.begin(), lines_end, line) == lines_end) lines[line_count++] = line;
    }
  });
  if (!commits) return;
  const SmCycle usable = usable_at(std::max(1u, distinct), record.latency, now);
  if (cache_.on()) {
    cache_.load(slot, record, std::span(lines).first(line_count), usable, now);
  } else {
    front_end_.commit_at(slot, warp, record, usable);
  }
}

}  // namespace lockstep
