#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep {

static isa::Module module_of(const std::string& body, const std::string& declarations,
                             const std::string& variables, const isa::LoweringOptions& options) {
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
)" + variables + R"(
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{
  .reg .pred %p<10>;
  .reg .b32 %r<100>;
  .reg .b64 %rd<100>;
  .reg .f32 %f<100>;
  .reg .f64 %fd<100>;
)" + declarations + R"(
  ld.param.u64 %rd0, [p0];
  ld.param.u64 %rd1, [p1];
  ld.param.u32 %r0, [p2];
)" + body + R"(
  ret;
}
)";
  return isa::load_module_text(text, "test.ptx", options);
}

isa::Module kernel_of(const std::string& body, const std::string& declarations,
                      const std::string& variables, isa::MatrixArithmetic matrices) {
  isa::LoweringOptions options = isa::LoweringOptions::none();
  options.matrices = matrices;
  return module_of(body, declarations, variables, options);
}

isa::Module kernel_with_points(const std::string& body, const std::string& declarations) {
  isa::LoweringOptions options = isa::LoweringOptions::none();
  options.preemption_points = true;
  return module_of(body, declarations, "", options);
}

std::string times(unsigned n, const std::string& text) {
  std::string result;
  for (unsigned i = 0; i < n; ++i) result += text;
  return result;
}

}  // namespace lockstep
