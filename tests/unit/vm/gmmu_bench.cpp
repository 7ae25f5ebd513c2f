#include "tests/unit/vm/gmmu_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "models/isa/atomic.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep::test {

template <class Body>
void GmmuBench::receive(std::int64_t at, MessageKind kind, const Body& body,
                        std::span<const std::byte> payload, std::uint32_t link) {
  ASSERT_GE(at, now_);
  incoming_.emplace(Order{at, link, number_++},
                    std::make_unique<Incoming>(time(at), kind_of(kind), body, payload));
}

GmmuBench::GmmuBench(const GmmuOptions& options)
    : options_(options), sink_(options.sms + 2), gmmu_(make()) {
  for (std::uint16_t tenant = 0; tenant < tenants; ++tenant) {
    roots_.push_back(new_table());
    receive(0, MessageKind::set_root, PageTableRoot{roots_.back(), tenant, {}}, {}, host());
  }
}

GmmuBench::~GmmuBench() = default;

std::unique_ptr<Gmmu> GmmuBench::make() const {
  Gmmu::Setup setup;
  setup.parameters = defaults<VmParameters>();
  setup.parameters.clock = Frequency{1e9};
  setup.parameters.walkers = options_.walkers;
  setup.parameters.far_fault_mshrs = options_.far_fault_mshrs;
  setup.squashes = options_.squashes;
  setup.parameters.walk_latency = Cycles{options_.walk_latency};
  setup.parameters.l2_tlb.enabled = options_.l2_tlb;
  setup.parameters.l2_tlb.mshrs = options_.mshrs;
  setup.parameters.l2_tlb.ports = options_.ports;
  setup.parameters.l2_tlb.together = options_.together;
  setup.parameters.shootdown = options_.shootdown;
  setup.parameters.shootdown_scope = options_.scope;
  const auto policy = [&](const PolicyChoice& choice) {
    return GmmuPolicySetup{choice, setup.parameters, tenants, 1, ComponentId{0}};
  };
  setup.translation = make_translation_path(
      policy(policy_written<translation_policies>(options_.translation)),
      make_tlb_fill(policy(policy_written<tlb_fill_policies>(options_.tlb_fill))));
  setup.replay = options_.replay;
  setup.local = options_.local;
  setup.tenants = tenants;
  for (std::uint32_t i = 0; i < options_.sms; ++i)
    setup.to_sms.emplace_back(LinkId{i}, ComponentId{i}, latency);
  setup.to_host = Link(LinkId{host()}, ComponentId{host()}, latency);
  setup.to_partitions = {Link(LinkId{memory()}, ComponentId{memory()}, latency)};
  setup.mapping = AddressMapping(AddressMapping::Kind::plain, 1);
  return std::make_unique<Gmmu>(std::move(setup));
}

void GmmuBench::map(std::uint64_t page, std::uint64_t frame, std::uint64_t flags,
                    std::uint16_t tenant) {
  entry(page, tenant) = PageTableEntry::of(frame, flags).bits;
}

void GmmuBench::map_large(std::uint64_t page, std::uint64_t frame, std::uint16_t tenant) {
  for (std::uint64_t i = 0; i < pages_per_large; ++i)
    map(page + i, frame + i * page_bytes, present | writable, tenant);
  memory_[place(page, 3, tenant)] |= large;
}

std::uint64_t& GmmuBench::entry(std::uint64_t page, std::uint16_t tenant) {
  return memory_[place(page, 4, tenant)];
}

std::uint64_t& GmmuBench::directory_entry(std::uint64_t page, std::uint16_t tenant) {
  return memory_[place(page, 3, tenant)];
}

void GmmuBench::translate(std::int64_t at, std::uint16_t sm, std::uint64_t page, bool write,
                          std::uint16_t tenant) {
  receive(at, MessageKind::translate, TranslateRequest{page, tenant, sm, 0, write, 0, 0}, {}, sm);
}

void GmmuBench::use(std::int64_t at, std::uint16_t sm, std::uint64_t page) {
  receive(at, MessageKind::translate, TranslateRequest{page, 0, sm, 0, 0, 1, 0}, {}, sm);
}

void GmmuBench::written(std::int64_t at, std::uint16_t sm, std::uint64_t page,
                        std::uint16_t tenant) {
  receive(at, MessageKind::page_written, PageNotice{page, tenant, sm, 0}, {}, sm);
}

void GmmuBench::replayed(std::int64_t at, std::uint16_t sm, std::uint64_t page,
                         std::uint16_t tenant) {
  receive(at, MessageKind::replayed, PageNotice{page, tenant, sm, 0}, {}, sm);
}

void GmmuBench::pages_mapped(std::int64_t at, std::uint64_t page, std::uint32_t count,
                             std::uint16_t tenant) {
  std::vector<std::uint64_t> entries;
  for (std::uint64_t p = page; p < page + count; ++p) entries.push_back(entry(p, tenant));
  const bool is_large = (directory_entry(page, tenant) & large) != 0;
  PagesMapped body{{page, count, 0, tenant, 0, 0}, place(page, 4, tenant) | is_large};
  receive(at, MessageKind::pages_mapped, body, std::as_bytes(std::span(entries)), host());
}

void GmmuBench::coalesced(std::int64_t at, std::uint64_t page) {
  directory_entry(page) |= large;
  std::vector<std::uint64_t> entries;
  for (std::uint64_t p = page; p < page + 512; ++p) entries.push_back(entry(p));
  receive(at, MessageKind::pages_mapped,
          PagesMapped{{page, 512, 0, 0, 0, 0}, place(page, 4, 0) | 3},
          std::as_bytes(std::span(entries)), host());
}

void GmmuBench::new_root(std::int64_t at) {
  roots_[0] = new_table();
  receive(at, MessageKind::set_root, PageTableRoot{roots_[0], 0, {}}, {}, host());
}

void GmmuBench::end_tenant(std::int64_t at) {
  receive(at, MessageKind::set_root, PageTableRoot{0, 0, {}}, {}, host());
}

void GmmuBench::nothing_there(std::int64_t at, std::uint64_t page) {
  const std::uint64_t none = 0;
  receive(at, MessageKind::pages_mapped, PagesMapped{{page, 1, 0, 0, 0, 0}, 0},
          std::as_bytes(std::span(&none, 1)), host());
}

void GmmuBench::unmap(std::int64_t at, std::uint64_t page, std::uint32_t count,
                      std::uint16_t tenant) {
  UnmapRequest body;
  body.span = {page, count, 7, tenant, 0, 0};
  body.entries_at = place(page, 4, tenant);
  const bool is_disabled = (entry(page, tenant) & PageTableEntry::disabled) != 0;
  if ((directory_entry(page, tenant) & large) != 0)
    body.large_at = place(page, 3, tenant) | is_disabled;
  receive(at, MessageKind::unmap, body, {}, host());
}

void GmmuBench::give_frames(std::int64_t at, std::uint64_t frame) {
  GranuleFrames frames;
  for (std::uint64_t i = 0; i < frames.size(); ++i) frames[i] = frame + i * page_bytes;
  receive(at, MessageKind::zeroed_frames, frames, {}, host());
}

void GmmuBench::shot_down(std::int64_t at, std::uint16_t sm,
                          const std::vector<std::uint32_t>& stored) {
  PageSpan body = shootdowns_.at(sm);
  std::vector<std::uint64_t> bits((body.count + 63) / 64);
  for (const std::uint32_t page : stored) bits[page / 64] |= std::uint64_t{1} << page % 64;
  receive(at, MessageKind::shootdown_done, body, std::as_bytes(std::span(bits)), sm);
}

void GmmuBench::run_until(std::int64_t ns) {
  for (; now_ < ns; ++now_) {
    std::vector<std::unique_ptr<Incoming>> due;
    while (!incoming_.empty() && incoming_.begin()->first.at < now_ + 1) {
      due.push_back(std::move(incoming_.begin()->second));
      incoming_.erase(incoming_.begin());
    }
    std::vector<const MessageHeader*> inbox;
    for (const auto& message : due) inbox.push_back(message->get());
    gmmu_->advance(time(now_ + 1), inbox, sink_.outbox());
    collect();
  }
}

const GmmuStatistics& GmmuBench::statistics() {
  return *static_cast<const GmmuStatistics*>(gmmu_->statistics(Time{}).values);
}

std::string GmmuBench::save() {
  std::ostringstream bytes;
  Archive saving = Archive::saving(bytes);
  gmmu_->serialize(saving);
  return bytes.str();
}

void GmmuBench::save_and_restore() {
  std::istringstream bytes(save());
  gmmu_ = make();
  Archive restoring = Archive::restoring(bytes);
  gmmu_->serialize(restoring);
}

std::uint64_t GmmuBench::place(std::uint64_t page, unsigned level, std::uint16_t tenant) {
  std::uint64_t table = roots_[tenant];
  for (unsigned l = 1; l < level; ++l) {
    std::uint64_t& bits = memory_[table + table_index(page, l) * 8];
    if (bits == 0) bits = new_table() | present | writable;
    table = PageTableEntry{bits}.address();
  }
  return table + table_index(page, level) * 8;
}

void GmmuBench::collect() {
  struct Line {
    Time departure;
    std::string text;
  };
  std::vector<Line> lines;
  for (std::uint32_t component = 0; component <= host(); ++component) {
    for (const MessageHeader* message : sink_.to(component)) {
      std::ostringstream line;
      const Time departure = message->arrival - latency;
      line << departure.femtoseconds() / 1'000'000 << ' '
           << (component == host() ? "host" : "sm" + std::to_string(component)) << ' ';
      describe(*message, component, line);
      lines.push_back({departure, line.str()});
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.departure < b.departure; });
  for (const Line& line : lines) sent_.push_back(line.text);
  for (const MessageHeader* message : sink_.to(memory())) serve(*message);
  sink_.clear();
}

void GmmuBench::describe(const MessageHeader& message, std::uint32_t component,
                         std::ostream& line) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::translation: {
      const auto& body = message.body<TranslationAnswer>();
      const char* const status[] = {"found ", "refused ", "handled ", "invalid "};
      line << status[static_cast<int>(body.status)] << body.page;
      if (body.status == TranslationStatus::refused) positions_.push_back(body.position);
      if (body.status == TranslationStatus::invalid && body.write) line << " store";
      if (body.status != TranslationStatus::found) break;
      line << " at 0x" << std::hex << body.entry.address();
      if (body.entry.is(large)) line << " large";
      break;
    }
    case MessageKind::far_fault: {
      const auto& body = message.body<FarFault>();
      line << "far-fault " << body.page << (body.write ? " store" : "")
           << (body.permission ? " permission" : "") << " of sm" << body.sm;
      fault_positions_.push_back(body.position);
      notes_.clear();
      for (std::uint32_t i = 0; i < message.payload_bytes / sizeof(AccessNote); ++i) {
        AccessNote note;
        std::memcpy(&note, message.payload_data() + i * sizeof note, sizeof note);
        notes_.push_back(note.page);
      }
      break;
    }
    case MessageKind::replay: {
      const auto& body = message.body<PageNotice>();
      line << "replay ";
      if (body.page == all_pages) {
        line << "all";
      } else {
        line << body.page;
      }
      break;
    }
    case MessageKind::pages_mapped:
      line << "knows " << message.body<PagesMapped>().span.page << " + "
           << message.body<PagesMapped>().span.count;
      break;
    case MessageKind::flush: {
      const auto& body = message.body<TlbFlush>();
      line << "flush ";
      if (body.tenant == all_tenants) {
        line << "all";
      } else {
        line << "tenant " << body.tenant;
      }
      break;
    }
    case MessageKind::shootdown:
      shootdowns_[static_cast<std::uint16_t>(component)] = message.body<PageSpan>();
      line << "shootdown " << message.body<PageSpan>().page << " + "
           << message.body<PageSpan>().count;
      break;
    case MessageKind::unmapped:
      EXPECT_EQ(message.body<PageSpan>().id, 7u);
      line << "unmapped " << message.body<PageSpan>().page << " + "
           << message.body<PageSpan>().count;
      unmapped_.resize(message.payload_bytes / 8);
      std::memcpy(unmapped_.data(), message.payload_data(), message.payload_bytes);
      break;
    case MessageKind::pages_handled: {
      const auto& body = message.body<PagesHandled>();
      line << "handled";
      for (std::uint32_t i = 0; i < body.span.count; ++i) {
        std::uint64_t entry;
        std::memcpy(&entry, message.payload_data() + i * sizeof entry, sizeof entry);
        if ((entry & present) != 0) line << ' ' << body.span.page + i;
      }
      line << " from " << body.found.femtoseconds() / 1'000'000;
      break;
    }
    default:
      line << "?";
  }
}

void GmmuBench::serve(const MessageHeader& message) {
  const auto& request = message.body<MemoryRequest>();
  EXPECT_EQ(request.source, SourceKind::gmmu);
  const std::int64_t left = (message.arrival - latency).femtoseconds() / 1'000'000;
  std::vector<std::uint64_t> payload;
  std::ostringstream line;
  line << left << ' ';
  if (request.operation == MemoryOperation::load) {
    line << "read " << int{request.walk_level};
    const std::uint64_t sector =
        request.line + sector_bytes * static_cast<unsigned>(std::countr_zero(request.sectors));
    for (unsigned i = 0; i < 4; ++i) payload.push_back(memory_[sector + 8 * i]);
  } else {
    line << (request.atomic == isa::AtomicOperation::exch          ? "exchange "
             : request.atomic == isa::AtomicOperation::logical_and ? "and "
             : request.atomic == isa::AtomicOperation::cas         ? "swap "
                                                                   : "or ")
         << int{request.lanes};
    for (unsigned i = 0; i < request.lanes; ++i) {
      AtomicLane lane;
      std::memcpy(&lane, message.payload_data() + i * sizeof lane, sizeof lane);
      std::uint64_t& word = memory_[request.line + lane.offset];
      payload.push_back(word);
      word = isa::apply(request.atomic, request.type, word, lane.operands.a, lane.operands.b);
    }
    if ((request.flags & flag_returns) == 0) payload.clear();
  }
  memory_log_.push_back(line.str());
  receive(left + memory_round_trip, MessageKind::memory_response, answer_to(request),
          std::as_bytes(std::span(payload)), memory());
}

}  // namespace lockstep::test
