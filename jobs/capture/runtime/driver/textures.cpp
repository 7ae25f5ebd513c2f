/// Arrays, texture and surface objects, and references of modules in the driver's interface;
/// descriptions are translated to those of the runtime.
///
/// Source: CUDA Driver API reference, "Memory Management", "Texture Object Management" and "Texture
/// Reference Management".
#include "jobs/capture/runtime/driver/textures.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "jobs/capture/runtime/copies.hpp"
#include "jobs/capture/runtime/driver/driver.hpp"
#include "jobs/capture/runtime/textures/headers.hpp"

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent,
                                        unsigned flags);
LOCKSTEP_EXPORT Error cudaCreateTextureObject(std::uint64_t* handle,
                                              const ResourceDescription* resource,
                                              const TextureDescription* texture, const void* view);
LOCKSTEP_EXPORT Error cudaCreateSurfaceObject(std::uint64_t* handle,
                                              const ResourceDescription* resource);

namespace driver {
namespace {

struct ArrayDescription {
  std::size_t width, height;
  int format;
  unsigned channels;
};
static_assert(sizeof(ArrayDescription) == 24);
struct ArrayDescription3D {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
static_assert(sizeof(ArrayDescription3D) == 40);

struct DriverResource {
  int type;
  struct Memory {
    void* pointer;
    int format;
    unsigned channels;
    std::size_t width;  ///< width of linear memory in bytes; otherwise in texels
    std::size_t height, pitch;
  };
  union {
    Array* array;
    Memory memory;
    int reserved[32];
  } resource;
  unsigned flags;
};
static_assert(sizeof(DriverResource) == 144);

struct DriverTexture {
  int addressing[3], filter;
  unsigned flags, anisotropy;
  int level_filter;
  float level_bias, least_level, largest_level, border[4];
  int reserved[12];
};
static_assert(sizeof(DriverTexture) == 104);
enum TextureFlag : unsigned { read_as_integer = 1, normalized_coordinates = 2, srgb = 16 };

struct ChannelWord {
  int word;  ///< value of CUarray_format
  ChannelKind kind;
  int bits;
};
constexpr ChannelWord channel_words[] = {
    {0x01, unsigned_channels, 8}, {0x02, unsigned_channels, 16}, {0x03, unsigned_channels, 32},
    {0x08, signed_channels, 8},   {0x09, signed_channels, 16},   {0x0a, signed_channels, 32},
    {0x10, float_channels, 16},   {0x20, float_channels, 32}};

/// Returns a channel's format; for an unknown word a format without channels, which is no texel.
ChannelFormat channel_format(int format, unsigned channels) {
  ChannelFormat result{{}, no_channels};
  for (const ChannelWord& word : channel_words) {
    if (word.word != format) continue;
    result.kind = word.kind;
    std::fill_n(result.bits, std::min(channels, 4u), word.bits);
  }
  return result;
}

int driver_format(const ChannelFormat& format) {
  for (const ChannelWord& word : channel_words)
    if (word.kind == format.kind && word.bits == format.bits[0]) return word.word;
  return 0;
}

ResourceDescription as_runtime(const DriverResource& from) {
  ResourceDescription resource;
  resource.type = from.type;
  if (from.type == ResourceDescription::array) {
    resource.resource.array = from.resource.array;
  } else {
    const DriverResource::Memory& memory = from.resource.memory;
    resource.resource.memory = {memory.pointer, channel_format(memory.format, memory.channels),
                                memory.width, memory.height, memory.pitch};
  }
  return resource;
}

TextureDescription as_runtime(const DriverTexture& from) {
  TextureDescription texture;
  std::copy(std::begin(from.addressing), std::end(from.addressing), texture.addressing);
  texture.filter = from.filter;
  texture.normalized_reads = (from.flags & read_as_integer) == 0 ? 1 : 0;
  texture.srgb = (from.flags & srgb) != 0 ? 1 : 0;
  std::copy(std::begin(from.border), std::end(from.border), texture.border);
  texture.normalized_coordinates = (from.flags & normalized_coordinates) != 0 ? 1 : 0;
  return texture;
}

Error make_array(Array** array, const ArrayDescription3D& asked) {
  if (asked.channels == 0 || asked.channels > 4) return invalid_value;
  const ChannelFormat format = channel_format(asked.format, asked.channels);
  return apart([&] {
    return cudaMalloc3DArray(array, &format, {asked.width, asked.height, asked.depth}, asked.flags);
  });
}

}  // namespace

/// A variable of a module that holds a header; the program sets its description in pieces.
struct Reference {
  void* variable = nullptr;
  bool is_surface = false;
  DriverResource resource{};
  DriverTexture texture{};
  bool is_bound = false, has_changed = false;
};

namespace {

class References {
 public:
  static References& get() {
    static auto* references = new References;
    return *references;
  }
  Reference* at(void* variable, bool is_surface) {
    const std::lock_guard lock(mutex_);
    auto& reference = references_[variable];
    if (!reference) {
      reference = std::make_unique<Reference>();
      reference->variable = variable;
      reference->is_surface = is_surface;
      std::fill(std::begin(reference->texture.addressing), std::end(reference->texture.addressing),
                1);  // clamp
      reference->resource.resource.memory.format = 0x20;
      reference->resource.resource.memory.channels = 1;
    }
    return reference.get();
  }
  Error update() {
    const std::lock_guard lock(mutex_);
    for (auto& [variable, reference] : references_) {
      if (!reference->has_changed || !reference->is_bound) continue;
      isa::TextureHeader header;
      const ResourceDescription resource = as_runtime(reference->resource);
      const Error error = reference->is_surface
                              ? describe_texels(resource, header)
                              : describe_texture(resource, as_runtime(reference->texture), header);
      if (error != success) return error;
      const Error copied = copy_row(variable, &header, sizeof header, host_to_device, {});
      if (copied != success) return copied;
      reference->has_changed = false;
    }
    return success;
  }

 private:
  std::mutex mutex_;
  /// References by the address of the variable.
  std::map<void*, std::unique_ptr<Reference>> references_;
};

Error find_reference(Reference** reference, LoadedModule* module, const char* name,
                     bool is_surface) {
  void* variable = nullptr;
  if (!reference) return invalid_value;
  const Error error = find_variable(&variable, nullptr, module, name, false);
  if (error == success) *reference = References::get().at(variable, is_surface);
  return error;
}

/// Changes the reference by `how`; the next launch sees the change.
template <class Change>
Error change(Reference* reference, const Change& how) {
  if (!reference) return invalid_value;
  how(*reference);
  reference->has_changed = true;
  return success;
}

Error bind_array(Reference* reference, Array* array) {
  if (!array) return invalid_value;
  return change(reference, [&](Reference& of) {
    of.resource.type = ResourceDescription::array;
    of.resource.resource.array = array;
    of.is_bound = true;
  });
}

}  // namespace

Error update_references() {
  return References::get().update();
}

LOCKSTEP_DRIVER Error cuArray3DCreate_v2(Array** array, const ArrayDescription3D* asked) {
  return array && asked ? make_array(array, *asked) : Error{invalid_value};
}
LOCKSTEP_DRIVER Error cuArrayCreate_v2(Array** array, const ArrayDescription* asked) {
  if (!array || !asked) return invalid_value;
  return make_array(array, {asked->width, asked->height, 0, asked->format, asked->channels, 0});
}
LOCKSTEP_DRIVER Error cuArray3DGetDescriptor_v2(ArrayDescription3D* to, const Array* array) {
  if (!to || !array) return invalid_value;
  const Extent& extent = array->extent;
  *to = {extent.width,
         extent.height,
         extent.depth,
         driver_format(array->format),
         static_cast<unsigned>(channels_of(array->format)),
         array->flags};
  return success;
}
LOCKSTEP_DRIVER Error cuArrayGetDescriptor_v2(ArrayDescription* to, const Array* array) {
  ArrayDescription3D whole;
  if (!to) return invalid_value;
  const Error error = cuArray3DGetDescriptor_v2(&whole, array);
  if (error == success) *to = {whole.width, whole.height, whole.format, whole.channels};
  return error;
}

LOCKSTEP_DRIVER Error cuTexObjectCreate(std::uint64_t* handle, const DriverResource* resource,
                                        const DriverTexture* texture, const void* view) {
  if (!resource || !texture) return invalid_value;
  return apart([&] {
    const ResourceDescription of = as_runtime(*resource);
    const TextureDescription how = as_runtime(*texture);
    return cudaCreateTextureObject(handle, &of, &how, view);
  });
}
LOCKSTEP_DRIVER Error cuSurfObjectCreate(std::uint64_t* handle, const DriverResource* resource) {
  if (!resource) return invalid_value;
  return apart([&] {
    const ResourceDescription of = as_runtime(*resource);
    return cudaCreateSurfaceObject(handle, &of);
  });
}

LOCKSTEP_DRIVER Error cuModuleGetTexRef(Reference** reference, LoadedModule* module,
                                        const char* name) {
  return find_reference(reference, module, name, false);
}
LOCKSTEP_DRIVER Error cuModuleGetSurfRef(Reference** reference, LoadedModule* module,
                                         const char* name) {
  return find_reference(reference, module, name, true);
}
/// Sets the array.  The flag says that the format is the array's, as is always the case here.
LOCKSTEP_DRIVER Error cuTexRefSetArray(Reference* reference, Array* array, unsigned) {
  return bind_array(reference, array);
}
LOCKSTEP_DRIVER Error cuSurfRefSetArray(Reference* reference, Array* array, unsigned) {
  return bind_array(reference, array);
}
LOCKSTEP_DRIVER Error cuTexRefGetArray(Array** array, const Reference* reference) {
  if (!array || !reference || !reference->is_bound ||
      reference->resource.type != ResourceDescription::array)
    return invalid_value;
  *array = reference->resource.resource.array;
  return success;
}
LOCKSTEP_DRIVER Error cuSurfRefGetArray(Array** array, const Reference* reference) {
  return cuTexRefGetArray(array, reference);
}
/// Texels may begin anywhere: there is no offset to add.
LOCKSTEP_DRIVER Error cuTexRefSetAddress_v2(std::size_t* offset, Reference* reference, void* memory,
                                            std::size_t bytes) {
  if (offset) *offset = 0;
  return change(reference, [&](Reference& of) {
    DriverResource::Memory& to = of.resource.resource.memory;
    of.resource.type = ResourceDescription::linear;
    of.is_bound = true;
    to = {memory, to.format, to.channels, bytes, 0, 0};
  });
}
LOCKSTEP_DRIVER Error cuTexRefSetAddress2D_v3(Reference* reference, const ArrayDescription* shape,
                                              void* memory, std::size_t pitch) {
  if (!shape) return invalid_value;
  return change(reference, [&](Reference& of) {
    of.resource.type = ResourceDescription::pitched;
    of.is_bound = true;
    of.resource.resource.memory = {memory,       shape->format, shape->channels,
                                   shape->width, shape->height, pitch};
  });
}
LOCKSTEP_DRIVER Error cuTexRefGetAddress_v2(void** memory, const Reference* reference) {
  if (!memory || !reference || !reference->is_bound ||
      reference->resource.type == ResourceDescription::array)
    return invalid_value;
  *memory = reference->resource.resource.memory.pointer;
  return success;
}
/// Sets the format of linear memory; arrays have a format of their own.
LOCKSTEP_DRIVER Error cuTexRefSetFormat(Reference* reference, int format, int channels) {
  return change(reference, [&](Reference& of) {
    if (of.is_bound && of.resource.type == ResourceDescription::array) return;
    of.resource.resource.memory.format = format;
    of.resource.resource.memory.channels = static_cast<unsigned>(channels);
  });
}
LOCKSTEP_DRIVER Error cuTexRefSetAddressMode(Reference* reference, int dimension, int mode) {
  if (dimension < 0 || dimension > 2) return invalid_value;
  return change(reference, [&](Reference& of) { of.texture.addressing[dimension] = mode; });
}
LOCKSTEP_DRIVER Error cuTexRefGetAddressMode(int* mode, const Reference* reference, int dimension) {
  if (!mode || !reference || dimension < 0 || dimension > 2) return invalid_value;
  *mode = reference->texture.addressing[dimension];
  return success;
}
LOCKSTEP_DRIVER Error cuTexRefSetFilterMode(Reference* reference, int mode) {
  return change(reference, [&](Reference& of) { of.texture.filter = mode; });
}
LOCKSTEP_DRIVER Error cuTexRefGetFilterMode(int* mode, const Reference* reference) {
  if (!mode || !reference) return invalid_value;
  *mode = reference->texture.filter;
  return success;
}
LOCKSTEP_DRIVER Error cuTexRefSetFlags(Reference* reference, unsigned flags) {
  return change(reference, [&](Reference& of) { of.texture.flags = flags; });
}
LOCKSTEP_DRIVER Error cuTexRefGetFlags(unsigned* flags, const Reference* reference) {
  if (!flags || !reference) return invalid_value;
  *flags = reference->texture.flags;
  return success;
}
LOCKSTEP_DRIVER Error cuTexRefSetBorderColor(Reference* reference, const float* colour) {
  if (!colour) return invalid_value;
  return change(reference,
                [&](Reference& of) { std::copy_n(colour, 4, std::begin(of.texture.border)); });
}

}  // namespace driver
}  // namespace lockstep::capture
