#include "models/host/module_globals.hpp"

#include <cstring>

namespace lockstep {

std::vector<std::byte> relocated_image(const isa::GlobalVariable& global,
                                       std::span<const std::uint64_t> addresses) {
  using Target = isa::GlobalVariable::Relocation::Target;
  std::vector<std::byte> image = global.initial;
  for (const auto& relocation : global.relocations) {
    // A function's address is its index; a constant's the offset in the constant bank.
    const std::uint64_t base = relocation.target == Target::global     ? addresses[relocation.index]
                               : relocation.target == Target::function ? relocation.index
                                                                       : 0;
    const std::uint64_t value = base + static_cast<std::uint64_t>(relocation.addend);
    std::memcpy(image.data() + relocation.offset, &value, sizeof value);
  }
  return image;
}

}  // namespace lockstep
