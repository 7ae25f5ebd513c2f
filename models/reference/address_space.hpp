#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/memory/round_up.hpp"
#include "models/isa/load.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

/// Addresses of an application's buffers and variables: whole pages and a guard page, as from
/// Driver.
class AddressSpace {
 public:
  /// `place`: address that a recording gives.
  std::uint64_t take(std::uint64_t bytes, std::optional<std::uint64_t> place = {}) {
    if (place) {
      next_ = std::max(next_, *place + round_up_to_page(bytes) + page_bytes);
      return *place;
    }
    const std::uint64_t base = round_up(next_, address_alignment(bytes));
    next_ = base + round_up_to_page(bytes) + page_bytes;
    return base;
  }

 private:
  std::uint64_t next_ = isa::first_global_address;
};

}  // namespace lockstep
