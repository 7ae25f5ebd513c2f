#include "models/isa/load.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {

void ptx_input(const std::string& bytes) {
  refused_well([&] { isa::load_module_text(bytes, "fuzz.ptx"); });
}

}  // namespace lockstep
