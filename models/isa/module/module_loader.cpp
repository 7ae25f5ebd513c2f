#include "models/isa/module/module_loader.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <set>

#include "core/error/error.hpp"
#include "models/isa/control_flow/control_flow.hpp"
#include "models/isa/encode/encode.hpp"
#include "models/isa/lowering/allocation/allocate.hpp"
#include "models/isa/lowering/contraction.hpp"
#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {
namespace {

constexpr std::uint32_t scoreboard_predicates = 64;
/// Least numbers that the operands of any one instruction fit into.
constexpr std::uint32_t fewest_registers = 24, fewest_predicates = 4;
constexpr std::uint32_t registers_of_an_sm = 65536;

/// Calls `work` with 0 to count - 1, in parallel; of several exceptions it rethrows that of the
/// lowest number.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

ModuleLoader::ModuleLoader(SourceModule source, const LoweringOptions& options)
    : source_(std::move(source)), options_(options) {
  source_.matrices = options.matrices;
  source_.bulk_copies = options.bulk_copies;
  source_.clusters = options.clusters;
  for (std::uint32_t f = 0; f < source_.functions.size(); ++f) {
    SourceFunction& function = source_.functions[f];
    if (function.has_body && !function.mistake) {
      find_successors(function.code);
      contract_products(function.code);
    }
    own_rows_.push_back({function.has_body ? &function.code : nullptr, nullptr});
    if (function.code.is_entry && function.has_body) kernels_.push_back(f);
  }
}

Module ModuleLoader::module() const {
  Module module;
  module.file = source_.file;
  for (const SourceFunction& f : source_.functions) module.functions.push_back(f.code.name);
  for (const std::uint32_t f : kernels_) {
    Kernel& kernel = module.kernels.emplace_back();
    kernel.reference = kernel.lowered = program_header(source_.functions[f]);
  }
  module.globals = source_.globals;
  module.constant_image = source_.constant_image;
  module.constant_relocations = source_.constant_relocations;
  return module;
}

void ModuleLoader::load_all(Module& module) {
  for (const SourceFunction& f : source_.functions)
    if (f.mistake) throw UserError(*f.mistake);
  std::vector<std::uint32_t> all;
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) all.push_back(k);
  load(module, all);
}

void ModuleLoader::load(Module& module, std::span<const std::uint32_t> kernels) {
  std::vector<std::uint32_t> wanted;  // indices of wanted kernels in module.kernels
  for (const std::uint32_t k : std::set<std::uint32_t>(kernels.begin(), kernels.end()))
    if (!is_loaded(module.kernels[k])) wanted.push_back(k);
  std::vector<std::uint32_t> functions;
  for (const std::uint32_t k : wanted) functions.push_back(kernels_[k]);
  rewrite_for(functions);
  for_each_in_parallel(wanted.size(),
                       [&](std::size_t i) { module.kernels[wanted[i]] = make(functions[i]); });
}

void ModuleLoader::limit_registers(Module& module, std::uint32_t kernel, std::uint32_t registers) {
  const std::uint32_t function = kernels_[kernel];
  limits_[function] = std::max(registers, fewest_registers);
  module.kernels[kernel].lowered = lowered_program(function, reached(function));
}

/// Returns the most registers of a thread: .maxnreg, and the number with which .minnctapersm blocks
/// of .maxntid or .reqntid threads fit.  Source: registers that ptxas 13 gives kernels that want
/// more; whole groups of four warps share the register file, in steps of eight registers a thread.
std::uint32_t ModuleLoader::register_limit(std::uint32_t kernel,
                                           const LoweringOptions& options) const {
  const SourceFunction& k = source_.functions[kernel];
  std::uint32_t limit = options.maximum_registers;
  if (k.maximum_registers != 0) limit = std::min(limit, k.maximum_registers);
  if (const auto given = limits_.find(kernel); given != limits_.end())
    limit = std::min(limit, given->second);
  constexpr std::uint64_t many = 1 << 16;  // more threads and blocks than any SM holds
  std::uint64_t threads = std::min<std::uint64_t>(k.maximum_threads, many);
  if (k.required_block[0] != 0) {
    threads = 1;
    for (const std::uint64_t extent : k.required_block) threads = std::min(threads * extent, many);
  }
  if (threads == 0) return limit;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(k.minimum_blocks, 1, many);
  const std::uint64_t warps = (threads + warp_size - 1) / warp_size * blocks;
  const auto fitting =
      static_cast<std::uint32_t>(registers_of_an_sm / ((warps + 3) / 4 * 4 * warp_size) / 8 * 8);
  return std::min(limit, std::max(fitting, fewest_registers));
}

/// Returns the limit of rows; warps that take registers of others (setmaxnreg) may have more than
/// at launch.
std::uint32_t ModuleLoader::row_limit(std::uint32_t kernel, const LoweringOptions& options) const {
  const std::uint32_t given = most_registers_given(source_.functions[kernel].code);
  return std::min(std::max(register_limit(kernel, options), given), options.maximum_registers);
}

/// Returns the registers at launch.  If warps pass registers to each other, ptxas uses all that the
/// kernel's directives allow.
std::uint32_t ModuleLoader::registers_at_launch(std::uint32_t kernel, const Forms& forms) const {
  const std::uint32_t limit = register_limit(kernel, options_);
  const bool is_limited = limit < options_.maximum_registers;
  if (is_limited && most_registers_given(source_.functions[kernel].code) != 0) return limit;
  return std::min(registers_per_thread(kernel, forms), limit);
}

std::vector<std::uint32_t> ModuleLoader::reached(std::uint32_t kernel) const {
  return reached_functions(kernel, own_rows_, functions_in_variables(source_));
}

void ModuleLoader::reject_mistakes(const std::vector<std::uint32_t>& functions) const {
  for (const std::uint32_t f : std::set<std::uint32_t>(functions.begin(), functions.end()))
    if (source_.functions[f].mistake) throw UserError(*source_.functions[f].mistake);
}

void ModuleLoader::rewrite_for(const std::vector<std::uint32_t>& kernels) {
  std::vector<std::uint32_t> needed;
  std::vector<ir::Function*> work;
  for (const std::uint32_t kernel : kernels)
    for (const std::uint32_t f : reached(kernel)) {
      needed.push_back(f);
      const auto [found, is_new] = rewritten_.try_emplace(f, source_.functions[f].code);
      if (is_new) work.push_back(&found->second);
    }
  reject_mistakes(needed);
  for_each_in_parallel(work.size(), [&](std::size_t i) { rewrite(*work[i], options_); });
}

std::vector<LinkInput> ModuleLoader::inputs_of(const Forms& forms) const {
  std::vector<LinkInput> inputs(source_.functions.size());
  for (const auto& [f, form] : forms) inputs[f] = {&form.function, &form.allocation};
  return inputs;
}

Kernel ModuleLoader::make(std::uint32_t kernel) const {
  const std::vector<std::uint32_t> functions = reached(kernel);
  return {reference_program(kernel, functions), lowered_program(kernel, functions)};
}

void ModuleLoader::allocate(Form& form, const ir::Function& function, std::uint32_t registers,
                            std::uint32_t predicates) {
  form.function = function;
  form.allocation = lowering::allocate(form.function, registers, predicates);
  find_successors(form.function);
}

bool ModuleLoader::has_frugal_order() const {
  return options_.rows_may_grow && options_.unroll_loops;
}
/// Allocates rows for rewritten functions.  Forms whose loads move far ahead, or that compute
/// values in front of loops, keep more values in registers than the frugal order; they are used
/// unless the frugal order is requested, or unless all of them spill more.
void ModuleLoader::allocate_rewritten(Form& form, std::uint32_t function, std::uint32_t registers,
                                      std::uint32_t predicates, bool frugal) const {
  if (!frugal) allocate(form, rewritten_.at(function), registers, predicates);
  if (!frugal && (form.allocation.spill_bytes == 0 || !has_frugal_order())) return;
  LoweringOptions options = options_;
  options.rows_may_grow = false;
  for (const bool hoists : {true, false}) {
    options.hoist_invariants = options_.hoist_invariants && hoists;
    ir::Function again = source_.functions[function].code;
    rewrite(again, options);
    Form other;
    allocate(other, again, registers, predicates);
    if ((frugal && hoists) || other.allocation.spill_bytes < form.allocation.spill_bytes)
      form = std::move(other);
    if (form.allocation.spill_bytes == 0) return;
  }
}

void ModuleLoader::refuse_registers(std::uint32_t kernel) const {
  const SourceFunction& k = source_.functions[kernel];
  throw UserError(
      k.file + ":" + std::to_string(k.line) + ":" + std::to_string(k.column),
      "kernel " + kernel_title(k.code.name) +
          " and the functions it calls one below the other need more registers than a warp has",
      "have some calls inlined or split the kernel");
}

/// Returns a thread's registers: the kernel's and those of the functions below it.
std::uint32_t ModuleLoader::registers_per_thread(std::uint32_t kernel, const Forms& forms) const {
  const std::uint32_t own = forms.at(kernel).allocation.registers_per_thread;
  std::uint32_t called = 0;
  for (const auto& [f, form] : forms)
    if (f != kernel) called = std::max(called, form.allocation.registers_per_thread);
  return called == 0 ? own
                     : std::max(own, std::min(own + called, register_limit(kernel, options_)));
}

/// Returns the program as read, with which --check compares.  Registers have rows of their own, so
/// that nothing depends on results of the lowering, unless there are too many.
Program ModuleLoader::reference_program(std::uint32_t kernel,
                                        const std::vector<std::uint32_t>& functions) const {
  constexpr std::uint32_t registers = 1024;
  if (auto program = encode(source_, kernel, own_rows_)) return *std::move(program);
  for (std::uint32_t predicates = 32; predicates >= fewest_predicates; predicates /= 2) {
    Forms forms;
    for (const std::uint32_t f : functions)
      allocate(forms[f], source_.functions[f].code, registers, predicates);
    if (auto program = encode(source_, kernel, inputs_of(forms))) return *std::move(program);
  }
  refuse_registers(kernel);
}

Program ModuleLoader::lowered_program(std::uint32_t kernel,
                                      const std::vector<std::uint32_t>& functions) const {
  LoweringOptions options = options_;
  for (bool frugal = false;; frugal = !frugal && has_frugal_order()) {
    Forms forms;
    for (const std::uint32_t f : functions)
      allocate_rewritten(forms[f], f, row_limit(kernel, options), options.maximum_predicates,
                         frugal);
    std::optional<Program> program = encode(source_, kernel, inputs_of(forms));
    const bool rows = program && program->rows <= most_encoded_rows;
    const bool predicates = program && program->predicates <= scoreboard_predicates;
    if (rows && predicates) {
      program->registers_per_thread = registers_at_launch(kernel, forms);
      find_live_rows(*program);
      return *std::move(program);
    }
    // Functions do not share rows, and neither do pairs and single rows.  Fewer registers leave
    // room for that: fewer by the excess of rows, but by at most a quarter at once.
    if (!rows && !frugal && has_frugal_order()) continue;
    if (!rows) {
      const std::uint32_t limit = row_limit(kernel, options);
      const std::uint32_t excess = program ? program->rows - most_encoded_rows : limit;
      options.maximum_registers = limit - std::clamp(excess, 8U, limit / 4);
    }
    if (!predicates) options.maximum_predicates = options.maximum_predicates * 3 / 4;
    if (options.maximum_registers < fewest_registers ||
        options.maximum_predicates < fewest_predicates)
      refuse_registers(kernel);
  }
}

}  // namespace lockstep::isa
