#include "tests/unit/dispatch/dispatcher_bench.hpp"

#include <algorithm>
#include <sstream>

#include "tests/harness/policy_named.hpp"

namespace lockstep {
namespace {

/// "": nothing was executed.
std::string text_of(const InstructionCount& executed) {
  if (executed.warp == 0) return "";
  return " " + std::to_string(executed.warp) + "/" + std::to_string(executed.thread);
}

std::string describe(const MessageHeader& message) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::start_grid: {
      const auto& launch = message.body<GridLaunch>();
      std::uint64_t payload = 0;
      if (message.payload_bytes == 8) std::memcpy(&payload, message.payload_data(), 8);
      return "start " + std::to_string(launch.grid) +
             (launch.primary == 0 ? "" : " beside " + std::to_string(launch.primary - 1)) +
             (payload == 0x1234'0000 + launch.grid ? "" : " with the wrong payload");
    }
    case MessageKind::start_block: {
      const auto& block = message.body<BlockReference>();
      return "block " + std::to_string(block.grid) + "." + std::to_string(block.block);
    }
    case MessageKind::end_grid:
      return "end " + std::to_string(message.body<GridReference>().grid);
    case MessageKind::stop_grid: {
      const auto& stop = message.body<GridStop>();
      std::string text =
          std::array{"drain ", "save ", "flush "}[static_cast<std::size_t>(stop.others)] +
          std::to_string(stop.grid);
      for (std::size_t at = 0; at < message.payload().size(); at += sizeof(BlockCommand)) {
        BlockCommand command;
        std::memcpy(&command, message.payload().data() + at, sizeof command);
        text += std::array{" d", " s", " f"}[static_cast<std::size_t>(command.technique)] +
                std::to_string(command.block);
      }
      return text;
    }
    case MessageKind::ask_status:
      return "ask " + std::to_string(message.body<GridReference>().grid);
    case MessageKind::give_block:
      return "give " + std::to_string(message.body<GridReference>().grid);
    case MessageKind::block_given: {
      const auto& given = message.body<BlockGiven>();
      return "returns " + std::to_string(given.block.grid) + "." +
             std::to_string(given.block.block) + " from sm" + std::to_string(given.block.sm) +
             " place " + std::to_string(given.place);
    }
    case MessageKind::context_free:
      return "free " + std::to_string(message.body<ContextPlace>().place);
    case MessageKind::homes_free:
      return "homes free " + std::to_string(message.payload().size() / sizeof(LocalHome));
    case MessageKind::resume_grid:
      return "resume " + std::to_string(message.body<GridReference>().grid);
    case MessageKind::primary_is_over:
      return "no more beside " + std::to_string(message.body<GridReference>().grid);
    case MessageKind::abort_tenant:
      return "abort " + std::to_string(message.body<TenantNotice>().tenant);
    case MessageKind::grid_done: {
      const auto& done = message.body<GridDone>();
      return "done " + std::to_string(done.grid) + text_of(done.executed);
    }
    case MessageKind::instructions_reached: {
      const auto& progress = message.body<TenantProgress>();
      return "tenant " + std::to_string(progress.tenant) + text_of(progress.executed);
    }
    default:
      return "unexpected";
  }
}

}  // namespace

template <class Body>
void DispatcherBench::receive(double at_ns, MessageKind kind, const Body& body,
                              std::span<const std::byte> payload) {
  received_.emplace_back(time(at_ns), kind_of(kind), body, payload);
}

DispatcherBench::DispatcherBench(const BenchOptions& options)
    : options_(options), sink_(options.sms + 1) {
  for (const auto& [name, registers] : {std::pair{"small", 32u}, {"wide", 64u}, {"huge", 160u}}) {
    isa::Program program;
    program.name = name;
    program.registers_per_thread = registers;
    module_.kernels.push_back({program, program});
  }
  module_.globals.emplace_back().name = isa::grid_workspace_name;
  isa::Program meeting = module_.kernels.front().lowered;
  meeting.name = "meeting";
  meeting.constants.emplace_back().source = isa::ConstantRow::Source::global_symbol;
  module_.kernels.push_back({meeting, meeting});
  dispatcher_ = make();
}

DispatcherBench::~DispatcherBench() = default;

std::unique_ptr<Dispatcher> DispatcherBench::make() const {
  Dispatcher::Setup setup;
  setup.parameters = {Frequency{1e9},    Cycles{100},   options_.block_interval, Cycles{45},
                      options_.clusters, options_.gpcs, options_.launch_overlap};
  setup.topology =
      Topology({.sms = options_.sms, .clusters = options_.clusters, .gpcs = options_.gpcs});
  setup.limits.registers = 2048;
  setup.limits.placement = options_.placement;
  setup.sharing = policy_written<sharing_policies>(options_.sharing);
  setup.switches_blocks = options_.switches_blocks;
  setup.preemption = policy_written<preemption_policies>(options_.preemption);
  setup.preemption_machine = {Clock(Frequency{1e9}), 10'000'000'000};
  setup.latency_bounds = options_.latency_bounds;
  setup.machine = {options_.sms, options_.sms_per_tenant};
  setup.instructions = options_.instructions;
  setup.modules = {&module_};
  setup.to_host = Link(LinkId{0}, ComponentId{0}, Time{45'000'000});
  for (std::uint32_t sm = 0; sm < options_.sms; ++sm) {
    setup.to_sms.emplace_back(LinkId{sm + 1}, ComponentId{sm + 1}, Time{45'000'000});
  }
  return std::make_unique<Dispatcher>(std::move(setup));
}

void DispatcherBench::launch(double at_ns, const Launch& launch) {
  GridLaunch body;
  body.grid = launch.grid;
  body.tenant = launch.tenant;
  body.kernel = launch.kernel;
  body.stream = launch.stream;
  body.registers = launch.registers;
  body.priority = launch.priority;
  body.queued = launch.queued ? 1 : 0;
  body.primary = launch.primary;
  body.blocks = {launch.blocks, 1, 1};
  body.threads = {32, 1, 1};
  body.cluster = {launch.cluster, 1, 1};
  const std::uint64_t payload = 0x1234'0000 + launch.grid;
  receive(at_ns, MessageKind::launch_grid, body, std::as_bytes(std::span(&payload, 1)));
}

void DispatcherBench::block_done(double at_ns, std::uint32_t grid, std::uint32_t sm,
                                 std::uint64_t block, const InstructionCount& executed,
                                 const BlockWork& work) {
  receive(at_ns, MessageKind::block_done, BlockDone{{grid, sm, block}, executed, work});
}

void DispatcherBench::block_leaves_stores(double at_ns, std::uint32_t grid, std::uint32_t sm,
                                          std::uint64_t block) {
  receive(at_ns, MessageKind::block_done, BlockDone{{grid, sm, block}, {}, {}, 1});
}

void DispatcherBench::block_that_let_go_done(double at_ns, std::uint32_t grid, std::uint32_t sm,
                                             std::uint64_t block) {
  receive(at_ns, MessageKind::block_done, BlockDone{{grid, sm, block}, {}, {}, 0, 1});
}

void DispatcherBench::stores_done(double at_ns, std::uint32_t grid, std::uint32_t sm) {
  receive(at_ns, MessageKind::stores_done, GridReference{grid, sm});
}

void DispatcherBench::block(double at_ns, MessageKind kind, std::uint32_t grid, std::uint32_t sm,
                            std::uint64_t block) {
  if (kind == MessageKind::block_saved)
    return receive(at_ns, kind, BlockSaved{{grid, sm, block}, 1024, {}, time(at_ns), 0, {}});
  receive(at_ns, kind, BlockReference{grid, sm, block});
}

void DispatcherBench::started(double at_ns, std::uint32_t grid, std::uint32_t sm,
                              std::uint64_t block, const BlockPosition& at) {
  receive(at_ns, MessageKind::start_block, BlockReference{grid, sm, block},
          std::as_bytes(std::span(&at, 1)));
}

void DispatcherBench::block_given(double at_ns, std::uint32_t grid, std::uint32_t sm,
                                  std::optional<std::uint64_t> block,
                                  const InstructionCount& executed) {
  BlockGiven given;
  given.block = {grid, sm, block.value_or(0)};
  given.given = block.has_value();
  given.place = 100 * sm + static_cast<std::uint32_t>(block.value_or(0));
  given.executed = executed;
  receive(at_ns, MessageKind::block_given, given);
}

void DispatcherBench::context_free(double at_ns, std::uint32_t sm, std::uint32_t place) {
  receive(at_ns, MessageKind::context_free, ContextPlace{sm, place});
}

void DispatcherBench::block_flushed(double at_ns, std::uint32_t grid, std::uint32_t sm,
                                    std::uint64_t block, const InstructionCount& executed,
                                    const InstructionCount& lost) {
  receive(at_ns, MessageKind::block_flushed, BlockDone{{grid, sm, block}, executed, {lost, 0}});
}

void DispatcherBench::status(double at_ns, std::uint32_t grid, std::uint32_t sm,
                             const std::vector<BlockStatus>& blocks) {
  receive(at_ns, MessageKind::status, GridReference{grid, sm}, std::as_bytes(std::span(blocks)));
}

void DispatcherBench::grid_stopped(double at_ns, std::uint32_t grid, std::uint32_t sm) {
  receive(at_ns, MessageKind::grid_stopped, GridReference{grid, sm});
}

void DispatcherBench::abort_tenant(double at_ns, std::uint16_t tenant) {
  receive(at_ns, MessageKind::abort_tenant, TenantNotice{tenant, {}});
}

void DispatcherBench::run_until(double ns) {
  std::vector<const MessageHeader*> inbox;
  for (const auto& message : received_) inbox.push_back(message.get());
  dispatcher_->advance(time(ns), inbox, sink_.outbox());
  received_.clear();
}

std::vector<std::string> DispatcherBench::sent() {
  struct Line {
    Time departure;
    std::string text;
  };
  std::vector<Line> lines;
  for (std::size_t component = 0; component <= options_.sms; ++component) {
    const std::string name = component ? "sm" + std::to_string(component - 1) : "host";
    for (const MessageHeader* message : sink_.to(component)) {
      const Time departure = message->arrival - Time{45'000'000};
      std::ostringstream line;
      line << static_cast<double>(departure.femtoseconds()) / 1e6 << " " << name << " "
           << describe(*message);
      if (options_.placement != Placement::summed && !message->payload().empty() &&
          message->kind == kind_of(MessageKind::start_block)) {
        BlockPosition at;
        std::memcpy(&at, message->payload().data(), sizeof at);
        line << " at " << at.registers;
      }
      lines.push_back({departure, line.str()});
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.departure < b.departure; });
  std::vector<std::string> texts;
  for (const Line& line : lines) texts.push_back(line.text);
  sink_.clear();
  return texts;
}

std::string DispatcherBench::blocks() {
  std::string text;
  for (const std::string& line : sent()) {
    const std::size_t place = line.find(" block ");
    if (place == std::string::npos) continue;
    const std::size_t sm = line.find(" sm") + 1;
    text += (text.empty() ? "" : " ") + line.substr(sm, place - sm) + ":" + line.substr(place + 7);
  }
  return text;
}

void DispatcherBench::save_and_restore() {
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  dispatcher_->serialize(saving);
  dispatcher_ = make();
  Archive restoring = Archive::restoring(bytes);
  dispatcher_->serialize(restoring);
}

}  // namespace lockstep
