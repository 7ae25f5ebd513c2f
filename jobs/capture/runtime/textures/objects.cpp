/// Texture and surface objects: handles are addresses of headers in GPU memory, which are copied
/// there like any other data.
#include <map>
#include <mutex>
#include <vector>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/textures/headers.hpp"

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaMalloc(void** pointer, std::size_t bytes);
LOCKSTEP_EXPORT Error cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);

namespace {

struct Object {
  ResourceDescription resource;
  TextureDescription texture;
};

/// Places for headers, in pieces of GPU memory; a place that was given back is the next to be
/// taken.
class Objects {
 public:
  static Objects& get() {
    static auto* objects = new Objects;
    return *objects;
  }

  Error add(const isa::TextureHeader& header, const Object& object, std::uint64_t& handle) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      void* piece = nullptr;
      const Error error = cudaMalloc(&piece, headers_of_a_piece * sizeof header);
      if (error != success) return error;
      for (std::size_t i = headers_of_a_piece; i-- > 0;)
        free_.push_back(reinterpret_cast<std::uint64_t>(piece) + i * sizeof header);
    }
    handle = free_.back();
    const Error error =
        cudaMemcpy(reinterpret_cast<void*>(handle), &header, sizeof header, host_to_device);
    if (error != success) return error;
    free_.pop_back();
    objects_[handle] = object;
    return success;
  }
  bool remove(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    if (objects_.erase(handle) == 0) return false;
    free_.push_back(handle);
    return true;
  }
  const Object* find(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr std::size_t headers_of_a_piece = 64;
  std::mutex mutex_;
  std::vector<std::uint64_t> free_;
  std::map<std::uint64_t, Object> objects_;
};

Error resource_of(ResourceDescription* resource, std::uint64_t handle) {
  const Object* object = Objects::get().find(handle);
  if (!object || !resource) return noted(invalid_value);
  *resource = object->resource;
  return success;
}

}  // namespace

LOCKSTEP_EXPORT Error cudaCreateTextureObject(std::uint64_t* handle,
                                              const ResourceDescription* resource,
                                              const TextureDescription* texture, const void* view) {
  if (view) return unsupported("cudaCreateTextureObject with a resource view");
  if (!handle || !resource || !texture) return noted(invalid_value);
  isa::TextureHeader header;
  const Error error = describe_texture(*resource, *texture, header);
  return noted(error != success ? error
                                : Objects::get().add(header, {*resource, *texture}, *handle));
}
LOCKSTEP_EXPORT Error cudaDestroyTextureObject(std::uint64_t handle) {
  return Objects::get().remove(handle) ? success : noted(invalid_value);
}
LOCKSTEP_EXPORT Error cudaGetTextureObjectResourceDesc(ResourceDescription* resource,
                                                       std::uint64_t handle) {
  return resource_of(resource, handle);
}
LOCKSTEP_EXPORT Error cudaGetTextureObjectTextureDesc(TextureDescription* texture,
                                                      std::uint64_t handle) {
  const Object* object = Objects::get().find(handle);
  if (!object || !texture) return noted(invalid_value);
  *texture = object->texture;
  return success;
}

LOCKSTEP_EXPORT Error cudaCreateSurfaceObject(std::uint64_t* handle,
                                              const ResourceDescription* resource) {
  if (!handle || !resource || resource->type != ResourceDescription::array)
    return noted(invalid_value);
  isa::TextureHeader header;
  const Error error = describe_texels(*resource, header);
  return noted(error != success ? error : Objects::get().add(header, {*resource, {}}, *handle));
}
LOCKSTEP_EXPORT Error cudaDestroySurfaceObject(std::uint64_t handle) {
  return Objects::get().remove(handle) ? success : noted(invalid_value);
}
LOCKSTEP_EXPORT Error cudaGetSurfaceObjectResourceDesc(ResourceDescription* resource,
                                                       std::uint64_t handle) {
  return resource_of(resource, handle);
}

}  // namespace lockstep::capture
