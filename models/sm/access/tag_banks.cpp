#include "models/sm/access/tag_banks.hpp"

#include <algorithm>
#include <array>

#include "models/noc/messages.hpp"

namespace lockstep {
namespace {

/// Returns the XOR of all parts of the line number, each part as wide as a bank number.
unsigned bank_of(std::uint64_t line, unsigned banks) {
  for (unsigned shift = 32; shift >= banks / 2; shift /= 2) line ^= line >> shift;
  return static_cast<unsigned>(line) & (banks - 1);
}

}  // namespace

unsigned most_lines_of_a_tag_bank(const Access& access, unsigned banks) {
  if (access.groups == 1 || banks == 1) return access.groups;
  std::array<std::uint8_t, 4> lines{};
  for (unsigned g = 0; g < access.groups; ++g)
    ++lines[bank_of(access.group[g].line / line_bytes, banks)];
  return *std::ranges::max_element(lines);
}

}  // namespace lockstep
