#include "models/isa/interpreter/interpreter.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "core/error/error.hpp"
#include "models/isa/interpreter/cluster_runner.hpp"
#include "models/isa/interpreter/turn_watch.hpp"
#include "models/isa/load.hpp"
#include "models/isa/semantics/whole_access.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {
namespace {

/// Warp instructions that a block runs before it gives way: in general, and where blocks may wait
/// for each other and it has changed no word of memory.
constexpr std::uint64_t block_slice = 200'000, quiet_slice = 4'000;
/// Blocks under way that are given several turns before more are started.
constexpr std::size_t many_blocks = 64;
constexpr unsigned turns = 8;

std::uint64_t volume(const std::array<std::uint32_t, 3>& size) {
  return std::uint64_t{size[0]} * size[1] * size[2];
}

std::uint64_t clusters_of(const Launch& launch) {
  return volume(launch.grid) / volume(launch.cluster);
}

void check_cluster(const Launch& launch, const Program& program) {
  const std::uint64_t blocks = volume(launch.cluster);
  bool fills = blocks != 0 && blocks <= ClusterAddress::most_blocks;
  for (std::size_t axis = 0; axis < launch.grid.size() && fills; ++axis)
    fills = launch.grid[axis] % launch.cluster[axis] == 0;
  if (!fills)
    throw UserError(launch.module.file,
                    "kernel " + kernel_title(program.name) + ": clusters of " +
                        std::to_string(blocks) + " blocks do not fill the grid",
                    "change `cluster` of the launch");
}

void check(const Launch& launch, const Program& program) {
  const std::string where = launch.module.file;
  const std::uint64_t threads = volume(launch.block);
  if (threads == 0 || threads > 1024)
    throw UserError(where,
                    "kernel " + kernel_title(program.name) + ": a block of " +
                        std::to_string(threads) + " threads, not 1 to 1024",
                    "change `block` of the launch");
  if (volume(launch.grid) == 0)
    throw UserError(where, "kernel " + kernel_title(program.name) + ": empty grid",
                    "change `grid` of the launch");
  if (program.required_block[0] != 0 && program.required_block != launch.block)
    throw UserError(
        where, "kernel " + kernel_title(program.name) + " needs the block size of its .reqntid",
        "change `block` of the launch");
  if (program.maximum_threads != 0 && threads > program.maximum_threads)
    throw UserError(where,
                    "kernel " + kernel_title(program.name) + ": a block of " +
                        std::to_string(threads) + " threads, .maxntid allows " +
                        std::to_string(program.maximum_threads),
                    "make the block smaller");
  check_cluster(launch, program);
  if (launch.parameters.size() < program.parameter_bytes)
    throw UserError(where,
                    "kernel " + kernel_title(program.name) + ": " +
                        std::to_string(launch.parameters.size()) + " bytes of parameters, " +
                        std::to_string(program.parameter_bytes) + " needed",
                    "give all `arguments` of the launch");
}

const Program& program_of(const Launch& launch) {
  const Kernel& kernel = launch.module.kernels.at(static_cast<std::size_t>(launch.kernel));
  return launch.lowered ? kernel.lowered : kernel.reference;
}

}  // namespace

/// Returns whether the program is as written, with its fences of proxies, and has copies that need
/// them.
static bool reads_asynchronously(const Program& program) {
  const bool is_lowered = !program.live_rows.empty();
  return !is_lowered && std::ranges::any_of(program.instructions, [](const Instruction& i) {
    if (i.category != Category::bulk_copy) return false;
    const BulkCopyForm form = BulkCopyForm::unpack(i.target);
    return form.writes() || form.step == ir::BulkCopyStep::send;
  });
}

LaunchState::LaunchState(const Launch& given, FlatMemory& flat)
    : launch(given),
      program(program_of(given)),
      memory(flat),
      constants(fill_constants(program, given.parameters, given.global_addresses)),
      constant_memory(given.module.constant_image),
      text(given.module, given.global_addresses),
      threads(static_cast<std::uint32_t>(volume(given.block))),
      floats(given.floats),
      reads_asynchronously(isa::reads_asynchronously(program)),
      is_watched(given.races != nullptr || floats != nullptr || reads_asynchronously),
      straight(program, !is_watched) {
  relocate(constant_memory, given.module.constant_relocations, given.module,
           given.global_addresses);
}

namespace {

/// Gives the cluster a turn, in pieces of `piece` warp instructions.  A piece that changes no word
/// of memory ends the turn: a block may poll.  Returns whether the cluster is over; `state.changed`
/// tells of the whole turn.
bool give_turn(ClusterRunner& cluster, LaunchState& state, std::uint64_t piece) {
  bool is_over = false, changed = false;
  std::uint64_t given = 0;
  do {
    state.changed = false;
    is_over = cluster.run(piece);
    changed |= state.changed;
    given += piece;
  } while (!is_over && state.changed && given < block_slice);
  state.changed = changed;
  return is_over;
}

/// Clusters of launches that run at the same time, in the order in which they start: the first of
/// each launch, then the second of each.
class ClustersToStart {
 public:
  /// Takes clusters first, first + stride, ... of each launch: blocks, if it has no clusters.
  ClustersToStart(std::span<LaunchState* const> launches, std::uint64_t first, std::uint64_t stride)
      : launches_(launches), number_(first), stride_(stride) {
    for (const LaunchState* launch : launches) end_ = std::max(end_, clusters_of(launch->launch));
    skip();
  }
  bool any() const { return number_ < end_; }
  /// Returns the next cluster.
  std::pair<LaunchState*, std::unique_ptr<ClusterRunner>> start() {
    LaunchState* const launch = launches_[launch_];
    auto cluster = std::make_unique<ClusterRunner>(*launch, number_);
    advance();
    skip();
    return {launch, std::move(cluster)};
  }

 private:
  void advance() {
    if (++launch_ < launches_.size()) return;
    launch_ = 0;
    number_ += stride_;
  }
  /// Goes past launches that have no cluster of this number.
  void skip() {
    while (any() && number_ >= clusters_of(launches_[launch_]->launch)) advance();
  }

  const std::span<LaunchState* const> launches_;
  std::size_t launch_ = 0;
  std::uint64_t number_ = 0, end_ = 0;
  const std::uint64_t stride_;
};

/// Runs clusters of launches that are under way at the same time.  `piece`: see give_turn.
void run_clusters(ClustersToStart clusters, std::uint64_t piece,
                  const std::function<void()>& between_blocks,
                  std::atomic<std::uint64_t>& changes) {
  TurnWatch watch(changes);
  std::deque<std::pair<LaunchState*, std::unique_ptr<ClusterRunner>>> waiting;
  unsigned turn = 0;
  while (clusters.any() || !waiting.empty()) {
    if (between_blocks) between_blocks();
    const bool start = clusters.any() && (waiting.size() < many_blocks || watch.is_quiet() ||
                                          turn >= turns * waiting.size());
    std::pair<LaunchState*, std::unique_ptr<ClusterRunner>> taken;
    if (start) {
      taken = clusters.start();
      turn = 0;
    } else {
      taken = std::move(waiting.front());
      waiting.pop_front();
      ++turn;
    }
    LaunchState& state = *taken.first;
    ClusterRunner& cluster = *taken.second;
    const std::uint64_t executed = state.counts.warp_instructions;
    const bool is_over = give_turn(cluster, state, watch.is_quiet() ? block_slice : piece);
    const bool gets_on =
        watch.look(is_over || state.changed, state.counts.warp_instructions - executed,
                   waiting.size() + 1, [&] { return start || cluster.gets_on(); });
    if (!gets_on) cluster.report_spin(watch.quiet());
    if (!is_over) waiting.push_back(std::move(taken));
  }
}

/// Returns whether the instruction may show the order of blocks: it communicates with another
/// block, or prints.
bool is_for_others(const Instruction& i) {
  const MemoryFields& fields = i.memory;
  const bool may_be_global = fields.space == Space::global || fields.space == Space::generic;
  const bool is_wide = fields.elements * bytes_of(fields.type) > 8;
  switch (i.category) {
    case Category::atomic:
      return may_be_global;
    case Category::load:
    case Category::store:
      return may_be_global &&
             (fields.ordering != Ordering::weak || fields.cache == CacheOperator::cv ||
              (is_wide && !host_moves_16_bytes_at_once()));
    case Category::bulk_copy:
      return BulkCopyForm::unpack(i.target).step == ir::BulkCopyStep::reduce;
    case Category::fence:
      return fields.scope != Scope::cta && fields.scope != Scope::cluster;
    default:
      return i.category == Category::print;
  }
}

bool blocks_are_independent(const Program& program) {
  return std::none_of(program.instructions.begin(), program.instructions.end(), is_for_others);
}

}  // namespace

InterpreterCounts& InterpreterCounts::operator+=(const InterpreterCounts& other) {
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  issue_slots += other.issue_slots;
  return *this;
}

InterpreterCounts interpret(std::span<const Launch> launches, FlatMemory& memory) {
  std::deque<LaunchState> states;
  std::vector<LaunchState*> under_way;
  bool are_independent = launches.size() == 1;
  for (const Launch& launch : launches) {
    check(launch, program_of(launch));
    LaunchState& state = states.emplace_back(launch, memory);
    under_way.push_back(&state);
    are_independent = are_independent && blocks_are_independent(state.program);
    if (launch.executions != nullptr) launch.executions->resize(state.program.instructions.size());
  }
  std::atomic<std::uint64_t> changes = 0;
  run_clusters({under_way, 0, 1}, are_independent ? block_slice : quiet_slice,
               launches.front().between_blocks, changes);
  InterpreterCounts counts;
  for (const LaunchState& state : states) {
    state.warnings.append_to(state.launch.warnings);
    counts += state.counts;
  }
  return counts;
}

InterpreterCounts interpret(const Launch& launch, FlatMemory& memory) {
  return interpret(std::span(&launch, 1), memory);
}

InterpreterCounts interpret(const Launch& launch, FlatMemory& memory, unsigned threads) {
  const Program& program = program_of(launch);
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(threads, clusters_of(launch)));
  const bool in_order = launch.executions != nullptr || launch.races != nullptr;
  if (workers < 2 || in_order || !blocks_are_independent(program)) return interpret(launch, memory);
  check(launch, program);
  std::vector<InterpreterCounts> counts(workers);
  std::vector<FloatTrace> traces;
  for (unsigned worker = 0; worker < workers && launch.floats != nullptr; ++worker)
    traces.push_back(launch.floats->another());
  std::vector<LineWarnings> warnings(workers);
  std::vector<std::exception_ptr> mistakes(workers);
  std::atomic<std::uint64_t> changes = 0;
  {
    std::vector<std::jthread> running;  // all threads run at once: blocks may wait for each other
    for (unsigned worker = 0; worker < workers; ++worker)
      running.emplace_back([&, worker, own = memory.view()]() mutable {
        try {
          LaunchState state(launch, own);
          if (launch.floats != nullptr) state.floats = &traces[worker];
          LaunchState* const under_way[] = {&state};
          run_clusters({under_way, worker, workers}, block_slice, launch.between_blocks, changes);
          counts[worker] = state.counts;
          warnings[worker] = state.warnings;
        } catch (...) {
          mistakes[worker] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& mistake : mistakes)
    if (mistake) std::rethrow_exception(mistake);
  for (const FloatTrace& trace : traces) launch.floats->take(trace);
  for (unsigned worker = 1; worker < workers; ++worker) warnings[0].add(warnings[worker]);
  warnings[0].append_to(launch.warnings);
  InterpreterCounts sum;
  for (const InterpreterCounts& one : counts) sum += one;
  return sum;
}

}  // namespace lockstep::isa
