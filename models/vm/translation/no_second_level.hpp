#pragma once

#include <memory>

#include "models/vm/translation/translation.hpp"

namespace lockstep {

/// Makes the translation of a GPU without a second-level TLB.
std::unique_ptr<TranslationPath> make_no_second_level();

}  // namespace lockstep
