#include "models/isa/bulk/bulk_copy.hpp"

#include <fmt/format.h>

namespace lockstep::isa {

using ir::BulkCopyStep;

MbarrierMistake bulk_copy_mistake(BulkCopyStep step, const BulkCopy& copy,
                                  std::uint64_t shared_bytes) {
  constexpr const char* advice = "copy whole units of 16 bytes, between places that are multiples";
  if (copy.bytes % BulkCopy::unit != 0)
    return {fmt::format("bulk copy of {} bytes, which are no multiple of 16", copy.bytes), advice};
  if (copy.global % BulkCopy::unit != 0)
    return {fmt::format("bulk copy at address {:#x}, which is not a multiple of 16", copy.global),
            advice};
  if (step == BulkCopyStep::prefetch) return {};
  if (copy.shared % BulkCopy::unit != 0)
    return {fmt::format("bulk copy at shared address {:#x}, which is not a multiple of 16",
                        copy.shared),
            advice};
  if (copy.bytes > shared_bytes || copy.shared > shared_bytes - copy.bytes)
    return {fmt::format("bulk copy of {} bytes at shared address {:#x}, outside of the block's {} "
                        "bytes",
                        copy.bytes, copy.shared, shared_bytes),
            "check the index, the declaration and the launch's `shared:`"};
  if (step == BulkCopyStep::load) return place_mistake(Space::shared, copy.barrier, shared_bytes);
  return {};
}

}  // namespace lockstep::isa
