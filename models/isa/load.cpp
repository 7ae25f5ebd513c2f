#include "models/isa/load.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>

#include "core/error/error.hpp"
#include "models/isa/control_flow/control_flow.hpp"
#include "models/isa/encode/encode.hpp"
#include "models/isa/lowering/allocation/allocate.hpp"
#include "models/isa/reader/reader.hpp"

namespace lockstep::isa {
namespace {

constexpr std::uint32_t scoreboard_rows = 256, scoreboard_predicates = 64;
/// What one instruction may read and write at once must fit below.
constexpr std::uint32_t fewest_registers = 24, fewest_predicates = 4;
constexpr std::uint32_t registers_of_an_sm = 65536;

/// Registers a thread may have: .maxnreg, and what lets a block of .maxntid threads fit.
std::uint32_t register_limit(const SourceFunction& kernel, const LoweringOptions& options) {
  std::uint32_t limit = options.maximum_registers;
  if (kernel.maximum_registers != 0) limit = std::min(limit, kernel.maximum_registers);
  std::uint32_t threads = kernel.maximum_threads;
  const auto& block = kernel.required_block;
  if (block[0] != 0) threads = block[0] * block[1] * block[2];
  if (threads != 0) limit = std::min(limit, std::max(registers_of_an_sm / threads / 8 * 8, 24u));
  return limit;
}

/// Copies of a module's functions in another form, with rows for their registers.
struct Lowered {
  std::deque<ir::Function> functions;
  std::deque<Allocation> allocations;
  std::vector<LinkInput> inputs;
};

using Transformation = std::function<Allocation(ir::Function&, const SourceFunction&)>;
Lowered transform_all(const SourceModule& source, const Transformation& transform) {
  Lowered result;
  for (const SourceFunction& f : source.functions) {
    LinkInput input;
    if (f.has_body) {
      ir::Function& copy = result.functions.emplace_back(f.code);
      input.allocation = &result.allocations.emplace_back(transform(copy, f));
      find_successors(copy);
      input.function = &copy;
    }
    result.inputs.push_back(input);
  }
  return result;
}

Lowered lower_all(const SourceModule& source, const LoweringOptions& options) {
  return transform_all(source, [&](ir::Function& copy, const SourceFunction& f) {
    LoweringOptions own = options;
    own.maximum_registers = register_limit(f, options);
    return lower(copy, own);
  });
}

[[noreturn]] void refuse_registers(const SourceModule& source, std::uint32_t kernel) {
  const SourceFunction& k = source.functions[kernel];
  throw UserError(
      source.file + ":" + std::to_string(k.line) + ":" + std::to_string(k.column),
      "kernel " + k.code.name +
          " and the functions it calls one below the other need more registers than a warp has",
      "have some calls inlined or split the kernel");
}

/// A thread's registers: the kernel's and those of the functions below it.
std::uint32_t registers_per_thread(const SourceModule& source, std::uint32_t kernel,
                                   const Lowered& lowered, const Program& program) {
  const std::uint32_t own = lowered.inputs[kernel].allocation->registers_per_thread;
  std::uint32_t called = 0;
  for (std::uint32_t f = 0; f < source.functions.size(); ++f)
    if (f != kernel && program.function_entries[f] != no_reconvergence)
      called = std::max(called, lowered.inputs[f].allocation->registers_per_thread);
  return std::max(own, std::min(own + called, 255u) * (called != 0 ? 1u : 0u));
}

/// The kernel as it was read, what --check compares with.  Registers have rows of their own, so
/// that nothing depends on what the lowering finds out about them, unless there are too many.
Program reference_program(const SourceModule& source, std::uint32_t kernel,
                          const std::vector<LinkInput>& own_rows) {
  constexpr std::uint32_t registers = 1024;
  if (auto program = encode(source, kernel, own_rows)) return *std::move(program);
  for (std::uint32_t predicates = 32; predicates >= fewest_predicates; predicates /= 2) {
    const Lowered shared = transform_all(source, [&](ir::Function& copy, const SourceFunction&) {
      return lowering::allocate(copy, registers, predicates);
    });
    if (auto program = encode(source, kernel, shared.inputs)) return *std::move(program);
  }
  refuse_registers(source, kernel);
}

Program lowered_program(const SourceModule& source, std::uint32_t kernel, const Lowered& lowered,
                        const LoweringOptions& options) {
  std::optional<Program> program = encode(source, kernel, lowered.inputs);
  // Pairs and single rows do not share, nor do functions: fewer registers leave room for that.
  LoweringOptions fewer = options;
  if (!program || program->rows > scoreboard_rows)
    fewer.maximum_registers = options.maximum_registers * 3 / 4;
  if (!program || program->predicates > scoreboard_predicates)
    fewer.maximum_predicates = options.maximum_predicates * 3 / 4;
  if (fewer.maximum_registers != options.maximum_registers ||
      fewer.maximum_predicates != options.maximum_predicates) {
    if (fewer.maximum_registers < fewest_registers || fewer.maximum_predicates < fewest_predicates)
      refuse_registers(source, kernel);
    return lowered_program(source, kernel, lower_all(source, fewer), fewer);
  }
  program->registers_per_thread = registers_per_thread(source, kernel, lowered, *program);
  find_live_rows(*program);
  return *std::move(program);
}

Module make_module(SourceModule source, const LoweringOptions& options) {
  Module module;
  module.file = source.file;
  std::vector<LinkInput> own_rows;
  for (SourceFunction& f : source.functions) {
    module.functions.push_back(f.code.name);
    if (f.has_body) find_successors(f.code);
    own_rows.push_back({f.has_body ? &f.code : nullptr, nullptr});
  }
  const Lowered lowered = lower_all(source, options);
  for (std::uint32_t f = 0; f < source.functions.size(); ++f) {
    if (!source.functions[f].code.is_entry || !source.functions[f].has_body) continue;
    Kernel kernel;
    kernel.reference = reference_program(source, f, own_rows);
    kernel.lowered = lowered_program(source, f, lowered, options);
    module.kernels.push_back(std::move(kernel));
  }
  module.globals = std::move(source.globals);
  module.constant_image = std::move(source.constant_image);
  module.constant_relocations = std::move(source.constant_relocations);
  return module;
}

}  // namespace

Module load_module(const std::string& path, const LoweringOptions& options) {
  return make_module(read_ptx_file(path), options);
}

Module load_module_text(const std::string& text, const std::string& file,
                        const LoweringOptions& options) {
  return make_module(read_ptx(text, file), options);
}

std::vector<std::uint32_t> fill_constants(const Program& program,
                                          const std::vector<std::byte>& parameters,
                                          const std::vector<std::uint64_t>& global_addresses) {
  std::vector<std::uint32_t> rows(std::size_t{program.constant_rows} * warp_size);
  for (const ConstantRow& constant : program.constants) {
    std::uint64_t value = 0;
    if (constant.source == ConstantRow::Source::global_symbol) {
      LOCKSTEP_CHECK(constant.index < global_addresses.size(), "global variable without address");
      value = global_addresses[constant.index] + static_cast<std::uint64_t>(constant.offset);
    } else {
      const auto offset = static_cast<std::size_t>(constant.offset);
      LOCKSTEP_CHECK(offset + constant.bytes <= parameters.size(), "parameter buffer too short");
      std::memcpy(&value, parameters.data() + offset, constant.bytes);
      if (constant.is_signed && constant.bytes < 8) {
        const unsigned shift = 64 - 8 * constant.bytes;
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
      }
    }
    if (constant.width < 8) value &= (std::uint64_t{1} << 8 * constant.width) - 1;
    std::uint32_t* row = rows.data() + std::size_t{constant.row} * warp_size;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (constant.width == 8) {
        std::memcpy(row + 2 * lane, &value, 8);
      } else {
        row[lane] = static_cast<std::uint32_t>(value);
      }
    }
  }
  return rows;
}

void relocate(std::vector<std::byte>& bytes,
              const std::vector<GlobalVariable::Relocation>& relocations, const Module& module,
              const std::vector<std::uint64_t>& global_addresses) {
  using Target = GlobalVariable::Relocation::Target;
  for (const GlobalVariable::Relocation& r : relocations) {
    LOCKSTEP_CHECK(r.target != Target::function || r.index < module.functions.size(),
                   "address of an unknown function");
    std::uint64_t value = static_cast<std::uint64_t>(r.addend);
    value += r.target == Target::global     ? global_addresses[r.index]
             : r.target == Target::constant ? constant_window_base
                                            : r.index;
    value >>= r.shift;
    std::memcpy(bytes.data() + r.offset, &value, r.bytes);
  }
}

}  // namespace lockstep::isa
