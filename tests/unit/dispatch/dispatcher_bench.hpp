#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "models/dispatch/dispatcher.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep {

struct BenchOptions {
  std::uint32_t sms = 4;
  std::string sharing = "exclusive";
  std::vector<std::uint32_t> sms_per_tenant{0, 0};
  std::vector<std::uint64_t> instructions{0, 0};
};

/// A dispatcher at 1 GHz between a host and some SMs that only listen: launches take 100 ns, a
/// block leaves every 2 ns.  Each SM has room for two blocks of 32 threads of kernel 0, one of
/// kernel 1 ("wide"); kernel 2 ("huge") fits nowhere.
class DispatcherBench {
 public:
  explicit DispatcherBench(const BenchOptions& options = {})
      : options_(options), sink_(options.sms + 1) {
    for (const auto& [name, registers] : {std::pair{"small", 32u}, {"wide", 64u}, {"huge", 160u}}) {
      isa::Program program;
      program.name = name;
      program.registers_per_thread = registers;
      module_.kernels.push_back({program, program});
    }
    dispatcher_ = make();
  }

  std::unique_ptr<Dispatcher> make() const {
    Dispatcher::Setup setup;
    setup.parameters = {Frequency{1e9}, Cycles{100}, Cycles{2}, Cycles{45}};
    setup.limits.registers = 2048;
    for (const PolicyInfo& info : sharing_policies()) {
      if (info.name == options_.sharing) setup.sharing = PolicyChoice(info);
    }
    setup.machine = {options_.sms, options_.sms_per_tenant};
    setup.instructions = options_.instructions;
    setup.modules = {&module_};
    setup.to_host = Link(LinkId{0}, ComponentId{0}, Time{45'000'000});
    for (std::uint32_t sm = 0; sm < options_.sms; ++sm) {
      setup.to_sms.emplace_back(LinkId{sm + 1}, ComponentId{sm + 1}, Time{45'000'000});
    }
    return std::make_unique<Dispatcher>(std::move(setup));
  }

  struct Launch {
    std::uint32_t grid = 0, blocks = 1;
    std::uint16_t tenant = 0, kernel = 0;
    std::uint16_t stream = 0;
  };
  void launch(double at_ns, const Launch& launch) {
    GridLaunch body;
    body.grid = launch.grid;
    body.tenant = launch.tenant;
    body.kernel = launch.kernel;
    body.stream = launch.stream;
    body.blocks = {launch.blocks, 1, 1};
    body.threads = {32, 1, 1};
    const std::uint64_t payload = 0x1234'0000 + launch.grid;
    receive(at_ns, MessageKind::launch_grid, body, std::as_bytes(std::span(&payload, 1)));
  }
  void block_done(double at_ns, std::uint32_t grid, std::uint32_t sm, std::uint64_t block,
                  const InstructionCount& executed = {}) {
    receive(at_ns, MessageKind::block_done, BlockDone{{grid, sm, block}, executed});
  }

  void abort_tenant(double at_ns, std::uint16_t tenant) {
    receive(at_ns, MessageKind::abort_tenant, TenantNotice{tenant, {}});
  }

  /// Simulates everything before `ns`, with what was received since.
  void run_until(double ns) {
    std::vector<const MessageHeader*> inbox;
    for (const auto& message : received_) inbox.push_back(message.get());
    dispatcher_->advance(time(ns), inbox, sink_.outbox());
    received_.clear();
  }

  /// What was sent since the last call, as "106 sm2 block 1.0" (departure in ns, grid.block), by
  /// time, then destination.
  std::vector<std::string> sent() {
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
  /// Only the blocks sent, without times: "sm0:1.0 sm1:1.1".
  std::string blocks() {
    std::string text;
    for (const std::string& line : sent()) {
      const std::size_t place = line.find(" block ");
      if (place == std::string::npos) continue;
      const std::size_t sm = line.find(" sm") + 1;
      text +=
          (text.empty() ? "" : " ") + line.substr(sm, place - sm) + ":" + line.substr(place + 7);
    }
    return text;
  }

  Dispatcher& dispatcher() { return *dispatcher_; }
  /// Goes on with a fresh dispatcher that was given the state of the present one.
  void save_and_restore() {
    std::stringstream bytes;
    Archive saving = Archive::saving(bytes);
    dispatcher_->serialize(saving);
    dispatcher_ = make();
    Archive restoring = Archive::restoring(bytes);
    dispatcher_->serialize(restoring);
  }

 private:
  static Time time(double ns) { return Time{static_cast<std::int64_t>(ns * 1e6)}; }

  template <class Body>
  void receive(double at_ns, MessageKind kind, const Body& body,
               std::span<const std::byte> payload = {}) {
    received_.emplace_back(time(at_ns), kind_of(kind), body, payload);
  }

  /// "": nothing was executed.
  static std::string text_of(const InstructionCount& executed) {
    if (executed.warp == 0) return "";
    return " " + std::to_string(executed.warp) + "/" + std::to_string(executed.thread);
  }

  static std::string describe(const MessageHeader& message) {
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::start_grid: {
        const auto& launch = message.body<GridLaunch>();
        std::uint64_t payload = 0;
        if (message.payload_bytes == 8) std::memcpy(&payload, message.payload_data(), 8);
        return "start " + std::to_string(launch.grid) +
               (payload == 0x1234'0000 + launch.grid ? "" : " with the wrong payload");
      }
      case MessageKind::start_block: {
        const auto& block = message.body<BlockReference>();
        return "block " + std::to_string(block.grid) + "." + std::to_string(block.block);
      }
      case MessageKind::end_grid:
        return "end " + std::to_string(message.body<GridReference>().grid);
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

  BenchOptions options_;
  isa::Module module_;
  MessageSink sink_;
  std::deque<IncomingMessage> received_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace lockstep
