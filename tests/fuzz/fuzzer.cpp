#include <cstddef>
#include <cstdint>

#include "tests/fuzz/inputs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lockstep::LOCKSTEP_INPUT({reinterpret_cast<const char*>(data), size});
  return 0;
}
