/// Meaning of the program's pointers: allocations by address, and symbols by their host variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jobs/capture/protocol.hpp"
#include "jobs/capture/runtime/cuda_abi.hpp"

namespace lockstep::capture {

/// Entry that gives memory back: cudaFree, cudaFreeHost, or one of ours.
enum class Releaser { device, host, any };

struct Allocation {
  std::uint64_t address = 0, bytes = 0;
  MemoryKind kind = MemoryKind::device;
  std::uint64_t on_gpu = 0;  ///< registered memory: address on the GPU; 0: the same
  bool is_variable = false;  ///< variable of a module, which keeps it until the end
  int device = 0;            ///< device of the request

  bool is_freed_by(Releaser releaser) const {
    if (is_variable || on_gpu != 0) return false;
    return releaser == Releaser::any ||
           (releaser == Releaser::host) == (kind == MemoryKind::pinned);
  }
};

struct Function {
  std::uint64_t module = 0;
  std::string name;
  bool may_be_missing = false;  ///< the program asks whether the function is there
  bool known = false;           ///< true: the members below have been fetched
  FunctionDescription description;
  std::vector<ParameterDescription> parameters;
  std::uint32_t dynamic_shared_limit = 0;
  /// Clusters that the program has set for launches that name none; 0: not set.
  std::uint32_t required_cluster[3] = {0, 0, 0};
  bool cluster_must_be_set = false;
  bool takes_non_portable_cluster = false;
  int cluster_policy = 0;
};

struct Variable {
  std::uint64_t module = 0;
  std::string name;
  std::size_t bytes = 0;
  /// Place where the program looks for the address of a managed variable.
  void** managed_pointer = nullptr;
  std::uint64_t address = 0;    ///< 0: not requested yet
  bool may_be_missing = false;  ///< the program asks whether the variable is there
};

class AddressBook {
 public:
  static AddressBook& get();

  void add(const Allocation& allocation);
  std::optional<Allocation> remove(std::uint64_t address);
  /// Returns the allocation around the address.
  std::optional<Allocation> find(const void* pointer);
  /// Returns whether the memory is only on the device.  The CPU copies memory that it can access
  /// itself.
  bool is_device(const void* pointer) {
    const auto found = find(pointer);
    return found && found->kind == MemoryKind::device;
  }

  void add_function(const void* host, std::uint64_t module, const char* name,
                    bool may_be_missing = false);
  void add_variable(const void* host, Variable variable);
  /// Returns the function, asking `lockstep capture` if it is not known yet; nullptr with the error
  /// noted.
  Function* function(const void* host);
  Variable* variable(const void* host);
  /// Gives managed variables their addresses before the program looks at them.
  void place_managed_variables();

 private:
  std::recursive_mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_;
  std::map<const void*, Function> functions_;
  std::map<const void*, Variable> variables_;
};

/// Maps shared memory of `lockstep capture` at its address. Returns false if other memory is there.
bool map_shared(std::uint64_t address, std::uint64_t bytes);
void unmap_shared(std::uint64_t address, std::uint64_t bytes);

}  // namespace lockstep::capture
