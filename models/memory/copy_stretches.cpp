#include "models/memory/copy_stretches.hpp"

#include <array>
#include <cstring>

#include "core/memory/slots.hpp"
#include "models/noc/store_payload.hpp"

namespace lockstep {

void CopyStretches::take(const MessageHeader& message) {
  const std::uint32_t number = take_slot(stretches_, free_);
  Stretch& stretch = stretches_[number];
  stretch.said = message.body<CopyStretch>();
  stretch.link = message.link;
  stretch.at = stretch.answered = 0;
  stretch.lines.resize(stretch.said.lines);
  const std::byte* const lines = message.payload_data();
  const std::size_t length = stretch.lines.size() * sizeof(CopiedLine);
  std::memcpy(stretch.lines.data(), lines, length);
  stretch.bytes.assign(lines + length, lines + message.payload_bytes);
  find_next();
}

void CopyStretches::find_next() {
  next_ = Time::never();
  for (std::uint32_t number = 0; number < stretches_.size(); ++number) {
    const Stretch& stretch = stretches_[number];
    if (stretch.at == stretch.lines.size()) continue;
    const Time arrival = stretch.lines[stretch.at].arrival;
    if (arrival >= next_) continue;
    next_ = arrival;
    first_ = number;
    link_ = stretch.link;
  }
}

const MessageHeader& CopyStretches::take_line() {
  constexpr std::size_t most_bytes =
      sizeof(MessageHeader) + sizeof(MemoryRequest) +
      line_bytes / sector_bytes * (sizeof(std::uint32_t) + sector_bytes);
  request_.resize((most_bytes + 7) / 8);
  Stretch& stretch = stretches_[first_];
  const CopiedLine line = stretch.lines[stretch.at];
  const std::uint64_t begin = line.address % line_bytes, end = begin + line.bytes;
  const bool to_gpu = stretch.said.to_gpu != 0;

  MemoryRequest request;
  request.line = line.address - begin;
  request.tag = to_gpu ? first_ : line.tag;
  request.source = stretch.said.source;
  request.tenant = stretch.said.tenant;
  request.sectors = sectors_of(begin, end);
  request.flags = flag_dma;
  request.operation = to_gpu ? MemoryOperation::store : MemoryOperation::load;

  MessageHeader header;
  header.arrival = line.arrival;
  header.link = stretch.link;
  header.kind = kind_of(MessageKind::memory_request);
  header.body_bytes = sizeof request;
  if (to_gpu)
    header.payload_bytes =
        static_cast<std::uint32_t>(request.sector_count() * (sizeof(std::uint32_t) + sector_bytes));
  auto* const place = reinterpret_cast<std::byte*>(request_.data());
  header.store(place);
  std::memcpy(place + sizeof header, &request, sizeof request);
  if (to_gpu) {
    alignas(64) std::array<std::byte, line_bytes> bytes;
    write_bytes(stretch, line, bytes.data());
    fill_store(place + sizeof header + sizeof request, begin, end, bytes.data());
  }
  ++stretch.at;
  if (!to_gpu && stretch.at == stretch.lines.size()) release(first_);
  find_next();
  return *reinterpret_cast<const MessageHeader*>(place);
}

void CopyStretches::write_bytes(const Stretch& stretch, const CopiedLine& line, std::byte* to) {
  if (stretch.said.is_initial != 0) {
    initial_(stretch.said.tenant, stretch.said.buffer, stretch.said.offset + line.at,
             {to, line.bytes});
  } else {
    std::memcpy(to, stretch.bytes.data() + std::size_t{stretch.at} * line_bytes, line.bytes);
  }
}

std::optional<StretchDone> CopyStretches::answered(std::uint32_t number) {
  Stretch& stretch = stretches_[number];
  if (++stretch.answered < stretch.lines.size()) return std::nullopt;
  StretchDone done{stretch.said.number, stretch.said.lines, 0};
  for (const CopiedLine& line : stretch.lines) done.bytes += line.bytes;
  release(number);
  return done;
}

void CopyStretches::release(std::uint32_t number) {
  stretches_[number] = {};
  free_.push_back(number);
}

}  // namespace lockstep
