#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/parameters/suggest.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Returns the index of the buffer that a node names.  Throws UserError, with the nearest name, if
/// there is none.
inline std::uint32_t buffer_index(const Node& name, std::span<const Buffer> buffers) {
  std::vector<std::string> known;
  for (std::uint32_t index = 0; index < buffers.size(); ++index) {
    if (buffers[index].name == name.text()) return index;
    known.push_back(buffers[index].name);
  }
  throw name.error("there is no buffer \"" + name.text() + "\"", suggest(name.text(), known));
}

/// Returns the number of a stream.  Throws UserError if it is none.
inline std::uint32_t stream_number(const Node& node) {
  const std::int64_t number = node.integer();
  if (number < 0 || number > 65535)
    throw node.error("a stream is a number from 0 to 65535",
                     "write 0 to 65535: a stream may be used again");
  return static_cast<std::uint32_t>(number);
}

}  // namespace lockstep
