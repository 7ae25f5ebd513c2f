#include "models/isa/text/module_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::isa {
namespace {

std::string until_zero(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  return {reinterpret_cast<const char*>(bytes.data()),
          static_cast<std::size_t>(end - bytes.begin())};
}

}  // namespace

std::optional<std::string> ModuleText::at(std::uint64_t address) const {
  const std::span<const std::byte> constants = module_.constant_image;
  if (address >= constant_window_base && address - constant_window_base < constants.size())
    return until_zero(constants.subspan(address - constant_window_base));
  for (std::size_t g = 0; g < global_addresses_.size(); ++g) {
    const std::span<const std::byte> initial = module_.globals[g].initial;
    if (address >= global_addresses_[g] && address - global_addresses_[g] < initial.size())
      return until_zero(initial.subspan(address - global_addresses_[g]));
  }
  return std::nullopt;
}

std::string ModuleText::or_address(std::uint64_t address) const {
  const std::optional<std::string> text = at(address);
  return text ? *text : fmt::format("<{:#x}>", address);
}

}  // namespace lockstep::isa
