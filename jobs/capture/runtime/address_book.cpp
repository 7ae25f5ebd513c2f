#include "jobs/capture/runtime/address_book.hpp"

#include <sys/mman.h>

#include <cstring>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/shared_pages.hpp"

namespace lockstep::capture {

AddressBook& AddressBook::get() {
  static auto* book = new AddressBook;
  return *book;
}

void AddressBook::add(const Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  allocations_[allocation.address] = allocation;
}

std::optional<Allocation> AddressBook::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return std::nullopt;
  const Allocation allocation = found->second;
  allocations_.erase(found);
  return allocation;
}

std::optional<Allocation> AddressBook::find(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto behind = allocations_.upper_bound(address);
  if (behind == allocations_.begin()) return std::nullopt;
  const Allocation& before = std::prev(behind)->second;
  if (address - before.address >= before.bytes) return std::nullopt;
  return before;
}

void AddressBook::add_function(const void* host, std::uint64_t module, const char* name,
                               bool may_be_missing) {
  const std::lock_guard lock(mutex_);
  Function& function = functions_[host];
  function.module = module;
  function.name = name;
  function.may_be_missing = may_be_missing;
}

void AddressBook::add_variable(const void* host, Variable variable) {
  const std::lock_guard lock(mutex_);
  variables_[host] = std::move(variable);
}

Function* AddressBook::function(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(host);
  if (found == functions_.end()) {
    noted(invalid_device_function);
    return nullptr;
  }
  Function& function = found->second;
  if (function.known) return &function;
  const Connection::Reply reply = Connection::get().ask(
      Operation::find_function, {function.module, function.may_be_missing ? 1u : 0u},
      bytes_of(function.name));
  if (noted(reply.status) != success) return nullptr;
  std::memcpy(&function.description, reply.bytes.data(), sizeof function.description);
  function.parameters.resize(function.description.parameters);
  std::memcpy(function.parameters.data(), reply.bytes.data() + sizeof function.description,
              function.parameters.size() * sizeof(ParameterDescription));
  function.known = true;
  return &function;
}

Variable* AddressBook::variable(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host);
  if (found == variables_.end()) {
    noted(invalid_symbol);
    return nullptr;
  }
  Variable& variable = found->second;
  if (variable.address != 0) return &variable;
  const Connection::Reply reply = Connection::get().ask(
      Operation::find_variable,
      {variable.module, variable.managed_pointer != nullptr, variable.may_be_missing},
      bytes_of(variable.name));
  if (noted(reply.status) != success) return nullptr;
  variable.address = reply.numbers[0];
  if (variable.bytes == 0) variable.bytes = reply.numbers[1];
  const bool managed = variable.managed_pointer != nullptr;
  add({variable.address, reply.numbers[1], managed ? MemoryKind::managed : MemoryKind::device, 0,
       true});
  if (!managed) return &variable;
  if (!map_shared(variable.address, reply.numbers[1])) {
    noted(memory_allocation);
    return nullptr;
  }
  track_pages(variable.address, reply.numbers[1]);
  *variable.managed_pointer = reinterpret_cast<void*>(variable.address);
  return &variable;
}

void AddressBook::place_managed_variables() {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, entry] : variables_)
    if (entry.managed_pointer && entry.address == 0) variable(host);
}

bool map_shared(std::uint64_t address, std::uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const got = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                           Connection::get().memory_file(),
                           static_cast<off_t>(address - Connection::get().first_address()));
  if (got == wanted) return true;
  if (got != MAP_FAILED) ::munmap(got, bytes);
  return false;
}

void unmap_shared(std::uint64_t address, std::uint64_t bytes) {
  ::munmap(reinterpret_cast<void*>(address), bytes);
}

}  // namespace lockstep::capture
