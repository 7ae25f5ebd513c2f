#include "tests/properties/page_table_watch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/engine/mail/inbox.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::testing {
namespace {

constexpr std::size_t most_snapshots = 12;
constexpr std::uint64_t set_by_use = PageTableEntry::set_by_gmmu;
constexpr unsigned entries_per_table = 512;

std::string name(const std::pair<std::uint16_t, std::uint64_t>& page) {
  return "page " + std::to_string(page.second) + " of tenant " + std::to_string(page.first);
}

}  // namespace

/// Passes everything on, and keeps what PageTableWatch wants to know.
class PageTableWatch::Listener final : public Component {
 public:
  Listener(std::unique_ptr<Component> inside, const PageTableWatch& watch, Time latency,
           std::vector<Event>& events)
      : inside_(std::move(inside)), watch_(watch), latency_(latency), events_(events) {}

  Time next_activity() const override { return inside_->next_activity(); }
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override {
    for (const MessageHeader* message : inbox) watch_.hear(*message, latency_, events_);
    inside_->advance(horizon, inbox, outbox);
  }
  void serialize(Archive& archive) override { inside_->serialize(archive); }
  StatisticsView statistics(Time now) override { return inside_->statistics(now); }
  std::vector<StatisticsView> parts(Time now) override { return inside_->parts(now); }
  bool finished() const override { return inside_->finished(); }
  std::string waiting_for() const override { return inside_->waiting_for(); }

 private:
  std::unique_ptr<Component> inside_;
  const PageTableWatch& watch_;
  const Time latency_;
  std::vector<Event>& events_;
};

/// Copies of all partitions, which are asked for their bytes.
class PageTableWatch::CopiedMemory {
 public:
  CopiedMemory(const Machine& machine, const std::vector<Component*>& partitions, Time now)
      : mapping_(machine.parameters().gpu.noc.mapping, machine.parameters().gpu.memory.partitions),
        now_(now),
        answers_(machine.graph().nodes().size()) {
    for (std::uint32_t id = 0, p = 0; id < machine.graph().nodes().size(); ++id) {
      if (!is_partition(machine, ComponentId{id})) continue;
      std::ostringstream out;
      Archive saving = Archive::saving(out);
      partitions[p++]->serialize(saving);
      std::istringstream in(out.str());
      Archive restoring = Archive::restoring(in);
      copies_.push_back(machine.build(ComponentId{id}));
      copies_.back()->serialize(restoring);
    }
  }

  static bool is_partition(const Machine& machine, ComponentId id) {
    const Graph& graph = machine.graph();
    return graph.kinds()[graph.nodes()[id.value()].kind.value()].name == "partition";
  }

  /// The table of 512 entries at a physical address.
  std::array<std::uint64_t, entries_per_table> table(std::uint64_t physical, std::uint16_t tenant) {
    std::array<std::uint64_t, entries_per_table> entries{};
    std::vector<std::vector<Question>> questions(copies_.size());
    for (std::uint64_t line = physical; line < physical + page_bytes; line += line_bytes)
      questions[mapping_.partition(PhysicalAddress{line}).value()].push_back(
          question(line, tenant));
    const Time after = now_ + Time{1'000'000'000};
    for (std::size_t p = 0; p < copies_.size(); ++p) {
      std::vector<const MessageHeader*> inbox;
      for (const Question& question : questions[p]) inbox.push_back(&question.header);
      copies_[p]->advance(after, inbox, answers_.outbox());
    }
    now_ = after;
    for (const MessageHeader* message : answers_.all()) {
      const auto& answer = message->body<MemoryResponse>();
      if (MessageKind{message->kind} != MessageKind::memory_response ||
          answer.operation != MemoryOperation::inspect)
        continue;
      std::memcpy(&entries[(answer.line - physical) / sizeof(std::uint64_t)],
                  message->payload_data(), line_bytes);
    }
    answers_.clear();
    return entries;
  }

 private:
  struct Question {
    MessageHeader header;
    MemoryRequest request;
  };
  Question question(std::uint64_t line, std::uint16_t tenant) const {
    Question question;
    question.header.arrival = now_;
    question.header.kind = kind_of(MessageKind::memory_request);
    question.header.body_bytes = sizeof(MemoryRequest);
    question.request.line = line;
    question.request.source = SourceKind::host;
    question.request.tenant = tenant;
    question.request.operation = MemoryOperation::inspect;
    question.request.sectors = 15;
    return question;
  }

  const AddressMapping mapping_;
  Time now_;
  MessageSink answers_;
  std::vector<std::unique_ptr<Component>> copies_;
};

/// What the messages say, and nothing else.
struct PageTableWatch::Model {
  static bool is_present(const Place& place) {
    return PageTableEntry{place.bits}.is(PageTableEntry::present);
  }
  std::map<Page, Place> pages;
  std::set<Page> untouched;  ///< the GPU may map them by itself, and is heard of afterwards
  std::vector<std::uint64_t> roots;

  /// "" or what is wrong with it.
  std::string apply(const Event& event) {
    const auto known = pages.find(event.page);
    switch (event.kind) {
      case Event::Kind::root:
        roots[event.page.first] = event.place.bits;
        if (event.place.bits != 0) return "";
        for (const auto& [page, place] : pages)
          if (page.first == event.page.first) return name(page) + " outlives its tables";
        return "";
      case Event::Kind::mapped: {
        if (!is_present(event.place)) {
          untouched.insert(event.page);
          return "";
        }
        untouched.erase(event.page);
        const bool moved = known != pages.end() && PageTableEntry{known->second.bits}.address() !=
                                                       PageTableEntry{event.place.bits}.address();
        pages[event.page] = event.place;
        return moved ? name(event.page) + " moved without having been unmapped" : "";
      }
      case Event::Kind::unmapped: {
        // What was not mapped comes back as 0, or as untouched.
        untouched.erase(event.page);
        const bool was = is_present(event.place), is = known != pages.end();
        std::string wrong;
        if (was != is || (is && known->second.bits != event.place.bits))
          wrong = name(event.page) + " was unmapped with another entry than it had";
        if (is) pages.erase(known);
        return wrong;
      }
    }
    return "";
  }
};

PageTableWatch::PageTableWatch(const Machine& machine)
    : machine_(machine),
      tenants_(machine.tenant_names().size()),
      partitions_(machine.parameters().gpu.memory.partitions) {}

PageTableWatch::~PageTableWatch() = default;

std::unique_ptr<Component> PageTableWatch::watched(ComponentId id,
                                                   std::unique_ptr<Component> built) {
  const Time latency = machine_.parameters().host.link_latency;
  const Graph& graph = machine_.graph();
  const std::string& kind = graph.kinds()[graph.nodes()[id.value()].kind.value()].name;
  if (kind == "partition") partitions_[graph.nodes()[id.value()].index] = built.get();
  if (kind == "host") host_ = static_cast<Host*>(built.get());
  if (kind != "host" && kind != "gmmu") return built;
  auto& events = kind == "host" ? at_host_ : at_gmmu_;
  return std::make_unique<Listener>(std::move(built), *this, latency, events);
}

/// The host tells over a link: what reaches the GMMU left the host that much earlier.
void PageTableWatch::hear(const MessageHeader& message, Time latency,
                          std::vector<Event>& events) const {
  const auto add = [&](Event::Kind kind, Time time, const PageSpan& span, bool large) {
    for (std::uint64_t i = 0; i < span.count; ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, message.payload_data() + i * sizeof bits, sizeof bits);
      events.push_back({kind, time, {span.tenant, span.page + i}, {bits & ~set_by_use, large}});
    }
  };
  switch (MessageKind{message.kind}) {
    case MessageKind::unmapped:
      return add(Event::Kind::unmapped, message.arrival, message.body<PageSpan>(), false);
    case MessageKind::pages_handled: {
      PageSpan page = message.body<PagesHandled>().span;
      for (; page.count > 0; --page.count, ++page.page) {
        std::uint64_t bits;
        std::memcpy(&bits, message.payload_data() + (pages_per_block - page.count) * sizeof bits,
                    sizeof bits);
        if (PageTableEntry{bits}.is(PageTableEntry::present))
          events.push_back({Event::Kind::mapped,
                            message.arrival - latency,
                            {page.tenant, page.page},
                            {bits & ~set_by_use, false}});
      }
      return;
    }
    case MessageKind::pages_mapped: {
      const auto& mapped = message.body<PagesMapped>();
      if (mapped.entries_at == 0) return;  // of no buffer
      return add(Event::Kind::mapped, message.arrival - latency, mapped.span, mapped.is_large());
    }
    case MessageKind::set_root: {
      const auto& root = message.body<PageTableRoot>();
      events.push_back(
          {Event::Kind::root, message.arrival - latency, {root.tenant, 0}, {root.table, false}});
      return;
    }
    default:
      return;
  }
}

void PageTableWatch::look(Time now) {
  // At the end of the run the last news to the GMMU may not arrive any more.
  if (host_->finished()) return;
  const Driver& driver = host_->only_part().driver();
  const std::size_t events = at_host_.size() + at_gmmu_.size();
  if (snapshots_.size() == most_snapshots || !driver.idle() || events == events_seen_) return;
  events_seen_ = events;
  Snapshot& snapshot = snapshots_.emplace_back();
  snapshot.time = now;
  snapshot.free_bytes = driver.free_bytes();
  snapshot.foreign = driver.page_manager().foreign_pages();
  const Residency& residency = host_->only_part().managed().pages().residency();
  snapshot.frames_settled = driver.zeroed_frames().bytes() == 0;
  for (ManagedPage page; page < residency.end(); ++page)
    if (residency.place(page) == PagePlace::leaving) snapshot.frames_settled = false;
  CopiedMemory memory(machine_, partitions_, now);
  for (std::uint16_t tenant = 0; tenant < tenants_; ++tenant) {
    snapshot.roots.push_back(driver.tables().root(TenantId{tenant}).value());
    walk(memory, tenant, snapshot);
  }
  if (!snapshot.pages.empty()) ++looks_;
}

/// Level by level: tables with the first page that they cover.
void PageTableWatch::walk(CopiedMemory& memory, std::uint16_t tenant, Snapshot& snapshot) const {
  struct Table {
    std::uint64_t physical, first_page;
    bool large;
  };
  std::vector<Table> tables;
  if (snapshot.roots[tenant] != 0) tables.push_back({snapshot.roots[tenant], 0, false});
  for (unsigned level = 1; level <= walk_levels; ++level) {
    std::vector<Table> below;
    for (const Table& table : tables) {
      snapshot.tables.push_back(table.physical);
      const auto entries = memory.table(table.physical, tenant);
      for (unsigned i = 0; i < entries_per_table; ++i) {
        const PageTableEntry entry{entries[i]};
        if (!entry.is(PageTableEntry::present)) continue;
        const std::uint64_t first =
            table.first_page + (std::uint64_t{i} << (9 * (walk_levels - level)));
        if (level < walk_levels) {
          below.push_back({entry.address(), first, entry.is(PageTableEntry::large)});
        } else {
          snapshot.pages[{tenant, first}] = {entry.bits & ~set_by_use, table.large};
        }
      }
    }
    tables = std::move(below);
  }
}

std::vector<PageTableWatch::Event> PageTableWatch::sorted_events() const {
  std::vector<Event> events = at_host_;
  events.insert(events.end(), at_gmmu_.begin(), at_gmmu_.end());
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.time, a.kind) < std::pair(b.time, b.kind);
  });
  return events;
}

std::string PageTableWatch::contradiction() const {
  const std::vector<Event> events = sorted_events();
  Model model;
  model.roots.resize(tenants_);
  auto event = events.begin();
  const auto apply_until = [&](Time time) {
    for (; event != events.end() && event->time < time; ++event)
      if (std::string wrong = model.apply(*event); !wrong.empty()) return wrong;
    return std::string();
  };
  for (const Snapshot& snapshot : snapshots_) {
    if (std::string wrong = apply_until(snapshot.time); !wrong.empty()) return wrong;
    if (std::string wrong = compare(snapshot, model); !wrong.empty()) {
      return "at " + std::to_string(snapshot.time.femtoseconds() / 1'000'000) + " ns " + wrong;
    }
  }
  if (std::string wrong = apply_until(Time::never()); !wrong.empty()) return wrong;
  if (!model.pages.empty()) return name(model.pages.begin()->first) + " was never unmapped";
  const std::uint64_t lost = host_->only_part().driver().taken_bytes();
  return lost == 0 ? "" : std::to_string(lost) + " bytes of GPU memory were not freed";
}

std::string PageTableWatch::compare(const Snapshot& snapshot, const Model& model) const {
  if (snapshot.roots != model.roots) return "a root table is another than the GMMU was told";
  for (const auto& [page, place] : model.pages) {
    const auto found = snapshot.pages.find(page);
    if (found == snapshot.pages.end()) return name(page) + " is missing in memory";
    if (found->second != place) return name(page) + " has another entry in memory";
  }
  for (const auto& [page, place] : snapshot.pages)
    if (!model.pages.contains(page) && !model.untouched.contains(page))
      return name(page) + " is mapped in memory only";
  std::set<std::uint64_t> frames = {0};  // of no one: a table pointer of 0 means none
  for (const std::uint64_t table : snapshot.tables)
    if (!frames.insert(table).second) return "a table's frame is used twice";
  for (const auto& [page, place] : snapshot.pages) {
    const PageTableEntry entry{place.bits};
    if (entry.is(PageTableEntry::remote)) continue;
    if (!frames.insert(entry.address()).second)
      return "the frame of " + name(page) + " is used twice";
  }
  const std::uint64_t capacity = host_->only_part().driver().page_manager().frames().capacity();
  if (*frames.rbegin() >= capacity) return "a frame lies behind the end of GPU memory";
  for (const Frame page : snapshot.foreign)
    if (!frames.insert(address_of(page).value()).second)
      return "the frame of a foreign page is used twice";
  const std::uint64_t known = frames.size() * page_bytes + snapshot.free_bytes;
  if (snapshot.frames_settled ? known != capacity : known > capacity)
    return std::to_string(capacity - known) + " bytes of GPU memory are neither used nor free";
  return "";
}

}  // namespace lockstep::testing
