#include "models/host_link/moving_bytes.hpp"

#include <cstring>

#include "core/memory/round_up.hpp"
#include "models/host_link/transfer.hpp"
#include "models/noc/messages.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

MovingBytes::MovingBytes(const LinkTransfer& transfer) : transfer_(transfer) {
  const bool to_gpu = static_cast<Transfer::Kind>(transfer.kind) == Transfer::Kind::to_gpu;
  if (!to_gpu) {
    pieces_.resize(round_up(transfer.bytes, piece_bytes) / piece_bytes);
  } else if (transfer.is_initial == 0) {
    handed_over_.resize(transfer.bytes);
  }
}

void MovingBytes::hand_over(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::memcpy(handed_over_.data() + offset, bytes.data(), bytes.size());
}

std::span<std::byte> MovingBytes::line(std::uint64_t offset, std::uint64_t bytes,
                                       const InitialBytes& initial) {
  if (transfer_.is_initial == 0) return std::span(handed_over_).subspan(offset, bytes);
  const std::uint64_t in_buffer = transfer_.offset + offset;
  const std::uint64_t page = in_buffer - in_buffer % page_bytes;
  if (page_.empty() || page != page_begin_) {
    page_.resize(page_bytes + line_bytes);
    page_begin_ = page;
    initial(transfer_.tenant, transfer_.buffer, page, page_);
  }
  return std::span(page_).subspan(in_buffer - page, bytes);
}

}  // namespace lockstep
