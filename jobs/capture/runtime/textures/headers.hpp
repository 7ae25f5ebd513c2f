/// Headers to which handles of textures and surfaces point, made from the descriptions of programs.
#pragma once

#include "jobs/capture/runtime/textures/arrays.hpp"
#include "models/isa/semantics/texture_header.hpp"

namespace lockstep::capture {

/// cudaResourceDesc.
struct ResourceDescription {
  enum Type : int { array, mipmapped_array, linear, pitched };
  int type = array;
  struct Memory {
    void* pointer;
    ChannelFormat format{};
    std::size_t width;  ///< width of linear memory in bytes; otherwise in texels
    std::size_t height, pitch;
  };
  union {
    Memory memory;
    Array* array;
#if LOCKSTEP_CUDA_MAJOR >= 13
    int reserved[32];
  } resource{.reserved = {}};
  unsigned flags = 0;
};
static_assert(sizeof(ResourceDescription) == 144);
#else
  } resource{.memory = {}};
};
static_assert(sizeof(ResourceDescription) == 64);
#endif

/// cudaTextureDesc.
struct TextureDescription {
  int addressing[3] = {};
  int filter = 0;            ///< 1: linear
  int normalized_reads = 0;  ///< 1: integers become fractions
  int srgb = 0;
  float border[4] = {};
  int normalized_coordinates = 0;
  unsigned anisotropy = 0;
  int level_filter = 0;
  float level_bias = 0, least_level = 0, largest_level = 0;
  int no_trilinear_shortcut = 0;
#if LOCKSTEP_CUDA_MAJOR >= 12
  int seamless_cube = 0;
#endif
};
static_assert(sizeof(TextureDescription) == (LOCKSTEP_CUDA_MAJOR >= 12 ? 72 : 68));

/// Describes the texels alone, which is all that a surface needs.
Error describe_texels(const ResourceDescription& resource, isa::TextureHeader& header);
/// Describes a texture. Returns an error for kinds that the programming guide does not have.
Error describe_texture(const ResourceDescription& resource, const TextureDescription& texture,
                       isa::TextureHeader& header);

}  // namespace lockstep::capture
