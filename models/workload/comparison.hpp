/// Equality of two contents of a buffer: byte by byte, or as floats that may differ.
///
/// A buffer's `tolerance` is relative above 1 and absolute below.  In a recording, `inexact` names
/// floats of a buffer that may differ by a tolerance times their magnitude, or times a given larger
/// magnitude; subnormal numbers, which small integers would look like, may not differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parameters/node.hpp"
#include "models/isa/interpreter/inexact/inexact_floats.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// The first element that differs.
struct Difference {
  std::uint64_t offset = 0;  ///< offset of the element in the buffer
  isa::Type type = isa::Type::u8;
  std::string expected, got;
};

/// Both contents lie `offset` bytes behind the buffer's begin.  `more`: further floats that may
/// differ, by their offsets in the buffer; a tolerance of the buffer's own replaces theirs.
std::optional<Difference> find_difference(const Buffer& buffer, std::uint64_t offset,
                                          std::span<const std::byte> expected,
                                          std::span<const std::byte> got,
                                          std::span<const isa::InexactFloats> more = {});

/// A buffer's `inexact:` as workload.yaml has it, and back.
std::vector<isa::InexactFloats> read_inexact(const Node& list, const Buffer& buffer);
std::string inexact_text(std::span<const isa::InexactFloats> floats);

/// Makes the buffer a recorded one: bytes, even if they are floats. Throws UserError for a buffer
/// that a recording cannot have.
void become_recorded(Buffer& buffer);

}  // namespace lockstep
