#include "tests/unit/sm/machine/ideal_machine.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "core/checkpoint/archive.hpp"
#include "models/noc/grid_messages.hpp"
#include "models/sm/block_switching/block_switching.hpp"
#include "models/sm/block_switching/registry.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/tables/issue_tables.hpp"
#include "models/sm/warp_scheduler/registry.hpp"
#include "models/vm/messages.hpp"
#include "tests/harness/policy_named.hpp"

namespace lockstep {

/// Behind the memory, before local memory.
static constexpr std::uint64_t contexts_base = std::uint64_t{1} << 36, context_bytes = 128 << 10,
                               context_bytes_per_second = 10'000'000'000;

IdealMachine::Options::Options()
    : parameters(defaults<SmParameters>()),
      noc(defaults<NocParameters>()),
      l1_tlb(defaults<L1TlbParameters>()) {}
IdealMachine::Options::Options(const Options&) = default;
IdealMachine::Options::~Options() = default;

static IdealMachine::PageState present(std::uint64_t page) {
  constexpr auto flags = PageTableEntry::present | PageTableEntry::writable;
  const std::uint64_t offset = (page - IdealMachine::page_of(0)) * page_bytes;
  return {TranslationStatus::found, PageTableEntry::of(offset, flags)};
}

IdealMachine::IdealMachine(isa::Module module, const Options& options)
    : module_(std::move(module)),
      options_(options),
      clock_(options.parameters.clock),
      memory_(options.memory_bytes),
      sent_(options.partitions + 3) {
  mapping_ = AddressMapping(AddressMapping::Kind::hashed, options_.partitions);
  for (std::uint64_t page = 0; page < memory_.bytes.size(); page += page_bytes)
    pages[page_of(page)] = present(page_of(page));
  tables_ = make_issue_tables(
      options_.parameters, {&module_},
      detail_for(options_.parameters,
                 policy_written<exception_scheme_policies>(options_.exception_scheme)));
  for (std::uint32_t i = 0; i < options_.sms; ++i) {
    sms_.emplace_back();
    inboxes_.emplace_back();
    fresh_sm(i);
  }
}

IdealMachine::~IdealMachine() = default;

void IdealMachine::fresh_sm(std::uint32_t i) {
  StreamingMultiprocessor::Setup setup;
  setup.parameters = options_.parameters;
  setup.noc = options_.noc;
  setup.warp_scheduler = policy_named(warp_scheduler_policies(), options_.warp_scheduler);
  setup.exception_scheme = policy_written<exception_scheme_policies>(options_.exception_scheme);
  setup.block_switching = policy_written<block_switching_policies>(options_.block_switching);
  const std::unique_ptr<BlockSwitching> switching = make_block_switching(setup.block_switching);
  if (switching->extra_blocks() > 0) {
    setup.contexts = {PhysicalAddress(contexts_base),
                      context_bytes,
                      switching->extra_blocks() + 1,
                      options_.parameters.warps,
                      options_.contexts,
                      options_.stops,
                      switching->ideal() ? ContextTraffic::ideal : options_.traffic,
                      {context_bytes_per_second}};
    setup.contexts.first_place = i * setup.contexts.places;
    setup.contexts.tells_stays = options_.tells_stays;
  }
  setup.follows_blocks = options_.follows_blocks;
  setup.idempotence = options_.idempotence;
  setup.index = i;
  setup.tenants = options_.tenants;
  setup.vm.l1_tlb = options_.l1_tlb;
  setup.replay = options_.replay;
  setup.modules = {&module_};
  setup.issue_tables = tables_;
  setup.mapping = mapping_;
  const std::uint32_t p = options_.partitions;
  const Time request = clock_.duration(options_.request_latency);
  for (std::uint32_t d = 0; d < p; ++d)
    setup.to_partitions.emplace_back(LinkId{i * (p + 3) + d}, ComponentId{d}, request);
  setup.to_host = Link{LinkId{i * (p + 3) + p}, ComponentId{p}, request};
  setup.to_dispatcher = Link{LinkId{i * (p + 3) + p + 1}, ComponentId{p + 1}, request};
  setup.to_gmmu =
      Link{LinkId{i * (p + 3) + p + 2}, ComponentId{p + 2}, clock_.duration(options_.gmmu_link)};
  sms_[i] = std::make_unique<StreamingMultiprocessor>(std::move(setup));
}

std::string IdealMachine::state(std::uint32_t i) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  sm(i).serialize(archive);
  return out.str();
}

void IdealMachine::save_and_restore(std::uint32_t i) {
  std::istringstream in(state(i));
  fresh_sm(i);
  Archive archive = Archive::restoring(in);
  sm(i).serialize(archive);
}

const SmStatistics& IdealMachine::statistics() {
  return *static_cast<const SmStatistics*>(sm().statistics(clock_.edge(Cycles{now_})).values);
}

void IdealMachine::launch(const std::string& kernel, std::array<std::uint32_t, 3> blocks,
                          std::array<std::uint32_t, 3> threads,
                          const std::vector<std::uint64_t>& arguments, std::uint32_t dynamic_shared,
                          std::uint16_t tenant) {
  const int index = module_.kernel_index(kernel);
  LOCKSTEP_CHECK(index >= 0, "no kernel " + kernel);
  const isa::Program& program = module_.kernels[static_cast<std::size_t>(index)].lowered;
  GridLaunch launch;
  launch.grid = grids_++;
  launch.overwritten = options_.overwritten;
  launch.tenant = tenant;
  launch.primary = primary;
  launch.kernel = static_cast<std::uint16_t>(index);
  launch.blocks = blocks;
  launch.threads = threads;
  launch.dynamic_shared_bytes = dynamic_shared;
  launch.parameter_bytes = program.parameter_bytes;
  std::vector<std::byte> payload((program.parameter_bytes + 7u) & ~std::size_t{7});
  std::size_t word = 0;
  for (const auto& parameter : program.parameters) {
    std::memcpy(payload.data() + parameter.offset, &arguments[word], parameter.bytes);
    word += (parameter.bytes + 7) / 8;
  }
  const std::uint32_t used =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(options_.sms, launch.block_count()));
  for (std::uint32_t i = 0; i < used; ++i) {
    if (options_.knows_pages) post_large_pages(i, tenant);
    post(i, now_ + 1, MessageKind::start_grid, launch, payload);
  }
  for (std::uint64_t b = 0; b < launch.block_count(); ++b)
    post(static_cast<std::uint32_t>(b % options_.sms), now_ + 1, MessageKind::start_block,
         BlockReference{launch.grid, static_cast<std::uint32_t>(b % options_.sms), b});
  for (std::uint32_t i = 0; i < used && options_.ends_grids; ++i)
    post(i, now_ + 1, MessageKind::end_grid, GridReference{launch.grid, 0});
  blocks_left_ += launch.block_count();
}

void IdealMachine::advance_to(std::int64_t horizon) {
  for (std::uint32_t i = 0; i < sms_.size(); ++i) advance_sm(i, horizon);
  now_ = horizon - 1;
}

void IdealMachine::run_to(std::int64_t horizon) {
  while (now_ + 1 < horizon) advance_to(std::min(horizon, now_ + 46));
}

std::int64_t IdealMachine::run(std::int64_t window, std::int64_t limit) {
  while (blocks_left_ > 0) {
    LOCKSTEP_CHECK(now_ < limit, "the kernel does not end: " + sm().waiting_for());
    std::int64_t least = no_cycle_;
    for (std::uint32_t i = 0; i < sms_.size(); ++i) {
      if (sms_[i]->next_activity() != Time::never())
        least = std::min(least, clock_.cycle_at_or_after(sms_[i]->next_activity()).count());
      for (const Parcel* parcel : inboxes_[i].parcels)
        least = std::min(least, clock_.cycle_at_or_after(parcel->header().arrival).count());
    }
    LOCKSTEP_CHECK(least != no_cycle_, "nothing will happen: " + sm().waiting_for());
    advance_to(std::max(now_ + 1, least) + window);
  }
  return last_done_;
}

void IdealMachine::sort_seen() {
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Seen& a, const Seen& b) { return a.departure < b.departure; });
}

void IdealMachine::post_bytes(std::uint32_t sm, std::int64_t at, MessageKind kind,
                              std::span<const std::byte> body, std::span<const std::byte> payload) {
  Parcel* parcel = take_parcel();
  LOCKSTEP_CHECK(sizeof(MessageHeader) + body.size() + payload.size() <= parcel->bytes.size(),
                 "a message that is larger than any that is expected");
  MessageHeader& header = parcel->header();
  header = {};
  header.arrival = clock_.edge(Cycles{at});
  header.link = LinkId{1'000'000};
  header.sequence = sequence_++;
  header.kind = kind_of(kind);
  header.body_bytes = static_cast<std::uint16_t>(body.size());
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  std::memcpy(parcel->bytes.data() + sizeof header, body.data(), body.size());
  if (!payload.empty())
    std::memcpy(parcel->bytes.data() + sizeof header + body.size(), payload.data(), payload.size());
  inboxes_[sm].parcels.push_back(parcel);
}

Parcel* IdealMachine::take_parcel() {
  if (free_.empty()) return &parcels_.emplace_back();
  Parcel* parcel = free_.back();
  free_.pop_back();
  return parcel;
}

void IdealMachine::advance_sm(std::uint32_t i, std::int64_t horizon) {
  const Time end = clock_.edge(Cycles{horizon});
  auto& parcels = inboxes_[i].parcels;
  const auto later = std::stable_partition(
      parcels.begin(), parcels.end(), [&](const Parcel* p) { return p->header().arrival < end; });
  std::sort(parcels.begin(), later, [](const Parcel* a, const Parcel* b) {
    const MessageHeader &x = a->header(), &y = b->header();
    return std::tuple(x.arrival, x.link, x.sequence) < std::tuple(y.arrival, y.link, y.sequence);
  });
  headers_.clear();
  for (auto p = parcels.begin(); p != later; ++p) headers_.push_back(&(*p)->header());
  sms_[i]->advance(end, headers_, sent_.outbox());
  for (auto p = parcels.begin(); p != later; ++p) free_.push_back(*p);
  parcels.erase(parcels.begin(), later);
  for (const MessageHeader* message : sent_.all()) deliver(i, *message);
  sent_.clear();
}

void IdealMachine::post_large_pages(std::uint32_t sm, std::uint16_t tenant) {
  constexpr auto flags = PageTableEntry::present | PageTableEntry::writable |
                         PageTableEntry::dirty | PageTableEntry::large;
  for (std::uint64_t at = 0; at < memory_.bytes.size(); at += large_page_bytes) {
    TranslationAnswer answer;
    answer.page = page_of(at);
    answer.entry = PageTableEntry::of(at, flags);
    answer.tenant = tenant;
    post(sm, now_ + 1, MessageKind::translation, answer);
  }
}

std::int64_t IdealMachine::page_comes(std::uint64_t page, std::uint16_t tenant) {
  pages[page] = present(page);
  const Cycles way = options_.gmmu_link + options_.gmmu_latency + options_.gmmu_link;
  const std::int64_t heard = now_ + 1 + way.count();
  for (std::uint32_t i = 0; i < options_.sms; ++i)
    post(i, heard, MessageKind::replay, PageNotice{page, tenant, 0, 0});
  return heard;
}

void IdealMachine::deliver_notice(std::uint32_t sm, const MessageHeader& header) {
  const auto relative = [](std::uint64_t page) { return std::to_string(page - page_of(0)); };
  const bool to_gmmu = header.link.value() % (options_.partitions + 3) == options_.partitions + 2;
  const std::int64_t arrival = clock_.cycle_at_or_after(header.arrival).count();
  const Cycles link = to_gmmu ? options_.gmmu_link : options_.request_latency;
  const auto note = [&](const std::string& text) {
    told.push_back({arrival - link.count(), text});
  };
  switch (static_cast<MessageKind>(header.kind)) {
    case MessageKind::translate: {
      const auto& request = header.body<TranslateRequest>();
      if (request.known) return note("uses " + relative(request.page));
      note("translate " + relative(request.page) + (request.write ? " w" : ""));
      TranslationAnswer answer;
      answer.page = request.page;
      answer.tenant = request.tenant;
      answer.write = request.write;
      const auto page = pages.find(request.page);
      answer.status = page == pages.end() ? TranslationStatus::invalid : page->second.status;
      if (answer.status == TranslationStatus::found) answer.entry = page->second.entry;
      if (answer.status == TranslationStatus::refused) answer.position = page->second.position;
      if (request.write && answer.status == TranslationStatus::found &&
          !answer.entry.is(PageTableEntry::writable))
        answer.status = TranslationStatus::refused;
      post(sm, arrival + options_.gmmu_latency.count() + options_.gmmu_link.count(),
           MessageKind::translation, answer);
      return;
    }
    case MessageKind::page_written:
      return note("written " + relative(header.body<PageNotice>().page));
    case MessageKind::replayed:
      return note("replayed " + relative(header.body<PageNotice>().page));
    case MessageKind::stores_done:
      return note("stores done");
    case MessageKind::block_saved:
      return note("saved " + std::to_string(header.body<BlockSaved>().block.block));
    case MessageKind::block_restored:
      return note("restored " + std::to_string(header.body<BlockReference>().block));
    case MessageKind::block_settled:
      return note("settled " + std::to_string(header.body<BlockReference>().block));
    case MessageKind::block_lets_go:
      return note("lets go " + std::to_string(header.body<BlockReference>().block));
    case MessageKind::block_returned:
      return note("returned " + std::to_string(header.body<BlockReference>().block));
    case MessageKind::block_given:
      given = header.body<BlockGiven>();
      given_context.assign(header.payload().begin(), header.payload().end());
      return note(given.given == 0 ? "gives none" : "gives " + std::to_string(given.block.block));
    case MessageKind::context_free:
      return note("free " + std::to_string(header.body<ContextPlace>().place));
    case MessageKind::homes_free:
      return note("homes free " + std::to_string(header.payload().size() / sizeof(LocalHome)));
    case MessageKind::block_flushed:
      return note("flushed " + std::to_string(header.body<BlockDone>().block.block) + " " +
                  std::to_string(header.body<BlockDone>().work.executed.warp));
    case MessageKind::status: {
      std::string text = "status";
      for (std::size_t at = 0; at < header.payload().size(); at += sizeof(BlockStatus)) {
        BlockStatus block;
        std::memcpy(&block, header.payload().data() + at, sizeof block);
        text += " " + std::to_string(block.block) + ":" + std::to_string(block.work.executed.warp) +
                "/" + std::to_string(block.work.cycles) + (block.idempotent ? "i" : "") +
                (block.faulted ? "f" : "");
      }
      return note(text);
    }
    case MessageKind::grid_stopped:
      return note("stopped " + std::to_string(header.body<GridReference>().grid));
    case MessageKind::shootdown_done: {
      const auto& span = header.body<PageSpan>();
      std::uint64_t stored = 0;
      std::memcpy(&stored, header.payload_data(), sizeof stored);
      return note("shot " + relative(span.page) + "+" + std::to_string(span.count) + " stored " +
                  std::to_string(stored));
    }
    default: {
      const auto* text = reinterpret_cast<const char*>(header.payload_data());
      std::string all(text, header.payload_bytes);
      std::replace(all.begin(), all.end(), '\0', '|');
      const bool printed = header.kind == kind_of(MessageKind::printed);
      return note((printed ? "printed " : "violation ") + all);
    }
  }
}

void IdealMachine::deliver(std::uint32_t sm, const MessageHeader& header) {
  if (header.kind == kind_of(MessageKind::block_done)) {
    --blocks_left_;
    last_done_ =
        clock_.cycle_at_or_after(header.arrival).count() - options_.request_latency.count();
    return;
  }
  if (header.kind != kind_of(MessageKind::memory_request)) return deliver_notice(sm, header);
  ++requests;
  const auto& request = header.body<MemoryRequest>();
  if (record)
    seen.push_back(
        {clock_.cycle_at_or_after(header.arrival).count() - options_.request_latency.count(),
         request,
         {header.payload().begin(), header.payload().end()}});
  Parcel* parcel = take_parcel();
  const MemoryResponse response = answer_to(request);
  const std::size_t bytes =
      memory_.serve(request, header.payload_data(),
                    parcel->bytes.data() + sizeof(MessageHeader) + sizeof response);
  MessageHeader& answer = parcel->header();
  answer = {};
  answer.arrival =
      header.arrival + clock_.duration(options_.memory_latency + options_.response_latency);
  answer.link = LinkId{2'000'000 + header.link.value()};
  answer.sequence = header.sequence;
  answer.kind = kind_of(MessageKind::memory_response);
  answer.body_bytes = sizeof response;
  answer.payload_bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(parcel->bytes.data() + sizeof answer, &response, sizeof response);
  inboxes_[sm].parcels.push_back(parcel);
}

}  // namespace lockstep
