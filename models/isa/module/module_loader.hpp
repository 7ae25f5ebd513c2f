/// A module that was read, which makes the programs of its kernels on demand.
///
/// Every kernel has two programs: one as read, which --check interprets, and a lowered one, which
/// an SM runs.  Only functions that a wanted kernel reaches are rewritten, each once and all of
/// them in parallel; kernels then get their registers and are encoded, in parallel too.  The
/// programs of a kernel do not depend on the other wanted kernels.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/isa/encode/link.hpp"
#include "models/isa/lowering/lowering.hpp"
#include "models/isa/program.hpp"
#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// Returns whether the kernel's programs are made. If not, they are headers: name, parameters,
/// bounds.
inline bool is_loaded(const Kernel& kernel) {
  return !kernel.lowered.instructions.empty();
}

class ModuleLoader {
 public:
  explicit ModuleLoader(SourceModule source, const LoweringOptions& options = {});

  /// Returns the module without programs: of its kernels name, parameters and bounds.
  Module module() const;
  /// Makes the programs of these kernels (indices in Module::kernels). Throws UserError for the
  /// first operation in the text that a reached function has and that is not supported.
  void load(Module& module, std::span<const std::uint32_t> kernels);
  void load_all(Module& module);
  /// Makes the lowered program of a loaded kernel again, with at most `registers` registers a
  /// thread. Further values go to local memory.
  void limit_registers(Module& module, std::uint32_t kernel, std::uint32_t registers);

 private:
  /// A function in another form, with rows for its registers.
  struct Form {
    ir::Function function;
    Allocation allocation;
  };
  using Forms = std::map<std::uint32_t, Form>;  ///< forms by function index

  std::uint32_t register_limit(std::uint32_t kernel, const LoweringOptions& options) const;
  std::uint32_t row_limit(std::uint32_t kernel, const LoweringOptions& options) const;
  std::vector<std::uint32_t> reached(std::uint32_t kernel) const;
  void reject_mistakes(const std::vector<std::uint32_t>& functions) const;
  /// Rewrites the functions that the kernels reach and that `rewritten_` lacks.
  void rewrite_for(const std::vector<std::uint32_t>& kernels);
  Kernel make(std::uint32_t kernel) const;
  Program reference_program(std::uint32_t kernel,
                            const std::vector<std::uint32_t>& functions) const;
  Program lowered_program(std::uint32_t kernel, const std::vector<std::uint32_t>& functions) const;
  static void allocate(Form& form, const ir::Function& function, std::uint32_t registers,
                       std::uint32_t predicates);
  bool has_frugal_order() const;
  void allocate_rewritten(Form& form, std::uint32_t function, std::uint32_t registers,
                          std::uint32_t predicates, bool frugal) const;
  std::vector<LinkInput> inputs_of(const Forms& forms) const;
  std::uint32_t registers_per_thread(std::uint32_t kernel, const Forms& forms) const;
  std::uint32_t registers_at_launch(std::uint32_t kernel, const Forms& forms) const;
  [[noreturn]] void refuse_registers(std::uint32_t kernel) const;

  SourceModule source_;
  const LoweringOptions options_;
  std::vector<std::uint32_t> kernels_;  ///< function index of each kernel in Module::kernels
  std::vector<LinkInput> own_rows_;     ///< functions as read, by function index
  /// Rewritten functions by their index, without rows.
  std::map<std::uint32_t, ir::Function> rewritten_;
  /// Limits set by limit_registers, by function index.
  std::map<std::uint32_t, std::uint32_t> limits_;
};

}  // namespace lockstep::isa
