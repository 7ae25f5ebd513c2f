#include "models/sm/context/context_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/memory/round_up.hpp"
#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

/// Cycles through the compressor or the decompressor.
constexpr std::int64_t compressor_latency = 2;

void ContextEngine::save(Place place, TenantId tenant, BlockContext context, SmCycle now) {
  Transfer transfer{place, tenant, true, std::move(context.bytes), 0, 0, now};
  transfer.bytes.resize(round_up(transfer.bytes.size(), line_bytes));
  transfer.register_lines = static_cast<std::uint32_t>(
      round_up(std::uint64_t{context.register_bytes}, line_bytes) / line_bytes);
  transfer.compressed = compressed_[place] = context.compressed;
  begin(std::move(transfer), now);
}

void ContextEngine::restore(Place place, TenantId tenant, std::size_t bytes, SmCycle now) {
  std::vector<std::byte> empty(round_up(bytes, line_bytes));
  if (ideal_) empty = std::move(kept_[place]);
  Transfer transfer{place, tenant, false, std::move(empty), 0, 0, now};
  transfer.compressed = compressed_[place];
  begin(std::move(transfer), now);
}

void ContextEngine::begin(Transfer transfer, SmCycle now) {
  if (ideal_) {
    transfer.sent = transfer.answered = transfer.lines();
    transfer.ready = now + 1;
  }
  transfers_.push_back(std::move(transfer));
  wake_ = std::min(wake_, now + 1);
}

void ContextEngine::advance(SmCycle now) {
  wake_ = no_cycle;
  if (transfers_.empty()) return;
  Transfer& transfer = transfers_.front();
  if (transfer.saves) transfer.first = std::min(transfer.first, now);
  if (transfer.sent < transfer.lines() && line_ready(transfer) <= now) send_line(transfer, now);
  if (transfer.sent < transfer.lines()) {
    wake_ = std::max(now + 1, line_ready(transfer));
  } else if (transfer.answered == transfer.lines() && transfer.ready > now) {
    wake_ = transfer.ready;
  }
}

SmCycle ContextEngine::line_ready(const Transfer& transfer) const {
  if (!transfer.saves) return SmCycle{};
  if (transfer.compressed == 0) return transfer.first;
  const std::uint32_t lines = std::min(transfer.sent + 1, transfer.register_lines);
  const auto passed = (std::uint64_t{transfer.compressed} * lines + transfer.register_lines - 1) /
                      transfer.register_lines;
  return transfer.first + compressor_latency + static_cast<std::int64_t>(passed);
}

void ContextEngine::send_line(Transfer& transfer, SmCycle now) {
  const PhysicalAddress line =
      constants_.setup.contexts.place(transfer.place) + transfer.sent * line_bytes;
  const std::uint32_t destination = ports_.destination_of(line, false);
  if (!ports_.is_idle(destination, now)) return;
  MemoryRequest request;
  request.line = line.value();
  request.virtual_page = request.line >> 12;
  request.tag =
      RequestTag::make(RequestTag::context, static_cast<std::uint16_t>(transfer.sent), false);
  request.requester = static_cast<std::uint16_t>(constants_.setup.index);
  request.tenant = transfer.tenant.value();
  request.operation = transfer.saves ? MemoryOperation::store : MemoryOperation::load;
  request.sectors = 0xf;
  request.flags = flag_context;
  if (transfer.saves) {
    constexpr LineBytes all{~0u, ~0u, ~0u, ~0u};
    ports_.send_store(destination, 0xf, all,
                      transfer.bytes.data() + std::size_t{transfer.sent} * line_bytes, now) =
        request;
  } else {
    ports_.send(destination, 0, now).request = request;
  }
  ++transfer.sent;
}

void ContextEngine::answered(const MemoryResponse& response, const std::byte* payload,
                             SmCycle usable, SmCycle now) {
  Transfer& transfer = transfers_.front();
  ++transfer.answered;
  transfer.first = std::min(transfer.first, usable);
  transfer.ready = std::max(transfer.ready, usable);
  if (!transfer.saves && transfer.compressed != 0)
    transfer.ready =
        std::max(usable, transfer.first + std::int64_t{transfer.compressed}) + compressor_latency;
  if (!transfer.saves)
    std::memcpy(transfer.bytes.data() + RequestTag::index(response.tag) * line_bytes, payload,
                line_bytes);
  wake_ = std::min(wake_, std::max(now + 1, transfer.ready));
}

std::optional<ContextEngine::Done> ContextEngine::take_done(SmCycle now) {
  if (transfers_.empty() || !transfers_.front().is_done(now)) return std::nullopt;
  Transfer transfer = std::move(transfers_.front());
  transfers_.pop_front();
  if (!transfers_.empty()) wake_ = std::min(wake_, now + 1);
  if (ideal_ && transfer.saves) kept_[transfer.place] = std::move(transfer.bytes);
  return Done{transfer.place, transfer.saves, std::move(transfer.bytes)};
}

}  // namespace lockstep
