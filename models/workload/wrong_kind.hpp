#pragma once

#include <string>

#include "core/parameters/node.hpp"

namespace lockstep {

/// Throws UserError at `where` if the file's name shows another format than YAML: CUDA, PTX, an
/// output, a checkpoint.
void refuse_other_format(const std::string& file, const std::string& where);

/// Throws UserError if the document is of another kind than `wanted`: scenario, workload, gpu or
/// host.
void refuse_other_kind(const Node& document, const std::string& wanted);

}  // namespace lockstep
