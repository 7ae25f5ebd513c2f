/// Modules that programs load while they run, also through cudaLibrary.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/driver/driver.hpp"

namespace lockstep::capture::driver {

/// A loaded module.  The address book knows kernels and variables by places that are made here.
struct LoadedModule {
  std::uint64_t number = 0;
  std::map<std::string, std::unique_ptr<void*>> places;

  void** place(const std::string& name) {
    auto& place = places[name];
    if (!place) place = std::make_unique<void*>(nullptr);
    return place.get();
  }
};

namespace {

constexpr std::uint32_t container_magic = 0xba55ed50, elf_magic = 0x464c457f;
constexpr Error file_not_found = 301;

std::uint32_t magic_at(const void* begin) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, begin, sizeof magic);
  return magic;
}

}  // namespace

std::vector<char> image_at(const void* begin) {
  const auto* bytes = static_cast<const char*>(begin);
  if (static_cast<std::int32_t>(magic_at(begin)) == fat_binary_wrapper_magic)
    return image_at(static_cast<const FatBinaryWrapper*>(begin)->data);
  if (magic_at(begin) == container_magic) {
    std::uint16_t header = 0;
    std::uint64_t length = 0;
    std::memcpy(&header, bytes + 6, sizeof header);
    std::memcpy(&length, bytes + 8, sizeof length);
    return {bytes, bytes + header + length};
  }
  constexpr std::size_t elf_header = 64;  // bytes that show whether the file is machine code
  return {bytes, bytes + (magic_at(begin) == elf_magic ? elf_header : std::strlen(bytes))};
}

Error read_file(const char* name, std::vector<char>& bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name, "rb"), std::fclose);
  if (!file) return file_not_found;
  char piece[1 << 16];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get()))
    bytes.insert(bytes.end(), piece, piece + count);
  return success;
}

Error load(LoadedModule** module, std::vector<char> image) {
  if (!module) return invalid_value;
  const Connection::Reply reply = Connection::get().ask(Operation::register_module, {1}, image);
  if (reply.status != success) return reply.status;
  *module = new LoadedModule{reply.numbers[0], {}};
  return success;
}

Error find_function(void** function, LoadedModule* module, const char* name) {
  if (!function || !module || !name) return invalid_value;
  void** const place = module->place(name);
  return apart([&]() -> Error {
    AddressBook& book = AddressBook::get();
    if (!*place) book.add_function(place, module->number, name, true);
    if (!book.function(place)) return last_error(false);
    *place = *function = place;
    return success;
  });
}

Error find_variable(void** address, std::size_t* bytes, LoadedModule* module, const char* name,
                    bool is_managed) {
  if (!module || !name) return invalid_value;
  void** const place = module->place(name);
  return apart([&]() -> Error {
    AddressBook& book = AddressBook::get();
    if (!*place)
      book.add_variable(place, {module->number, name, 0, is_managed ? place : nullptr, 0, true});
    const Variable* variable = book.variable(place);
    if (!variable) return last_error(false);
    *place = pointer(variable->address);
    if (address) *address = *place;
    if (bytes) *bytes = variable->bytes;
    return success;
  });
}

LOCKSTEP_DRIVER Error cuModuleLoadData(LoadedModule** module, const void* image) {
  return image ? load(module, image_at(image)) : Error{invalid_value};
}
LOCKSTEP_DRIVER Error cuModuleLoadFatBinary(LoadedModule** module, const void* image) {
  return cuModuleLoadData(module, image);
}
/// Loads a module.  Options are for the compiler at run time, which does not exist here.
LOCKSTEP_DRIVER Error cuModuleLoadDataEx(LoadedModule** module, const void* image, unsigned, int*,
                                         void**) {
  return cuModuleLoadData(module, image);
}
LOCKSTEP_DRIVER Error cuModuleLoad(LoadedModule** module, const char* name) {
  std::vector<char> bytes;
  if (const Error error = read_file(name, bytes); error != success) return error;
  return load(module, std::move(bytes));
}
/// Unloads a module; its recorded parts stay.
LOCKSTEP_DRIVER Error cuModuleUnload(LoadedModule* module) {
  return module ? success : invalid_value;
}
LOCKSTEP_DRIVER Error cuModuleGetFunction(void** function, LoadedModule* module, const char* name) {
  return find_function(function, module, name);
}
LOCKSTEP_DRIVER Error cuModuleGetGlobal_v2(void** address, std::size_t* bytes, LoadedModule* module,
                                           const char* name) {
  return find_variable(address, bytes, module, name, false);
}
LOCKSTEP_DRIVER Error cuModuleGetLoadingMode(int* mode) {
  constexpr int lazily = 2;
  *mode = lazily;
  return success;
}

LOCKSTEP_DRIVER Error cuLibraryLoadData(LoadedModule** module, const void* image, void*, void**,
                                        unsigned, void*, void**, unsigned) {
  return cuModuleLoadData(module, image);
}
LOCKSTEP_DRIVER Error cuLibraryLoadFromFile(LoadedModule** module, const char* name, void*, void**,
                                            unsigned, void*, void**, unsigned) {
  return cuModuleLoad(module, name);
}
LOCKSTEP_DRIVER Error cuLibraryGetGlobal(void** address, std::size_t* bytes, LoadedModule* module,
                                         const char* name) {
  return find_variable(address, bytes, module, name, false);
}
LOCKSTEP_DRIVER Error cuLibraryGetManaged(void** address, std::size_t* bytes, LoadedModule* module,
                                          const char* name) {
  return find_variable(address, bytes, module, name, true);
}
/// A library and its module are one object, and so are a kernel and its function.
LOCKSTEP_DRIVER Error cuLibraryGetModule(LoadedModule** module, LoadedModule* library) {
  *module = library;
  return library ? success : invalid_value;
}
LOCKSTEP_DRIVER Error cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return kernel ? success : invalid_value;
}

LOCKSTEP_EXPORT Error cudaLibraryLoadData(LoadedModule** module, const void* image, void*, void**,
                                          unsigned, void*, void**, unsigned) {
  return noted(cuModuleLoadData(module, image));
}
LOCKSTEP_EXPORT Error cudaLibraryLoadFromFile(LoadedModule** module, const char* name, void*,
                                              void**, unsigned, void*, void**, unsigned) {
  return noted(cuModuleLoad(module, name));
}
LOCKSTEP_EXPORT Error cudaLibraryUnload(LoadedModule* module) {
  return noted(cuModuleUnload(module));
}
LOCKSTEP_EXPORT Error cudaLibraryGetKernel(void** kernel, LoadedModule* module, const char* name) {
  return noted(find_function(kernel, module, name));
}
LOCKSTEP_EXPORT Error cudaLibraryGetGlobal(void** address, std::size_t* bytes, LoadedModule* module,
                                           const char* name) {
  return noted(find_variable(address, bytes, module, name, false));
}
LOCKSTEP_EXPORT Error cudaLibraryGetManaged(void** address, std::size_t* bytes,
                                            LoadedModule* module, const char* name) {
  return noted(find_variable(address, bytes, module, name, true));
}

}  // namespace lockstep::capture::driver
