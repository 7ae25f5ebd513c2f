#include "jobs/capture/captured_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/interpreter/inexact/float_trace.hpp"
#include "models/isa/module/module_linker.hpp"
#include "models/isa/reader/reader.hpp"
#include "models/workload/kernel_arguments.hpp"

namespace lockstep::capture {
namespace {

std::string name_of(std::uint64_t module, const std::string& library) {
  return "module " + std::to_string(module) + " of " + (library.empty() ? "the program" : library);
}

/// Returns a module that takes the numbers of earlier modules' functions in the recording, where
/// all modules are linked: the address of a function is its number.
isa::SourceModule numbers_of_earlier(std::size_t functions, const std::string& name) {
  isa::SourceModule module;
  module.file = name;
  module.functions.resize(functions + 1);
  for (std::size_t f = 1; f <= functions; ++f)
    module.functions[f].code.name = "%earlier_" + std::to_string(f);
  return module;
}

/// Reads a module.  A mistake in a text newer than any known version is reported as a mistake of
/// its version.
isa::SourceModule read_known(const std::string& text, const std::string& name) {
  constexpr double newest = 9.0;
  const std::size_t place = text.find(".version");
  const double version = place == text.npos ? 0 : std::atof(text.c_str() + place + 8);
  try {
    return isa::read_ptx(text, name);
  } catch (const UserError& error) {
    if (version <= newest) throw;
    throw UserError(name,
                    fmt::format("its PTX is of version {}, newer than {:.1f}", version, newest),
                    "build it with nvcc of CUDA 13.0 or older");
  }
}

}  // namespace

std::uint64_t CapturedModules::add(std::span<const char> binary, const std::string& library) {
  Loaded& added = modules_.emplace_back();
  added.name = name_of(modules_.size() - 1, library);
  if (is_ptx(binary)) {
    added.binaries = {ptx_alone(binary)};
  } else {
    added.binaries = read_fat_binaries(binary, added.name);
  }
  return modules_.size() - 1;
}

bool CapturedModules::has_kernel(std::uint64_t module, const std::string& name) {
  const Loaded& loaded = load(module);
  return loaded.module.kernel_index(loaded.recorded_name(name)) >= 0;
}

bool CapturedModules::has_variable(std::uint64_t module, const std::string& name) {
  const Loaded& loaded = load(module);
  const auto& globals = loaded.module.globals;
  return std::any_of(globals.begin(), globals.end(),
                     [&](const auto& g) { return g.name == loaded.recorded_name(name); });
}

std::uint64_t CapturedModules::add_own(const std::string& ptx) {
  Loaded& added = modules_.emplace_back();
  added.name = "lockstep";
  added.is_ours = true;
  added.binaries = {ptx_alone(ptx)};
  own_text_ = ptx;
  return modules_.size() - 1;
}

std::vector<std::string> CapturedModules::files() const {
  std::vector<std::string> files = recorded_.files();
  if (!own_text_.empty() || files.empty()) files.push_back(own_text_);
  return files;
}

CapturedModules::Loaded& CapturedModules::load(std::uint64_t module) {
  if (module >= modules_.size())
    throw UserError("", "the program names a module that it did not register", "");
  Loaded& loaded = modules_[module];
  if (loaded.loader) return loaded;
  read_and_link(loaded);
  place_variables(loaded);
  return loaded;
}

void CapturedModules::read_and_link(Loaded& loaded) {
  std::vector<std::string> texts;
  for (const FatBinary& binary : loaded.binaries) {
    const FatBinary::Ptx& ptx = best_ptx(binary, architecture_, loaded.name);
    loaded.architecture = std::max(loaded.architecture, ptx.architecture);
    texts.push_back(with_global_constants(ptx.text));
  }
  if (!loaded.is_ours) {
    loaded.file = recorded_module_name(recorded_.files().size());
    RecordedPtx::Added added = recorded_.add(texts);
    loaded.renamed = std::move(added.renamed);
    texts = std::move(added.files);
  }
  try {
    link(loaded, texts);
  } catch (const UserError&) {
    if (!loaded.is_ours) recorded_.take_back(texts.size());
    throw;
  }
}

void CapturedModules::link(Loaded& loaded, const std::vector<std::string>& texts) {
  std::vector<isa::SourceModule> sources;
  if (!loaded.is_ours && functions_ != 0)
    sources.push_back(numbers_of_earlier(functions_, loaded.name));
  for (std::size_t f = 0; f < texts.size(); ++f)
    sources.push_back(read_known(
        texts[f], texts.size() == 1 ? loaded.name : fmt::format("file {} of {}", f, loaded.name)));
  isa::SourceModule linked = isa::link_modules(std::move(sources));
  const std::size_t functions = linked.functions.size() - 1;
  isa::LoweringOptions options;
  options.matrices =
      isa::arithmetic_of(fmt::format("{}.{}", architecture_ / 10, architecture_ % 10));
  isa::ModuleLoader loader(std::move(linked), options);
  loaded.module = loader.module();
  loaded.loader.emplace(std::move(loader));
  if (!loaded.is_ours) functions_ = functions;
}

void CapturedModules::place_variables(Loaded& loaded) {
  Workload heap;
  heap.heap = heap_bytes;
  for (const isa::GlobalVariable& variable : loaded.module.globals) {
    const std::uint64_t bytes =
        variable.name == isa::heap_name ? heap_bytes : std::max<std::uint64_t>(variable.bytes, 1);
    const std::uint64_t address = memory_.allocate(MemoryKind::device, bytes, variable.name);
    if (address == 0)
      throw UserError(loaded.module.file, "out of GPU memory for variable " + variable.name,
                      "choose a --gpu with more memory");
    loaded.variables.push_back(address);
  }
  for (std::size_t v = 0; v < loaded.variables.size(); ++v) {
    const std::vector<std::byte> initial =
        initial_content(loaded.module.globals[v], heap, loaded.module, loaded.variables);
    const std::span<std::byte> place = memory_.find(loaded.variables[v], 1);
    std::memset(place.data(), 0, std::max<std::uint64_t>(loaded.module.globals[v].bytes, 1));
    memory_.flat().write(loaded.variables[v], initial.data(), initial.size());
  }
}

std::uint64_t CapturedModules::find_kernel(std::uint64_t module, const std::string& name) {
  const auto known = kernel_numbers_.find({module, name});
  if (known != kernel_numbers_.end()) return known->second;
  Loaded& loaded = load(module);
  const std::string recorded_name = loaded.recorded_name(name);
  const int index = loaded.module.kernel_index(recorded_name);
  if (index < 0)
    throw UserError(loaded.module.file, "has no kernel " + name,
                    "link with -rdc=false, so that each file has its kernels as PTX");
  const auto wanted = static_cast<std::uint32_t>(index);
  loaded.loader->load(loaded.module, std::span(&wanted, 1));
  for (const isa::Instruction& instruction : loaded.module.kernels[wanted].reference.instructions)
    if (instruction.opcode == isa::Opcode::mma)
      arithmetic_ = isa::unpack_form(instruction.target).arithmetic;
  kernels_.push_back({&loaded.module, index, &loaded.variables, recorded_name, loaded.file,
                      loaded.architecture,
                      isa::adds_floats(loaded.module.kernels[wanted].reference), module});
  return kernel_numbers_[{module, name}] = kernels_.size() - 1;
}

std::optional<std::uint32_t> CapturedModules::machine_registers(const Kernel& kernel) const {
  for (const FatBinary& binary : modules_[kernel.module_number].binaries)
    if (const auto registers =
            capture::machine_registers(binary, architecture_, kernel.program().name))
      return registers;
  return {};
}

const CapturedModules::Kernel& CapturedModules::launched(const std::string& recorded_name) const {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const Kernel& kernel) {
    return kernel.recorded_name == recorded_name;
  });
  LOCKSTEP_CHECK(found != kernels_.end(), "kernel " + recorded_name + " was never looked up");
  return *found;
}

CapturedModules::Variable CapturedModules::find_variable(std::uint64_t module,
                                                         const std::string& name) {
  const Loaded& loaded = load(module);
  for (std::size_t v = 0; v < loaded.variables.size(); ++v)
    if (loaded.module.globals[v].name == loaded.recorded_name(name))
      return {loaded.variables[v], loaded.module.globals[v].bytes};
  throw UserError(loaded.module.file, "has no variable " + name,
                  "make it visible in the file that uses it");
}

bool CapturedModules::has_heap() const {
  return std::any_of(modules_.begin(), modules_.end(),
                     [](const Loaded& loaded) { return loaded.module.has_heap(); });
}

}  // namespace lockstep::capture
