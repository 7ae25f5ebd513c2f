#include "tests/properties/machine_bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "core/error/error.hpp"
#include "core/exec/loopback_ranks.hpp"
#include "core/output/epoch_statistics.hpp"
#include "models/gpu/left_images.hpp"
#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"
#include "partitioner/partitioner.hpp"
#include "tests/harness/kept_difference.hpp"
#include "tests/properties/every_cycle.hpp"
#include "tests/properties/page_table_watch.hpp"
#include "tests/properties/room_for_contexts.hpp"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds longest_case{300};

fs::path new_folder() {
  std::string pattern = (fs::temp_directory_path() / "lockstep_bench_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return pattern;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

std::string tenant_text(const std::string& name, const std::string& workload,
                        const std::string& parameters, const std::string& options = "") {
  return "  - {name: " + name + ", workload: " + workload + ", parameters: " + parameters +
         (options.empty() ? "" : ", " + options) + "}\n";
}

std::string scenario_text(const std::string& tenants) {
  const std::string root = LOCKSTEP_SOURCE_DIR;
  return "gpu: " + root + "/configs/gpus/tiny.yaml\nhost: " + root +
         "/configs/hosts/pcie3.yaml\nsimulation: {epoch: 10us, stop_at: 20ms}\npolicies: {}\n"
         "override: {host.link_curve: affine, host.link_bandwidth: 11.33GB/s, host.link_latency: "
         "100ns, "
         "host.transfer_setup: 0ns, host.launch_overhead: "
         "0ns, "
         "gpu.dispatch.launch_latency: 20}\n"
         "tenants:\n" +
         tenants;
}

std::string text_of(const FaultRecord& fault) {
  std::string text = "tenant " + std::to_string(fault.tenant.value()) + " page " +
                     std::to_string(fault.page.value()) + " with " + std::to_string(fault.pages) +
                     (fault.migrated ? " migrated" : "") + (fault.local ? " local" : "") +
                     " behind " + std::to_string(fault.position);
  for (const Time time : {fault.found, fault.arrived, fault.served, fault.mapped})
    text += " " + std::to_string(time.femtoseconds());
  return text;
}

std::uint64_t environment_number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

Layout Layout::random(std::uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x5eed);
  static constexpr Layout shapes[] = {{1, 1}, {1, 1}, {1, 2}, {2, 1}, {3, 1}, {2, 2}};
  Layout layout = shapes[random() % std::size(shapes)];
  layout.random_assignment = random() % 2 == 0;
  layout.pacing = random() % 2 == 0 ? Pacing::random_cuts : Pacing::horizons;
  layout.shuffle = random() % 2 == 0;
  layout.seed = seed;
  return layout;
}

Layout Layout::interrupted(std::uint64_t seed) {
  Layout layout;
  layout.ranks = 2;
  layout.random_assignment = true;
  layout.seed = seed;
  return layout;
}

std::string Layout::text() const {
  return std::to_string(ranks) + " ranks x " + std::to_string(threads) + " threads" +
         (random_assignment ? ", random assignment" : "") +
         (pacing == Pacing::random_cuts ? ", random cuts" : "") + (shuffle ? ", shuffled" : "");
}

MachineBench::MachineBench(const std::string& ptx, const std::string& workload,
                           const std::vector<std::string>& settings)
    : folder_(new_folder()) {
  write(folder_ / "kernels.ptx", ptx);
  write(folder_ / "workload.yaml", workload);
  prepare(scenario_text(tenant_text("one", "workload.yaml", "{}")), settings);
}

MachineBench::MachineBench(const std::vector<Application>& tenants,
                           const std::vector<std::string>& settings)
    : folder_(new_folder()) {
  std::string text;
  for (std::size_t t = 0; t < tenants.size(); ++t) {
    const std::string name = "t" + std::to_string(t);
    fs::create_directory(folder_ / name);
    write(folder_ / name / "kernels.ptx", tenants[t].ptx);
    write(folder_ / name / "workload.yaml", tenants[t].workload);
    text += tenant_text(name, name + "/workload.yaml", "{}", tenants[t].options);
  }
  prepare(scenario_text(text), settings);
}

MachineBench::MachineBench(const fs::path& folder, const std::string& scenario,
                           const std::vector<std::string>& settings)
    : folder_(folder) {
  prepare(scenario, settings);
}

std::unique_ptr<MachineBench> MachineBench::shipped(const std::string& name,
                                                    const std::string& parameters,
                                                    const std::vector<std::string>& settings) {
  const std::string file = LOCKSTEP_SOURCE_DIR "/configs/workloads/" + name + ".yaml";
  return std::unique_ptr<MachineBench>(new MachineBench(
      new_folder(), scenario_text(tenant_text("one", file, parameters)), settings));
}

void MachineBench::prepare(const std::string& scenario, const std::vector<std::string>& settings) {
  write(folder_ / "scenario.yaml", scenario);
  std::vector<std::string> all = settings;
  if (const char* more = std::getenv("LOCKSTEP_SET")) {
    std::istringstream words(more);
    for (std::string word; words >> word;) all.push_back(word);
  }
  scenario_ = read_scenario((folder_ / "scenario.yaml").string(), all);
  machine_ = with_room_for_contexts(scenario_);
  layout_ = machine_->statistics_layout();
  for (std::size_t t = 0; t < scenario_.tenants.size(); ++t) {
    const Tenant& tenant = scenario_.tenants[t];
    expected_.push_back(
        run_functionally(tenant.name, tenant.workload, machine_->module_of_tenant(t)));
  }
}

MachineBench::~MachineBench() {
  if (std::getenv("LOCKSTEP_KEEP") != nullptr) {
    std::printf("kept: lockstep run %s\n", (folder_ / "scenario.yaml").c_str());
    return;
  }
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

/// Leaves the run at a moment, seen where the host lives.
class MachineBench::Interruption final : public RunControl {
 public:
  Interruption(const Host* host, Moment moment) : host_(host), moment_(std::move(moment)) {}
  unsigned requests() override { return host_ && moment_ && moment_(*host_) ? 1 : 0; }
  bool agreed(unsigned) override { return false; }

 private:
  const Host* host_;
  const Moment moment_;
};

/// Every epoch's statistics in the order of the layout.
class MachineBench::StatisticsLog final : public EpochObserver {
 public:
  StatisticsLog(const Graph& graph, const StatisticsLayout& layout,
                std::vector<std::uint64_t>& words, PageTableWatch* watch, Host* watched)
      : sampler_(graph, layout, nullptr),
        words_(words),
        watch_(watch),
        watched_(watched),
        tenants_(layout.tenants()) {}

  void prepare(std::span<const LocalComponent> components) override {
    sampler_.prepare(components);
  }
  void look(Time end, std::size_t number, const LocalComponent& component) override {
    sampler_.look(end, number, component);
  }
  std::vector<std::byte> sample(Time end, std::span<const LocalComponent> components) override {
    if (watched_) look_at_progress(end, components);
    return sampler_.sample(end, components);
  }

  void collect(Time end, std::span<const std::vector<std::byte>> contributions) override {
    words_.push_back(static_cast<std::uint64_t>(end.femtoseconds()));
    const std::span<const std::uint64_t> words = sampler_.merge(contributions);
    words_.insert(words_.end(), words.begin(), words.end());
    if (watch_) watch_->look(end);  // nobody goes on before rank 0 does
  }

 private:
  void look_at_progress(Time end, std::span<const LocalComponent> components) {
    ProgressBits seen(tenants_);
    for (const LocalComponent& local : components)
      if (auto* const source = dynamic_cast<ProgressSource*>(local.component))
        source->take_progress(end, seen);
    watched_->look_at_progress(end, seen);
    if (!watched_->progress_watch().found().empty()) throw std::runtime_error("waits for ever");
  }

  EpochStatistics sampler_;
  std::vector<std::uint64_t>& words_;
  PageTableWatch* watch_;
  Host* watched_;
  const std::size_t tenants_;
};

/// Whether lowering or the machine changed the result.
std::string MachineBench::suspect(std::size_t t) const {
  const Tenant& tenant = scenario_.tenants[t];
  ExecutionProfile profile;
  profile.lowered = true;
  const FunctionalResult lowered = run_functionally(
      tenant.name, tenant.workload, machine_->module_of_tenant(t), {.profile = &profile});
  return find_mismatch(tenant.name, tenant.workload, expected_[t].images(), lowered.images())
             ? "the lowered program differs in the interpreter, too"
             : "the lowered program is right in the interpreter";
}

std::string MachineBench::compare_tenant(std::size_t t, TenantRun& run) const {
  const Tenant& tenant = scenario_.tenants[t];
  if (!run.done()) return "not done at stop_at; the host: " + run.waiting_for();
  const TenantImages images = left_images(tenant.workload, run);
  const auto mismatch = find_mismatch(tenant.name, tenant.workload, expected_[t].images(), images);
  return mismatch ? mismatch->text() + " (" + suspect(t) + ")" : "";
}

std::string MachineBench::compare(Host& host) const {
  for (std::size_t t = 0; t < scenario_.tenants.size(); ++t) {
    std::string difference = compare_tenant(t, host.tenant(t));
    if (!difference.empty()) return difference;
  }
  for (std::size_t part = 0; part < host.part_count(); ++part)
    if (host.part(part).foreign().damaged()) return "a foreign page is damaged";
  return "";
}

MachineResult MachineBench::simulate(const Layout& layout, const KeptParts* saved,
                                     const Moment& moment) {
  const Graph& graph = machine_->graph();
  const Assignment assignment =
      layout.random_assignment
          ? random_assignment(graph, layout.ranks, layout.threads, layout.seed, machine_->host())
          : partition(graph, layout.ranks, layout.threads, machine_->host());
  EngineOptions options;
  options.threads = layout.threads;
  options.epoch = machine_->parameters().simulation.epoch;
  options.stop_at = machine_->parameters().simulation.stop_at;
  options.pacing = layout.pacing;
  options.shuffle = layout.shuffle;
  options.test_seed = layout.seed;

  MachineResult result;
  std::mutex building;  // the machine makes tables with its first SM
  Host* host = nullptr;
  // Of an interrupted run it would hear only a part.
  const bool whole = !saved && !moment && !machine_->parameters().has_several_gpus();
  PageTableWatch watch(*machine_);
  LoopbackRanks(layout.ranks).run([&](Communicator& communicator) {
    try {
      Engine engine(
          graph, assignment,
          [&](ComponentId component) {
            const std::lock_guard lock(building);
            std::unique_ptr<Component> built = machine_->build(component);
            if (component == machine_->host()) host = static_cast<Host*>(built.get());
            if (whole && !layout.watched) built = watch.watched(component, std::move(built));
            if (!layout.every_cycle) return built;
            const Clock clock(machine_->parameters().gpu.sm.clock);
            return std::unique_ptr<Component>(new EveryCycle(std::move(built), clock));
          },
          communicator, options);
      KeptParts resumed = saved ? *saved : KeptParts();
      if (saved) engine.restore(resumed);
      std::vector<std::uint64_t> statistics;
      StatisticsLog observer(graph, *layout_, statistics,
                             whole && !layout.watched ? &watch : nullptr,
                             layout.watched ? host : nullptr);
      Interruption control(communicator.rank() == 0 ? host : nullptr, moment);
      const RunSummary summary = engine.run(observer, control);
      if (summary.finished)
        engine.settle([&] { return communicator.rank() != 0 || !host->inspects(); });
      KeptParts kept;
      if (!engine.save(communicator.rank() == 0 ? &kept : nullptr) || communicator.rank() != 0)
        return;
      result.finished = summary.finished;
      result.state = std::move(kept);
      result.statistics = std::move(statistics);
      if (summary.finished) result.problem = compare(*host);
      if (summary.finished && whole && !layout.watched && result.problem.empty())
        result.problem = watch.contradiction();
      result.page_tables_read = watch.looks();
      for (std::size_t part = 0; part < host->part_count(); ++part)
        for (const FaultRecord& fault : host->part(part).faults())
          result.faults.push_back(text_of(fault));
    } catch (const StoppedElsewhere&) {
    } catch (const std::exception& error) {
      const std::lock_guard lock(building);
      result.problem = error.what();
    }
  });
  return result;
}

std::string MachineBench::name_of_word(std::size_t word) const {
  for (std::size_t k = 0; k < layout_->kinds().size(); ++k) {
    const KindStatistics& kind = layout_->kinds()[k];
    for (std::size_t instance = 0; instance < kind.instances; ++instance) {
      for (const StatisticsField& field : kind.schema->fields()) {
        const std::size_t size = field.size(layout_->tenants_of(k));
        if (word < size) return kind.name + "[" + std::to_string(instance) + "] " + field.name;
        word -= size;
      }
    }
  }
  return "unknown";
}

std::string MachineBench::compare_statistics(const MachineResult& expected,
                                             const MachineResult& got) const {
  if (expected.statistics == got.statistics) return "";
  const std::size_t row = 1 + layout_->size();
  for (std::size_t i = 0; i < std::min(expected.statistics.size(), got.statistics.size()); ++i) {
    if (expected.statistics[i] == got.statistics[i]) continue;
    const std::string what = i % row == 0 ? "the end of an epoch" : name_of_word(i % row - 1);
    return what + " in epoch " + std::to_string(i / row) + ": " +
           std::to_string(got.statistics[i]) + " instead of " +
           std::to_string(expected.statistics[i]);
  }
  return "the number of epochs differs";
}

std::string MachineBench::compare_common_epochs(const MachineResult& expected,
                                                const MachineResult& got) const {
  const std::size_t row = 1 + layout_->size();
  MachineResult common;
  for (std::size_t i = 0, e = 0; i < got.statistics.size(); i += row) {
    if (e == expected.statistics.size() || got.statistics[i] != expected.statistics[e]) continue;
    const auto from = got.statistics.begin() + static_cast<std::ptrdiff_t>(i);
    common.statistics.insert(common.statistics.end(), from,
                             from + static_cast<std::ptrdiff_t>(row));
    e += row;
  }
  return compare_statistics(expected, common);
}

MachineResult MachineBench::run(const Layout& layout) {
  return simulate(layout, nullptr, {});
}

MachineBench::Moment MachineBench::after_windows(unsigned windows) {
  return [left = windows](const Host&) mutable { return --left == 0; };
}

MachineResult MachineBench::run_interrupted(const Layout& first, const Moment& moment,
                                            const Layout& second) {
  MachineResult half = simulate(first, nullptr, moment);
  if (!half.problem.empty() || half.finished) return half;
  const MachineResult again = simulate(second, &half.state, [](const Host&) { return true; });
  MachineResult whole = simulate(second, &half.state, {});
  whole.statistics.insert(whole.statistics.begin(), half.statistics.begin(), half.statistics.end());
  whole.interrupted = true;
  if (const std::string lost = kept_difference(half.state, again.state);
      whole.problem.empty() && !lost.empty())
    whole.problem = "what was restored saves as other bytes: " + lost;
  return whole;
}

std::uint64_t cases_to_run(std::uint64_t usual) {
  const std::uint64_t share = std::max<std::uint64_t>(environment_number("LOCKSTEP_SHARE", 1), 1);
  return environment_number("LOCKSTEP_CASES", std::max<std::uint64_t>(usual / share, 1));
}
std::uint64_t first_seed(std::uint64_t usual) {
  return environment_number("LOCKSTEP_SEED", usual);
}

std::string describe(std::uint64_t seed, const Layout& layout,
                     const std::vector<std::string>& settings) {
  std::string text =
      "LOCKSTEP_SEED=" + std::to_string(seed) + " LOCKSTEP_CASES=1; " + layout.text() + ";";
  for (const std::string& setting : settings) text += " --set " + setting;
  return text;
}

struct HangGuard::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread watcher;
};

HangGuard::HangGuard(std::string what) : state_(std::make_shared<State>()) {
  state_->watcher = std::thread([state = state_.get(), what = std::move(what)] {
    std::unique_lock lock(state->mutex);
    if (state->changed.wait_for(lock, longest_case, [&] { return state->over; })) return;
    std::fprintf(stderr, "hangs: %s\n", what.c_str());
    std::fflush(stderr);
    std::abort();
  });
}

HangGuard::~HangGuard() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
  }
  state_->changed.notify_one();
  state_->watcher.join();
}

}  // namespace lockstep::testing
