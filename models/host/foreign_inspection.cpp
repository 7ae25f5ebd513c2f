#include "models/host/foreign_inspection.hpp"

#include "models/fragmentation/foreign_pages.hpp"
#include "models/host_link/host_link.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

void ForeignInspection::begin(std::span<const Frame> pages, const HostCycle& cycle) {
  begun_ = true;
  bytes_.resize(pages.size() * page_bytes);
  Transfer transfer;
  transfer.kind = Transfer::Kind::inspect;
  transfer.owner = {TransferPart::inspection, 0};
  transfer.bytes = bytes_.size();
  for (const Frame page : pages) append_frame(transfer.frames, address_of(page), page_bytes);
  cycle.link.start(std::move(transfer), cycle.now, cycle.outbox);
}

std::size_t ForeignInspection::pages() const {
  return bytes_.size() / page_bytes;
}

std::optional<std::uint64_t> ForeignInspection::damaged() const {
  return find_damaged_page(bytes_);
}

}  // namespace lockstep
