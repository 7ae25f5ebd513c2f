#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Knowledge of a buffer's bytes without a look at them.
enum class Known : std::uint8_t {
  nothing,
  initial,  ///< the bytes are the initial content
  zeros,    ///< the bytes are zero: no initial content, never touched
};

/// Initial content of a buffer, addressable by position so that untouched pages cost nothing.
class Content {
 public:
  virtual ~Content() = default;
  /// The bytes from `offset` on (a multiple of the element size, as is the size of `bytes`).
  virtual void read(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

/// Returns the content that `buffer.initial` describes; nullptr for zeros.  The bits are equal on
/// every computer: values come from Philox and arithmetic in a fixed order.  Throws UserError for a
/// file that cannot be read or is too short, and for numbers that the buffer's type cannot hold.
std::shared_ptr<const Content> make_content(const Buffer& buffer);

/// Returns whether the content can be made anew anywhere from its description alone, without a file
/// and without work beforehand.
bool is_computed(const Initializer& initial);

/// Makes the contents of every buffer of a workload; buffers of one graph share one content.
std::vector<std::shared_ptr<const Content>> make_contents(const Workload& workload);

}  // namespace lockstep
