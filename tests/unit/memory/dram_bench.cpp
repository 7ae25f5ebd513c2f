#include "tests/unit/memory/dram_bench.hpp"

#include <sstream>

#include "tests/unit/memory/partition_policies.hpp"

namespace lockstep::test {

MemoryParameters memory_of(const DramParameters& dram) {
  MemoryParameters memory = defaults<MemoryParameters>();
  memory.dram = dram;
  return memory;
}

DramParameters tiny_hbm2() {
  using namespace literals;
  DramParameters p = defaults<DramParameters>();
  p.clock = 1000_MHz;
  p.rcd_read = p.rcd_write = p.rp = p.cl = 14_cycles;
  p.ras = 34_cycles;
  p.rc = 48_cycles;
  p.rrd_s = 4_cycles;
  p.rrd_l = 6_cycles;
  p.ccd_s = 1_cycles;
  p.ccd_l = 2_cycles;
  p.faw = 30_cycles;
  p.cwl = 4_cycles;
  p.wtr_s = 6_cycles;
  p.wtr_l = 8_cycles;
  p.rtp = 4_cycles;
  p.wr = 16_cycles;
  p.refi = 0_cycles;
  p.rfc = 260_cycles;
  p.write_queue = 0;
  return p;
}

DramBench::DramBench(const DramParameters& parameters, const std::string& scheduler,
                     std::size_t tenants)
    : DramBench(parameters, dram_scheduler_named(scheduler, memory_of(parameters), tenants),
                tenants) {
  const PolicyChoice choice = dram_scheduler_choice(scheduler);
  if (const MakeEpochController make = dram_schedulers().factory(choice).controller)
    controller_ = make({choice, tenants, period_});
}

DramBench::DramBench(const DramParameters& parameters, std::unique_ptr<DramScheduler> scheduler,
                     std::size_t tenants)
    : parameters_(parameters),
      period_(Clock(parameters.clock).period()),
      channel_(parameters, std::move(scheduler), 0, tenants, statistics_) {
  set_tenants(statistics_, tenants);
  channel_.record(&commands_);
  // Offsets of the first two megabytes by where they stand.
  for (std::uint64_t offset = 0; offset < (2 << 20); offset += 128) {
    const DramAddress a = channel_.locate(PartitionOffset{offset});
    lines_[{a.bank, a.row}].push_back(offset);
  }
}

DramBench::~DramBench() = default;

std::uint32_t DramBench::send(std::int64_t at, const Request& request) {
  run_before(at);
  MemoryRequest r;
  r.tenant = request.tenant;
  r.source = request.source;
  r.sectors = request.sectors;
  r.marks = request.marks;
  r.walk_level = request.walk_level;
  channel_.enqueue(period_ * at,
                   PartitionOffset{lines_.at({request.bank, request.row}).at(request.line)},
                   request.sectors, request.write, r, sent_);
  return sent_++;
}

void DramBench::decide(std::int64_t at) {
  if (!controller_) return;
  run_before(at);
  ++quantum_;
  DramScheduler& scheduler = channel_.scheduler();
  if (!scheduler.has_report()) return;
  std::vector<std::uint64_t> words;
  scheduler.report(words);
  controller_->add(words);
  words.clear();
  controller_->decide(quantum_, words);
  scheduler.on_epoch(EpochTopic::dram_scheduler, words, period_ * at);
  channel_.look_again(period_ * at);
}

void DramBench::run_before(std::int64_t cycle) {
  while (channel_.next_activity() < period_ * cycle) step();
}

void DramBench::run() {
  while (channel_.next_activity() != Time::never()) step();
}

const std::vector<DramCommand>& DramBench::commands() {
  run();
  return commands_;
}

std::string DramBench::names() {
  static constexpr const char* text[] = {"ACT", "PRE", "RD", "WR"};
  std::string all;
  for (const DramCommand& c : commands())
    all += (all.empty() ? "" : " ") + std::string(text[static_cast<unsigned>(c.kind)]);
  return all;
}

std::int64_t DramBench::gap(std::size_t from, std::size_t to) {
  return commands().at(to).cycle - commands().at(from).cycle;
}

const std::vector<std::pair<std::uint32_t, std::int64_t>>& DramBench::returned() {
  run();
  return returned_;
}

std::vector<std::uint32_t> DramBench::order() {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, cycle] : returned()) numbers.push_back(number);
  return numbers;
}

std::string DramBench::save() {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  channel_.serialize(archive);
  archive(quantum_);
  if (controller_) controller_->serialize(archive);
  return std::move(out).str();
}

void DramBench::restore(const std::string& state) {
  std::istringstream in(state);
  Archive archive = Archive::restoring(in);
  channel_.serialize(archive);
  archive(quantum_);
  if (controller_) controller_->serialize(archive);
}

void DramBench::step() {
  const DramChannel::Step s = channel_.step(channel_.next_activity());
  served_ += s.left;
  if (s.returned)
    returned_.push_back({s.owner, s.data_end.femtoseconds() / period_.femtoseconds()});
}

}  // namespace lockstep::test
