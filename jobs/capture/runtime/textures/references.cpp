/// Texture and surface references of programs built before CUDA 12: variables of the module with a
/// header, and variables of the host with the way of fetching.
///
/// Source: CUDA Runtime API reference, version 11, and the code that nvcc 11 puts into programs.
#include <map>
#include <mutex>

#include "jobs/capture/runtime/address_book.hpp"
#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/textures/headers.hpp"

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, int kind);

/// textureReference, as far as it is read.
struct TextureReference {
  int normalized_coordinates = 0, filter = 0, addressing[3] = {};
  ChannelFormat format{};
  int srgb = 0;
};

namespace {

/// References that read integers as fractions: only their registration says so.
class NormalizedReads {
 public:
  static NormalizedReads& get() {
    static auto* reads = new NormalizedReads;
    return *reads;
  }
  void add(const void* reference, bool normalized) {
    const std::lock_guard lock(mutex_);
    reads_[reference] = normalized;
  }
  bool of(const void* reference) {
    const std::lock_guard lock(mutex_);
    return reads_[reference];
  }

 private:
  std::mutex mutex_;
  std::map<const void*, bool> reads_;
};

void add_reference(void** module, const void* host, const char* name) {
  AddressBook::get().add_variable(host, {reinterpret_cast<std::uint64_t>(*module), name,
                                         sizeof(isa::TextureHeader), nullptr, 0});
}

Error bind(const TextureReference* reference, const ResourceDescription& resource) {
  if (!reference) return noted(invalid_value);
  TextureDescription texture;
  for (int d = 0; d < 3; ++d) texture.addressing[d] = reference->addressing[d];
  texture.filter = reference->filter;
  texture.normalized_reads = NormalizedReads::get().of(reference) ? 1 : 0;
  texture.srgb = reference->srgb;
  texture.normalized_coordinates = reference->normalized_coordinates;
  isa::TextureHeader header;
  const Error error = describe_texture(resource, texture, header);
  return error != success
             ? noted(error)
             : cudaMemcpyToSymbol(reference, &header, sizeof header, 0, host_to_device);
}

ResourceDescription of_memory(ResourceDescription::Type type, const void* pointer,
                              const ChannelFormat& format, std::size_t width, std::size_t height,
                              std::size_t pitch) {
  ResourceDescription resource;
  resource.type = type;
  resource.resource.memory = {const_cast<void*>(pointer), format, width, height, pitch};
  return resource;
}

ResourceDescription of_array(const Array* array) {
  ResourceDescription resource;
  resource.resource.array = const_cast<Array*>(array);
  return resource;
}

}  // namespace

/// `name` is the variable's name in PTX, followed by its C++ name, "::space::picture".
LOCKSTEP_EXPORT void __cudaRegisterTexture(void** module, const void* host, const char* name,
                                           const char*, int, int normalized_reads, int) {
  add_reference(module, host, name);
  NormalizedReads::get().add(host, normalized_reads != 0);
}
LOCKSTEP_EXPORT void __cudaRegisterSurface(void** module, const void* host, const char* name,
                                           const char*, int, int) {
  add_reference(module, host, name);
}

/// Texels may begin anywhere: there is no offset to add.
LOCKSTEP_EXPORT Error cudaBindTexture(std::size_t* offset, const TextureReference* reference,
                                      const void* pointer, const ChannelFormat* format,
                                      std::size_t bytes) {
  if (!format) return noted(invalid_value);
  if (offset) *offset = 0;
  const auto around = AddressBook::get().find(pointer);
  if (!around) return noted(invalid_value);
  // Programs give no size where all of an allocation is meant.
  const std::uint64_t left =
      around->address + around->bytes - reinterpret_cast<std::uint64_t>(pointer);
  return bind(reference, of_memory(ResourceDescription::linear, pointer, *format,
                                   std::min<std::uint64_t>(bytes, left), 1, 0));
}
LOCKSTEP_EXPORT Error cudaBindTexture2D(std::size_t* offset, const TextureReference* reference,
                                        const void* pointer, const ChannelFormat* format,
                                        std::size_t width, std::size_t height, std::size_t pitch) {
  if (!format) return noted(invalid_value);
  if (offset) *offset = 0;
  return bind(reference,
              of_memory(ResourceDescription::pitched, pointer, *format, width, height, pitch));
}
LOCKSTEP_EXPORT Error cudaBindTextureToArray(const TextureReference* reference, const Array* array,
                                             const ChannelFormat*) {
  return bind(reference, of_array(array));
}
LOCKSTEP_EXPORT Error cudaUnbindTexture(const TextureReference* reference) {
  return reference ? success : noted(invalid_value);
}
LOCKSTEP_EXPORT Error cudaGetTextureAlignmentOffset(std::size_t* offset, const TextureReference*) {
  *offset = 0;
  return success;
}
LOCKSTEP_EXPORT Error cudaGetTextureReference(const void** reference, const void* symbol) {
  *reference = symbol;
  return success;
}

LOCKSTEP_EXPORT Error cudaBindSurfaceToArray(const void* reference, const Array* array,
                                             const ChannelFormat*) {
  isa::TextureHeader header;
  const Error error = describe_texels(of_array(array), header);
  return error != success
             ? noted(error)
             : cudaMemcpyToSymbol(reference, &header, sizeof header, 0, host_to_device);
}
LOCKSTEP_EXPORT Error cudaGetSurfaceReference(const void** reference, const void* symbol) {
  *reference = symbol;
  return success;
}

}  // namespace lockstep::capture
