#include "models/sm/context/context_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

/// Cycles through the compressor or the decompressor.
constexpr std::int64_t compressor_latency = 2;

void ContextEngine::save(Place place, TenantId tenant, BlockContext context, SmCycle now,
                         std::int64_t still) {
  Transfer transfer{place, tenant, true, std::move(context.bytes), context.parts, 0, 0, now};
  transfer.bytes.resize(round_up(transfer.bytes.size(), line_bytes));
  transfer.first = std::max(now + 1, compressor_free_);
  if (context.parts.compressed > 0)
    compressor_free_ = transfer.first + std::int64_t{context.parts.compressed};
  begin(std::move(transfer), now, still);
}

void ContextEngine::restore(Place place, TenantId tenant, std::size_t bytes,
                            const ContextParts& parts, SmCycle now) {
  Transfer transfer{place, tenant, false, {}, parts, 0, 0, now};
  if (traffic_ == ContextTraffic::real) {
    transfer.bytes.resize(round_up(bytes, line_bytes));
  } else {
    transfer.bytes = take_kept(place);
  }
  begin(std::move(transfer), now);
}

std::vector<std::byte> ContextEngine::take_kept(Place place) {
  if (traffic_ == ContextTraffic::real) return {};
  return std::move(kept_.extract(place).mapped());
}

void ContextEngine::keep(Place place, std::span<const std::byte> context) {
  if (!context.empty()) kept_[place].assign(context.begin(), context.end());
}

void ContextEngine::begin(Transfer transfer, SmCycle now, std::int64_t still) {
  if (traffic_ != ContextTraffic::real) {
    transfer.sent = transfer.answered = transfer.lines();
    transfer.ready = now + 1;
  }
  if (traffic_ == ContextTraffic::share) {
    const Time moves = constants_.setup.contexts.share.time_of(transfer.parts.stated_bytes);
    transfer.ready =
        std::max(now + 1, constants_.cycle_at_or_after(constants_.time_of(now) + moves) - still);
  }
  transfers_.push_back(std::move(transfer));
  wake_ = std::min(wake_, now + 1);
}

void ContextEngine::advance(SmCycle now) {
  send_one(now);
  wake_ = no_cycle;
  for (const Transfer& transfer : transfers_) wake_ = std::min(wake_, transfer.wake(now));
}

void ContextEngine::send_one(SmCycle now) {
  const Transfer* stalled = nullptr;
  for (Transfer& transfer : transfers_) {
    if (transfer.sent == transfer.lines() || transfer.line_ready() > now) continue;
    if (send_line(transfer, now)) {
      ++statistics_.tenant[transfer.tenant.value()].context_lines;
      return;
    }
    if (stalled == nullptr) stalled = &transfer;
  }
  if (stalled != nullptr) ++statistics_.tenant[stalled->tenant.value()].context_port_stalls;
}

SmCycle ContextEngine::Transfer::line_ready() const {
  if (!saves) return SmCycle{};
  if (parts.compressed == 0) return first;
  const std::uint64_t register_lines = (parts.register_bytes + line_bytes - 1) / line_bytes;
  const std::uint64_t lines = std::min<std::uint64_t>(sent + 1, register_lines);
  const std::uint64_t passed = (parts.compressed * lines + register_lines - 1) / register_lines;
  return first + compressor_latency + static_cast<std::int64_t>(passed);
}

SmCycle ContextEngine::Transfer::wake(SmCycle now) const {
  if (sent < lines()) return std::max(now + 1, line_ready());
  return answered == lines() && ready > now ? ready : no_cycle;
}

bool ContextEngine::send_line(Transfer& transfer, SmCycle now) {
  const PhysicalAddress line =
      constants_.setup.contexts.place(transfer.place) + transfer.sent * line_bytes;
  const Destination destination = ports_.destination_of(line, false);
  if (!ports_.is_idle(destination, now)) return false;
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
  return true;
}

ContextEngine::Transfer& ContextEngine::transfer_at(PhysicalAddress line) {
  const auto place = constants_.setup.contexts.place_of(line);
  const auto transfer = std::find_if(transfers_.begin(), transfers_.end(),
                                     [&](const Transfer& other) { return other.place == place; });
  LOCKSTEP_CHECK(transfer != transfers_.end(), "a line of a context that does not move");
  return *transfer;
}

void ContextEngine::answered(const MemoryResponse& response, const std::byte* payload,
                             SmCycle usable, SmCycle now) {
  Transfer& transfer = transfer_at(PhysicalAddress(response.line));
  ++transfer.answered;
  transfer.ready = std::max(transfer.ready, usable);
  const std::uint32_t compressed = transfer.parts.compressed;
  if (!transfer.saves && compressed > 0) {
    if (transfer.first == no_cycle) {
      transfer.first = std::max(usable, decompressor_free_);
      decompressor_free_ = transfer.first + std::int64_t{compressed};
    }
    transfer.ready =
        std::max(usable, transfer.first + std::int64_t{compressed}) + compressor_latency;
  }
  if (!transfer.saves)
    std::memcpy(transfer.bytes.data() + RequestTag::index(response.tag) * line_bytes, payload,
                line_bytes);
  wake_ = std::min(wake_, std::max(now + 1, transfer.ready));
}

std::optional<ContextEngine::Done> ContextEngine::take_done(SmCycle now) {
  const auto done = std::find_if(transfers_.begin(), transfers_.end(),
                                 [&](const Transfer& other) { return other.is_done(now); });
  if (done == transfers_.end()) return std::nullopt;
  Transfer transfer = std::move(*done);
  transfers_.erase(done);
  if (traffic_ != ContextTraffic::real && transfer.saves)
    kept_[transfer.place] = std::move(transfer.bytes);
  return Done{transfer.place, transfer.saves, std::move(transfer.bytes)};
}

}  // namespace lockstep
