#include "jobs/capture/captured_modules.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/load.hpp"
#include "models/workload/kernel_arguments.hpp"

namespace lockstep::capture {
namespace {

std::string name_of(std::uint64_t module) {
  return "module " + std::to_string(module) + " of the program";
}

/// What only the machine or the interpreter knows of: the replay places it by itself.
bool is_of_the_machine(const isa::GlobalVariable& variable) {
  return variable.name.starts_with("%");
}

}  // namespace

std::uint64_t CapturedModules::add(std::span<const char> fat_binary) {
  Loaded& added = modules_.emplace_back();
  added.binaries = read_fat_binaries(fat_binary, name_of(modules_.size() - 1));
  return modules_.size() - 1;
}

std::uint64_t CapturedModules::add_own(const std::string& ptx) {
  modules_.emplace_back().text = ptx;
  return modules_.size() - 1;
}

CapturedModules::Loaded& CapturedModules::load(std::uint64_t module) {
  if (module >= modules_.size())
    throw UserError("", "the program names a module that it did not register", "");
  Loaded& loaded = modules_[module];
  if (loaded.is_loaded) return loaded;
  const std::string name = name_of(module);
  const bool is_ours = !loaded.text.empty();
  MergedPtx linked;
  for (const FatBinary& binary : loaded.binaries) {
    const FatBinary::Ptx& ptx = best_ptx(binary, architecture_, name);
    loaded.architecture = std::max(loaded.architecture, ptx.architecture);
    if (loaded.binaries.size() > 1) linked.add(ptx.text);
    loaded.text = loaded.binaries.size() > 1 ? linked.text() : ptx.text;
  }
  const std::string text = with_global_constants(loaded.text);
  loaded.module = isa::load_module_text(text, name);
  if (is_ours) {
    own_text_ = text;
  } else {
    loaded.renamed = merged_.add(text);
  }
  place_variables(loaded);
  loaded.is_loaded = true;
  return loaded;
}

void CapturedModules::place_variables(Loaded& loaded) {
  Workload heap;
  heap.heap = heap_bytes;
  for (const isa::GlobalVariable& variable : loaded.module.globals) {
    const std::uint64_t bytes =
        variable.name == isa::heap_name ? heap_bytes : std::max<std::uint64_t>(variable.bytes, 1);
    const std::uint64_t address = memory_.allocate(
        MemoryKind::device, bytes,
        is_of_the_machine(variable) ? variable.name : loaded.recorded_name(variable.name));
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
  const Loaded& loaded = load(module);
  const int index = loaded.module.kernel_index(name);
  if (index < 0)
    throw UserError(loaded.module.file, "has no kernel " + name,
                    "link with -rdc=false, so that each file has its kernels as PTX");
  kernels_.push_back(
      {&loaded.module, index, &loaded.variables, loaded.recorded_name(name), loaded.architecture});
  return kernel_numbers_[{module, name}] = kernels_.size() - 1;
}

CapturedModules::Variable CapturedModules::find_variable(std::uint64_t module,
                                                         const std::string& name) {
  const Loaded& loaded = load(module);
  for (std::size_t v = 0; v < loaded.variables.size(); ++v)
    if (loaded.module.globals[v].name == name)
      return {loaded.variables[v], loaded.module.globals[v].bytes};
  throw UserError(loaded.module.file, "has no variable " + name,
                  "make it visible in the file that uses it");
}

bool CapturedModules::has_heap() const {
  return std::any_of(modules_.begin(), modules_.end(),
                     [](const Loaded& loaded) { return loaded.module.has_heap(); });
}

}  // namespace lockstep::capture
