#include "models/workload/kernel_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "core/error/error.hpp"
#include "core/parameters/suggest.hpp"
#include "models/isa/load.hpp"
#include "models/isa/text/kernel_title.hpp"
#include "models/workload/cluster_shape.hpp"
#include "models/workload/element.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t maximum_blocks_x = 0x7fff'ffff, maximum_blocks_yz = 65535;
constexpr std::int64_t maximum_threads = 1024, maximum_shared = 1 << 20;
constexpr std::int64_t maximum_registers = 255;  // registers of a thread in machine code
constexpr std::uint32_t word_bytes = 4, address_bytes = 8;

std::string describe(const isa::Program& kernel, std::size_t argument) {
  return "argument " + std::to_string(argument + 1) + " of kernel " +
         isa::kernel_title(kernel.name);
}

std::string bits_of(const isa::KernelParameter& parameter) {
  return std::to_string(8 * parameter.bytes) +
         (isa::is_float(parameter.type) ? "-bit float" : "-bit");
}

bool is_structure(const isa::KernelParameter& parameter) {
  return parameter.bytes != isa::bytes_of(parameter.type);
}

/// Checks a list: a number for every 4 bytes (the last one for the rest of the parameter), and a
/// buffer for every 8.
void check_words(const isa::Program& kernel, std::size_t index, const Step::Argument& argument) {
  const std::uint32_t bytes = kernel.parameters[index].bytes;
  std::uint64_t listed = 0;
  for (const Step::Argument& word : argument.words)
    listed += word.is_buffer ? address_bytes : word_bytes;
  const bool ends_short = !argument.words.back().is_buffer && listed < bytes + word_bytes;
  if (listed == bytes || (listed > bytes && ends_short)) return;
  throw UserError(argument.expression.where(),
                  describe(kernel, index) + " has " + std::to_string(bytes) +
                      " bytes, the list makes " + std::to_string(listed),
                  "write a number for each 4 bytes and a buffer for each address");
}

/// Checks all that needs no variables: the number of arguments, structures, where buffers stand.
void check_kinds(const isa::Program& kernel, const Step& launch) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    throw UserError(launch.where,
                    "kernel " + isa::kernel_title(kernel.name) + " takes " +
                        std::to_string(kernel.parameters.size()) + " arguments, got " +
                        std::to_string(launch.arguments.size()),
                    "list one argument per parameter, in the order of the kernel's declaration");
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const isa::KernelParameter& parameter = kernel.parameters[i];
    const Step::Argument& argument = launch.arguments[i];
    if (!argument.words.empty()) {
      check_words(kernel, i, argument);
      continue;
    }
    if (is_structure(parameter)) {
      throw UserError(argument.expression.where(),
                      describe(kernel, i) + " is a structure of " +
                          std::to_string(parameter.bytes) + " bytes passed by value",
                      "list it, as [5, a, 0x3f800000]: a number for each 4 bytes, a buffer for "
                      "each address");
    }
    if (argument.is_buffer && (parameter.bytes != 8 || isa::is_float(parameter.type))) {
      throw UserError(argument.expression.where(),
                      describe(kernel, i) + " is a buffer, the kernel expects a " +
                          bits_of(parameter) + " number",
                      "check the order of the arguments");
    }
  }
}

/// `bytes`: size of the parameter, or of a word of it.
void put_integer(const isa::Program& kernel, std::size_t index, const Expression& expression,
                 std::uint32_t bytes, double value, std::byte* place) {
  const int bits = static_cast<int>(8 * bytes);
  const double low = -std::ldexp(1.0, bits - 1), end = std::ldexp(1.0, bits);
  const auto literal = expression.literal();
  const bool fits = literal ? literal->fits(static_cast<unsigned>(bits))
                            : value == std::floor(value) && value >= low && value < end;
  if (!fits) {
    throw UserError(
        expression.where(),
        describe(kernel, index) + ", \"" + expression.text() + "\", is " + number_text(value) +
            ": no " + std::to_string(bits) + "-bit integer",
        "the parameter's type is .u" + std::to_string(bits) + " or .s" + std::to_string(bits));
  }
  const std::uint64_t raw = literal ? literal->bits() : integer_bits(value);
  std::memcpy(place, &raw, bytes);
}

void put_float(const isa::Program& kernel, std::size_t index, const Expression& expression,
               double value, std::byte* place) {
  const isa::KernelParameter& parameter = kernel.parameters[index];
  if (!fits(parameter.type, value)) {
    throw UserError(expression.where(),
                    describe(kernel, index) + ", \"" + expression.text() +
                        "\", is too large for a " + bits_of(parameter),
                    "give a smaller value");
  }
  store_element(parameter.type, value, place);
}

void put_words(const isa::Program& kernel, std::size_t index, const Step::Argument& argument,
               const Variables& variables, std::span<const std::uint64_t> addresses_by_buffer,
               std::byte* place) {
  std::uint32_t left = kernel.parameters[index].bytes;
  for (const Step::Argument& word : argument.words) {
    const std::uint32_t bytes = word.is_buffer ? address_bytes : std::min(word_bytes, left);
    if (word.is_buffer) {
      const std::uint64_t address = addresses_by_buffer[word.buffer] + word.offset;
      std::memcpy(place, &address, address_bytes);
    } else {
      const double value = word.expression.evaluate(variables);
      put_integer(kernel, index, word.expression, bytes, value, place);
    }
    place += bytes;
    left -= bytes;
  }
}

std::uint32_t size_or(const Expression& expression, const Variables& variables,
                      std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  return static_cast<std::uint32_t>(
      expression.given() ? expression.evaluate_integer(variables, low, high) : otherwise);
}

void check_block(const isa::Program& kernel, const Step& launch, const LaunchShape& shape) {
  const auto text = [](const std::array<std::uint32_t, 3>& size) {
    return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
           std::to_string(size[2]);
  };
  const std::uint64_t threads =
      std::uint64_t{shape.threads[0]} * shape.threads[1] * shape.threads[2];
  const bool required = kernel.required_block[0] != 0;
  if (required && shape.threads != kernel.required_block) {
    throw UserError(launch.where,
                    "kernel " + isa::kernel_title(kernel.name) + " requires blocks of " +
                        text(kernel.required_block) + " threads, got " + text(shape.threads),
                    "change `block`, or .reqntid of the kernel");
  }
  const std::uint64_t limit = kernel.maximum_threads ? kernel.maximum_threads : maximum_threads;
  if (shape.threads[2] > 64) {
    throw UserError(launch.where,
                    "a block of kernel " + isa::kernel_title(kernel.name) + " is " +
                        std::to_string(shape.threads[2]) + " threads deep, the limit is 64",
                    "lay the threads out along x or y");
  }
  if (threads > limit) {
    throw UserError(launch.where,
                    "a block of kernel " + isa::kernel_title(kernel.name) + " has " +
                        std::to_string(threads) + " threads, the limit is " + std::to_string(limit),
                    "make the block smaller");
  }
}

void validate_steps(const std::vector<Step>& steps, const isa::Module& module) {
  for (const Step& step : steps) {
    validate_steps(step.body, module);
    if (step.kind != Step::Kind::launch) continue;
    check_kinds(module.kernels[find_kernel(step, module)].reference, step);
  }
}

void collect_launched(const std::vector<Step>& steps, std::set<std::string>& kernels) {
  for (const Step& step : steps) {
    collect_launched(step.body, kernels);
    if (step.kind == Step::Kind::launch) kernels.insert(step.kernel);
  }
}

}  // namespace

/// Returns advice for an unknown kernel name.  C++ mangles names of kernels without extern "C": the
/// length in front, the parameters behind, as in _Z3addPfi.
static std::string kernel_advice(const std::string& name, const std::vector<std::string>& known) {
  const std::string mangled = "_Z" + std::to_string(name.size()) + name;
  for (const std::string& candidate : known)
    if (candidate.starts_with(mangled))
      return "write extern \"C\" before it, or name it \"" + candidate + "\"";
  return suggest(name, known);
}

std::uint32_t find_kernel(const Step& launch, const isa::Module& module) {
  const int index = module.kernel_index(launch.kernel);
  if (index >= 0) return static_cast<std::uint32_t>(index);
  std::vector<std::string> known;
  for (const isa::Kernel& kernel : module.kernels) known.push_back(kernel.reference.name);
  throw UserError(launch.where,
                  "module " + module.file + " has no kernel \"" + launch.kernel + "\"",
                  kernel_advice(launch.kernel, known));
}

std::set<std::string> launched_kernels(const Workload& workload) {
  std::set<std::string> kernels;
  collect_launched(workload.program, kernels);
  if (workload.is_recorded())
    kernels.insert(workload.recording->launched_kernels().begin(),
                   workload.recording->launched_kernels().end());
  return kernels;
}

LaunchShape launch_shape(const isa::Program& kernel, const Step& launch,
                         const Variables& variables) {
  LaunchShape shape;
  for (std::size_t i = 0; i < 3; ++i) {
    shape.blocks[i] =
        size_or(launch.grid[i], variables, 1, 1, i == 0 ? maximum_blocks_x : maximum_blocks_yz);
    shape.threads[i] = size_or(launch.block[i], variables, 1, 1, maximum_threads);
  }
  shape.dynamic_shared_bytes = size_or(launch.shared, variables, 0, 0, maximum_shared);
  shape.registers = size_or(launch.registers, variables, 0, 1, maximum_registers);
  check_block(kernel, launch, shape);
  set_cluster(kernel, launch, variables, shape);
  return shape;
}

std::vector<std::byte> pack_arguments(const isa::Program& kernel, const Step& launch,
                                      const Variables& variables,
                                      std::span<const std::uint64_t> addresses_by_buffer) {
  if (launch.is_packed) {
    if (launch.packed.size() == kernel.parameter_bytes) return launch.packed;
    throw UserError(launch.where,
                    "kernel " + isa::kernel_title(kernel.name) + " takes " +
                        std::to_string(kernel.parameter_bytes) +
                        " bytes of parameters, the recording has " +
                        std::to_string(launch.packed.size()),
                    "leave the module of a recording as it was written");
  }
  check_kinds(kernel, launch);
  std::vector<std::byte> packed(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const isa::KernelParameter& parameter = kernel.parameters[i];
    const Step::Argument& argument = launch.arguments[i];
    LOCKSTEP_CHECK(parameter.offset + parameter.bytes <= packed.size(),
                   "a parameter of " + kernel.name + " lies outside the parameter buffer");
    std::byte* place = packed.data() + parameter.offset;
    if (!argument.words.empty()) {
      put_words(kernel, i, argument, variables, addresses_by_buffer, place);
      continue;
    }
    if (argument.is_buffer) {
      const std::uint64_t address = addresses_by_buffer[argument.buffer] + argument.offset;
      std::memcpy(place, &address, sizeof address);
      continue;
    }
    const double value = argument.expression.evaluate(variables);
    if (isa::is_float(parameter.type)) {
      put_float(kernel, i, argument.expression, value, place);
    } else {
      put_integer(kernel, i, argument.expression, parameter.bytes, value, place);
    }
  }
  return packed;
}

std::vector<std::byte> initial_content(const isa::GlobalVariable& variable,
                                       const Workload& workload, const isa::Module& module,
                                       const std::vector<std::uint64_t>& addresses) {
  std::vector<std::byte> image = variable.initial;
  if (variable.name == isa::heap_bytes_name) {
    image.resize(sizeof workload.heap);
    std::memcpy(image.data(), &workload.heap, sizeof workload.heap);
  }
  isa::relocate(image, variable.relocations, module, addresses);
  return image;
}

/// Checks buffers that are variables of the module: the variables exist and are not larger than the
/// buffers.
static void validate_symbols(const Workload& workload, const isa::Module& module) {
  std::vector<std::string> known;
  for (const isa::GlobalVariable& global : module.globals) known.push_back(global.name);
  for (const Buffer& buffer : workload.buffers) {
    if (buffer.symbol.empty()) continue;
    const auto found = std::find(known.begin(), known.end(), buffer.symbol);
    if (found == known.end())
      throw UserError(buffer.where,
                      "module " + module.file + " has no variable \"" + buffer.symbol + "\"",
                      suggest(buffer.symbol, known));
    const isa::GlobalVariable& global =
        module.globals[static_cast<std::size_t>(found - known.begin())];
    if (buffer.bytes() < global.bytes)
      throw UserError(buffer.where,
                      "buffer " + buffer.name + " has " + std::to_string(buffer.bytes()) +
                          " bytes, variable " + global.name + " " + std::to_string(global.bytes),
                      "raise its count");
    if (buffer.memory == MemoryKind::pinned)
      throw UserError(buffer.where, "a variable of the module lies in GPU memory",
                      "write memory: device or managed");
  }
}

void validate_workload(const Workload& workload, const isa::Module& module) {
  validate_symbols(workload, module);
  if (module.has_heap() && workload.heap == 0)
    throw UserError(workload.module_where,
                    "kernels of " + module.file + " call malloc, and the workload has no heap",
                    "state its size, as heap: 64MiB");
  if (!module.has_heap() && workload.heap != 0)
    throw UserError(workload.heap_where, "no kernel of " + module.file + " calls malloc",
                    "leave out the heap");
  validate_steps(workload.program, module);
}

}  // namespace lockstep
