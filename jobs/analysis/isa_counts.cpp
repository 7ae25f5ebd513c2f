/// Counts the executions of each instruction of a workload's kernels, before and after lowering;
/// compare_sass.py compares them with ptxas.
///
///   isa_counts WORKLOAD.yaml...
///
/// Prints one line per kernel ("kernel workload name registers"), then one per instruction of the
/// reference program ("reference line executions block") and of the lowered one ("lowered pc slots
/// executions").  `block` numbers the straight stretches of the reference program.
#include <cstdio>
#include <set>
#include <string>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "models/isa/load.hpp"
#include "models/reference/functional_run.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

namespace {

std::set<std::uint32_t> block_starts(const isa::Program& program) {
  std::set<std::uint32_t> starts{0};
  for (std::uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
    const isa::Instruction& instruction = program.instructions[pc];
    switch (instruction.category) {
      case isa::Category::branch:
        starts.insert(instruction.target);
        [[fallthrough]];
      case isa::Category::branch_indexed:
      case isa::Category::ret:
      case isa::Category::exit:
      case isa::Category::trap:
        starts.insert(pc + 1);
        break;
      default:
        break;
    }
  }
  return starts;
}

void print_kernel(const std::string& workload, const isa::Kernel& kernel,
                  const std::vector<std::uint64_t>& reference,
                  const std::vector<std::uint64_t>& lowered) {
  std::printf("kernel %s %s %u\n", workload.c_str(), kernel.reference.name.c_str(),
              kernel.lowered.registers_per_thread);
  const auto starts = block_starts(kernel.reference);
  int block = -1;
  for (std::uint32_t pc = 0; pc < kernel.reference.instructions.size(); ++pc) {
    if (starts.contains(pc)) ++block;
    std::printf("reference %u %llu %d\n", kernel.reference.source_lines[pc],
                static_cast<unsigned long long>(pc < reference.size() ? reference[pc] : 0), block);
  }
  for (std::uint32_t pc = 0; pc < kernel.lowered.instructions.size(); ++pc)
    std::printf("lowered %u %u %llu\n", pc, kernel.lowered.instructions[pc].issue_slots,
                static_cast<unsigned long long>(pc < lowered.size() ? lowered[pc] : 0));
}

void count(const std::string& file, isa::LoweringOptions options) {
  const Node document = load_document(file);
  const Workload workload = read_workload(document, Node());
  if (workload.recording)
    options.matrices = workload.recording->arithmetic().value_or(*options.matrices);
  const isa::Module module = isa::load_module(workload.module_file, options);
  ExecutionProfile reference, lowered;
  lowered.lowered = true;
  run_functionally("counted", workload, module, {.profile = &reference});
  run_functionally("counted", workload, module, {.profile = &lowered});
  for (std::size_t k = 0; k < module.kernels.size(); ++k)
    print_kernel(workload.module_file, module.kernels[k], reference.executions[k],
                 lowered.executions[k]);
}

}  // namespace

}  // namespace lockstep

int main(int count_of_arguments, char** arguments) {
  try {
    lockstep::isa::LoweringOptions options;
    for (int a = 1; a < count_of_arguments; ++a) {
      if (std::string(arguments[a]) == "--unroll-loops")
        options.unroll_loops = true;
      else
        lockstep::count(arguments[a], options);
    }
    return 0;
  } catch (const lockstep::UserError& error) {
    std::fprintf(stderr, "isa_counts: %s\n", error.what());
    return 1;
  }
}
