/// A whole small machine in one process, for tests: a workload and its PTX run on it in any layout,
/// and every buffer is compared with the functional interpreter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/output/recorder.hpp"
#include "models/reference/functional_run.hpp"
#include "models/workload/scenario.hpp"
#include "tests/harness/kept_parts.hpp"

namespace lockstep {
class Host;
class Machine;
class TenantRun;
}  // namespace lockstep

namespace lockstep::testing {

/// Who runs what, and how windows are cut.
struct Layout {
  int ranks = 1;    ///< each a thread with its own engine
  int threads = 1;  ///< of each rank
  bool random_assignment = false;
  Pacing pacing = Pacing::horizons;
  bool shuffle = false;
  bool every_cycle = false;  ///< every component is called at every edge of the SMs' clock
  bool watched = false;      ///< of one rank: who waits for ever is found, as by `lockstep run`
  std::uint64_t seed = 0;

  static Layout random(std::uint64_t seed);
  /// Ranks meet often, so that a run can be left in the middle of everything.
  static Layout interrupted(std::uint64_t seed);
  std::string text() const;
};

/// Two threads, two ranks, and three of two threads.
inline std::vector<Layout> other_layouts() {
  return {{.threads = 2}, {.ranks = 2}, {.ranks = 3, .threads = 2}};
}

/// What a machine leaves behind.
struct MachineResult {
  std::string problem;  ///< "" or why it did not finish, or the first difference
  bool finished = false;
  bool interrupted = false;
  KeptParts state;                        ///< Engine::save where it ended
  std::vector<std::uint64_t> statistics;  ///< per epoch: its end, then each component's row
  std::vector<std::string> faults;        ///< rows of /faults, if they are recorded
  unsigned page_tables_read = 0;          ///< how often they were compared with the model
};

class MachineBench {
 public:
  /// `workload` is workload YAML whose module is "kernels.ptx", `ptx` that module; `settings` are
  /// `key=value` changes of the tiny GPU.
  MachineBench(const std::string& ptx, const std::string& workload,
               const std::vector<std::string>& settings);
  /// Several tenants, each with such a module and workload.
  struct Application {
    std::string ptx, workload;
    std::string options = "";  ///< what a scenario says of its tenant beside that: "relaunch: true"
  };
  MachineBench(const std::vector<Application>& tenants, const std::vector<std::string>& settings);
  /// A shipped workload by its name, with its parameters as YAML map.
  static std::unique_ptr<MachineBench> shipped(const std::string& name,
                                               const std::string& parameters,
                                               const std::vector<std::string>& settings);
  /// Keeps scenario, workload and module when LOCKSTEP_KEEP is set.
  ~MachineBench();
  MachineBench(const MachineBench&) = delete;
  MachineBench& operator=(const MachineBench&) = delete;

  /// Runs the machine to its end and compares: buffers with the interpreter, page tables with a
  /// model of them.
  MachineResult run(const Layout& layout);
  /// When to leave a run: asked between two windows.
  using Moment = std::function<bool(const Host&)>;
  static Moment after_windows(unsigned windows);
  /// The same, but saved at the moment in the first layout, dropped, and resumed in the second.
  MachineResult run_interrupted(const Layout& first, const Moment& moment, const Layout& second);

  /// "" if two runs counted the same in every epoch, else the first counter that differs.
  std::string compare_statistics(const MachineResult& expected, const MachineResult& got) const;
  /// The same for the epochs that `expected` has; `got` may have others between them.
  std::string compare_common_epochs(const MachineResult& expected, const MachineResult& got) const;

 private:
  class Interruption;
  class StatisticsLog;
  MachineBench(const std::filesystem::path& folder, const std::string& scenario,
               const std::vector<std::string>& settings);
  void prepare(const std::string& scenario, const std::vector<std::string>& settings);
  /// `saved`: where to go on from, or empty.  `moment`: leave the state there, or empty.
  MachineResult simulate(const Layout& layout, const KeptParts* saved, const Moment& moment);
  std::string name_of_word(std::size_t word) const;
  std::string compare(Host& host) const;
  std::string compare_tenant(std::size_t tenant, TenantRun& run) const;
  std::string suspect(std::size_t tenant) const;

  const std::filesystem::path folder_;
  Scenario scenario_;
  std::unique_ptr<Machine> machine_;
  std::optional<StatisticsLayout> layout_;
  std::vector<FunctionalResult> expected_;  ///< by tenant
};

/// LOCKSTEP_CASES and LOCKSTEP_SEED, or what the test asks for; of its cases only one in
/// LOCKSTEP_SHARE.
std::uint64_t cases_to_run(std::uint64_t usual);
std::uint64_t first_seed(std::uint64_t usual);

/// How to run a case again.
std::string describe(std::uint64_t seed, const Layout& layout,
                     const std::vector<std::string>& settings);

/// Ends the process with a message when a case takes too long: what a hang becomes.
class HangGuard {
 public:
  explicit HangGuard(std::string what);
  ~HangGuard();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace lockstep::testing
