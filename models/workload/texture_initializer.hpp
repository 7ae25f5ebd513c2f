/// Initial content `texture`: the header that the handle of a texture or surface points to, so that
/// the buffer's name as an argument of a launch, or its address in a .texref, is the handle.
///
/// The header holds the address of the texels; therefore the workload must state an address for the
/// buffer of texels.
#pragma once

#include "core/parameters/node.hpp"
#include "models/isa/semantics/texture_header.hpp"
#include "models/workload/expression.hpp"

namespace lockstep {

struct Buffer;
struct TextureKeys;

/// Returns the texture of `map` with texels in the buffer.  Throws UserError where they do not fit
/// into it, or where there is no such texture.
isa::TextureHeader read_texture(const TextureKeys& keys, const Node& map, const Buffer& texels,
                                const Variables& variables);

}  // namespace lockstep
