/// The modules of a captured program: loaded when one of their kernels or variables is first
/// needed, and put together as the one module of the recording.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/capture/device_memory.hpp"
#include "jobs/capture/fat_binary.hpp"
#include "jobs/capture/ptx_text.hpp"
#include "models/isa/module/module_loader.hpp"
#include "models/isa/program.hpp"

namespace lockstep::capture {

class CapturedModules {
 public:
  struct Kernel {
    const isa::Module* module = nullptr;
    int index = 0;
    const std::vector<std::uint64_t>* variables = nullptr;  ///< addresses of the module's variables
    std::string recorded_name;                              ///< name in the recording's module
    /// File of the recording, the first of linked ones; empty: a kernel of Lockstep.
    std::string file;
    std::uint32_t architecture = 0;  ///< architecture of the PTX
    bool adds_floats = false;        ///< the kernel adds floats by atomics
    std::uint64_t module_number = 0;
    bool is_ours() const { return file.empty(); }
    const isa::Program& program() const {
      return module->kernels[static_cast<std::size_t>(index)].reference;
    }
    const isa::Program& lowered() const {
      return module->kernels[static_cast<std::size_t>(index)].lowered;
    }
  };
  struct Variable {
    std::uint64_t address = 0, bytes = 0;
  };

  CapturedModules(DeviceMemory& memory, std::uint32_t architecture)
      : memory_(memory), architecture_(architecture) {}

  /// Adds a fat binary, or PTX as text.  `library`: file of a library with the module; "": the
  /// program.
  std::uint64_t add(std::span<const char> binary, const std::string& library = "");
  /// Adds a module of Lockstep, as text.  It comes last in the recording, so that addresses of the
  /// program's functions, which are their numbers, stay.
  std::uint64_t add_own(const std::string& ptx);
  /// Returns the number of a kernel, for kernel(); throws UserError when the module cannot be read
  /// or has none of that name.
  std::uint64_t find_kernel(std::uint64_t module, const std::string& name);
  const Kernel& kernel(std::uint64_t number) const { return kernels_[number]; }
  /// Registers of a thread that the program's own machine code of the kernel takes, for the GPU's
  /// architecture or the nearest; nothing, if the program has none.
  std::optional<std::uint32_t> machine_registers(const Kernel& kernel) const;
  std::uint64_t kernels() const { return kernels_.size(); }
  /// Returns a kernel that was launched, by its name in the recording.
  const Kernel& launched(const std::string& recorded_name) const;
  Variable find_variable(std::uint64_t module, const std::string& name);
  /// Returns whether the module has the kernel. Throws UserError when the module cannot be read.
  bool has_kernel(std::uint64_t module, const std::string& name);
  bool has_variable(std::uint64_t module, const std::string& name);
  /// Throws UserError when it cannot be read.
  void read(std::uint64_t module) { load(module); }

  /// Returns the files of the recording, which are linked in this order.
  std::vector<std::string> files() const;
  bool has_heap() const;
  /// Returns the arithmetic of the tensor cores for kernels that were looked up; nothing if none
  /// has products of matrices.
  std::optional<isa::MatrixArithmetic> arithmetic() const { return arithmetic_; }
  static constexpr std::uint64_t heap_bytes = std::uint64_t{8} << 20;  // default of CUDA

 private:
  struct Loaded {
    std::string name;                 ///< name in messages
    std::vector<FatBinary> binaries;  ///< binaries; several: device code that was linked
    bool is_ours = false;
    std::string file;  ///< first file of the recording
    std::uint32_t architecture = 0;
    /// Maker of the programs of kernels that are looked up.
    std::optional<isa::ModuleLoader> loader;
    isa::Module module;  ///< module with the recording's names
    std::vector<std::uint64_t> variables;
    std::map<std::string, std::string> renamed;
    std::string recorded_name(const std::string& symbol) const {
      const auto found = renamed.find(symbol);
      return found == renamed.end() ? symbol : found->second;
    }
  };

  Loaded& load(std::uint64_t module);
  void read_and_link(Loaded& loaded);
  void link(Loaded& loaded, const std::vector<std::string>& texts);
  void place_variables(Loaded& loaded);

  DeviceMemory& memory_;
  const std::uint32_t architecture_;
  std::optional<isa::MatrixArithmetic> arithmetic_;
  std::size_t functions_ = 0;  ///< functions of the modules in the recording so far
  RecordedPtx recorded_;
  std::string own_text_;
  std::deque<Loaded> modules_;
  std::deque<Kernel> kernels_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> kernel_numbers_;
};

}  // namespace lockstep::capture
