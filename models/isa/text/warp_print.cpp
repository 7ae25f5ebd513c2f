#include "models/isa/text/warp_print.hpp"

#include <fmt/format.h>

#include <cstring>

#include "models/isa/ir.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/text/print_format.hpp"

namespace lockstep::isa {

std::string WarpPrint::execute(const Instruction& instruction, const WarpContext& context,
                               const ModuleText& text) {
  switch (static_cast<ir::PrintStep>(instruction.detail)) {
    case ir::PrintStep::begin:
      begin(instruction, context, text);
      return "";
    case ir::PrintStep::word:
      for_each_lane(context.active, [&](unsigned lane) {
        lanes_[lane].words.push_back(context.row(instruction.source[0])[lane]);
      });
      return "";
    default:
      return end(instruction, context, text);
  }
}

void WarpPrint::begin(const Instruction& instruction, const WarpContext& context,
                      const ModuleText& text) {
  std::map<unsigned, Lane> beginning;
  for_each_lane(context.active, [&](unsigned lane) {
    std::uint64_t format = 0;
    std::memcpy(&format, context.row(instruction.source[0]) + 2 * lane, sizeof format);
    if (format != 0 && !text.at(format))
      throw NoFormat{
          lane, fmt::format("printf of the format at {:#x}, which is no string literal", format)};
    beginning[lane].format = format;
  });
  for (auto& [lane, state] : beginning) {
    const std::optional<std::string> format = text.at(state.format);
    context.row(instruction.destination[0])[lane] =
        format ? PrintFormat(*format).argument_bytes() : 0;
    lanes_[lane] = std::move(state);
  }
}

std::string WarpPrint::end(const Instruction& instruction, const WarpContext& context,
                           const ModuleText& text) {
  std::string printed;
  for_each_lane(context.active, [&](unsigned lane) {
    const Lane& state = lanes_[lane];
    std::uint32_t& result = context.row(instruction.destination[0])[lane];
    result = 0xffffffff;
    if (const std::optional<std::string> written = text.at(state.format)) {
      const PrintFormat format(*written);
      printed += format.text(state.words, text);
      result = format.arguments();
    }
    lanes_.erase(lane);
  });
  return printed;
}

}  // namespace lockstep::isa
