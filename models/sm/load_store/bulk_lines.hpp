#pragma once

#include <cstddef>
#include <cstdint>

#include "models/isa/types.hpp"
#include "models/sm/access/access.hpp"
#include "models/sm/parameters/sm_cycle.hpp"
#include "models/vm/tlb_key.hpp"

namespace lockstep {

/// Owner of bulk copies, and of their lines that wait for pages.
class BulkLines {
 public:
  static constexpr std::uint16_t none = 0xffff;

  virtual ~BulkLines() = default;
  /// All lines of the copy have come, to be used from `usable` on, or have been sent.
  virtual void all_lines_done(std::uint16_t copy, SmCycle usable, SmCycle now) = 0;
  /// Returns the room for the line's bytes: the tensor map that the copy waits for, or bytes for
  /// several blocks; null: shared memory.
  virtual std::byte* room(std::uint16_t copy) = 0;
  /// Notes that the lanes' bytes of a line have come to their places in the room.
  virtual void bytes_came(std::uint16_t copy, const CopyTarget& target, std::uint32_t lanes,
                          SmCycle now) = 0;
  /// Returns the type of the copy's atomics in a line, for elements of `bytes` bytes.
  virtual isa::Type atomic_type(std::uint16_t copy, unsigned bytes) const = 0;
  /// Returns the lane that asked for the copy.
  virtual unsigned lane(std::uint16_t copy) const = 0;
  /// Notes that a line which the copy stores is on its way and will be acknowledged.
  virtual void line_sent(std::uint16_t copy) = 0;
  virtual void line_acknowledged(std::uint16_t copy, SmCycle now) = 0;
  /// Takes a line whose page was refused, where refused lines are squashed; the engine keeps it.
  virtual void line_refused(std::uint16_t copy, const Access& line, SmCycle now) = 0;
  /// Notes that the lines kept for the page can ask again.  Returns whether there are any.
  virtual bool page_came(TlbKey page, SmCycle now) = 0;
  /// Warps with lines that are kept.
  virtual std::uint64_t waiting_warps() const = 0;
  /// The tenant has ended: lines that have not left never will.
  virtual void drop_tenant(TenantId tenant, SmCycle now) = 0;
};

}  // namespace lockstep
