#include "tests/unit/host_link/host_link_bench.hpp"

#include <algorithm>

namespace lockstep::test {

HostLinkBench::HostLinkBench() : sink_(partitions) {}
HostLinkBench::~HostLinkBench() = default;

HostParameters HostLinkBench::parameters(std::uint32_t lines_in_flight) {
  HostParameters result;
  result.link_curve = CurveKind::affine;
  result.link_bandwidth = Bandwidth{128e9};
  result.link_latency = 500_ns;
  result.transfer_setup = 8_ns;
  result.lines_in_flight = lines_in_flight;
  result.link_order = TenantOrder::round_robin;
  result.link_preempts_prefetch = false;
  return result;
}

HostLink HostLinkBench::make(std::uint32_t lines_in_flight) {
  return make(parameters(lines_in_flight));
}

HostLink HostLinkBench::make(const HostParameters& settings, bool stretches) {
  std::vector<Link> links;
  for (std::uint32_t p = 0; p < partitions; ++p) {
    links.emplace_back(LinkId{p}, ComponentId{p}, 500_ns);
  }
  return HostLink(
      settings, AddressMapping(AddressMapping::Kind::plain, partitions), links,
      [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
        return std::span(memory_[transfer.buffer]).subspan(offset, bytes);
      },
      {0, 1, 2, 3, 4, 5}, {}, {}, stretches);
}

void HostLinkBench::SetUp() {
  for (auto& buffer : memory_) {
    buffer.resize(2 << 20);
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(i * 7 + 1);
  }
}

Transfer HostLinkBench::transfer(Transfer::Kind kind, std::uint64_t bytes, std::uint16_t tenant,
                                 std::uint64_t physical, std::uint64_t offset) {
  Transfer result;
  result.kind = kind;
  result.tenant = tenant;
  result.owner = {TransferPart::program, ++operations_};
  result.frames = {{physical, bytes}};
  result.offset = offset;
  result.bytes = bytes;
  return result;
}

Transfer HostLinkBench::of_class(Transfer::Class rank, std::uint64_t bytes, std::uint16_t tenant) {
  Transfer result = transfer(Transfer::Kind::to_gpu, bytes, tenant);
  result.rank = rank;
  return result;
}

std::vector<HostLinkBench::Sent> HostLinkBench::sent() const {
  std::vector<Sent> all;
  for (std::size_t p = 0; p < partitions; ++p) {
    for (const MessageHeader* message : sink_.to(p)) {
      all.push_back({message->arrival - 500_ns, p, message});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Sent& a, const Sent& b) { return a.departure < b.departure; });
  return all;
}

std::vector<std::int64_t> HostLinkBench::departures_ns() const {
  std::vector<std::int64_t> times;
  for (const Sent& s : sent()) times.push_back(s.departure.femtoseconds() / 1'000'000);
  return times;
}

std::string HostLinkBench::turns() const {
  std::string text;
  for (const Sent& s : sent()) {
    const char tenant = static_cast<char>('a' + s.request().tenant);
    if (text.empty() || text.back() != tenant) text += tenant;
  }
  return text;
}

void HostLinkBench::run(HostLink& link, Time end) {
  while (link.next_activity() < end) link.act(link.next_activity(), sink_.outbox());
}

std::optional<Transfer> HostLinkBench::answer(HostLink& link, const MemoryRequest& request,
                                              std::uint8_t first, Time arrival) {
  MemoryResponse response;
  response.line = request.line;
  response.tag = request.tag;
  response.operation = request.operation;
  response.sectors = request.sectors;
  std::vector<std::byte> payload;
  if (request.operation != MemoryOperation::store) {
    payload.resize(request.sector_count() * sector_bytes);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = std::byte(first + i);
  }
  const IncomingMessage message(arrival, kind_of(MessageKind::memory_response), response, payload);
  return link.take(*message.get());
}

}  // namespace lockstep::test
