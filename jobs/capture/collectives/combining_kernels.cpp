#include "jobs/capture/collectives/combining_kernels.hpp"

#include <fmt/format.h>

namespace lockstep::capture {
namespace {

/// How a type is kept in memory and in registers.
struct Form {
  const char* name;
  std::uint32_t bytes;
  const char *load, *store;  ///< types of the accesses
  const char* bank;          ///< class of the registers used for computing
  const char* arithmetic;    ///< type of the operations
};
constexpr Form forms[element_kinds] = {
    {"i8", 1, "s8", "u8", "r", "s32"},    {"u8", 1, "u8", "u8", "r", "u32"},
    {"i32", 4, "u32", "u32", "r", "s32"}, {"u32", 4, "u32", "u32", "r", "u32"},
    {"i64", 8, "u64", "u64", "d", "s64"}, {"u64", 8, "u64", "u64", "d", "u64"},
    {"f16", 2, "u16", "u16", "f", "f32"}, {"f32", 4, "f32", "f32", "f", "f32"},
    {"f64", 8, "f64", "f64", "g", "f64"}, {"bf16", 2, "u16", "u16", "f", "f32"}};
constexpr const char* reduction_names[reductions] = {"sum", "product", "maximum", "minimum",
                                                     "average"};

constexpr const char* begin = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry {}(.param .u64 to, .param .u64 one, .param .u64 other, .param .u64 count, .param .u32 divisor)
{{
	.reg .pred %p<4>;
	.reg .b16 %h<4>;
	.reg .b32 %r<16>;
	.reg .b64 %d<16>;
	.reg .f32 %f<4>;
	.reg .f64 %g<4>;
	ld.param.u64 %d10, [to];
	ld.param.u64 %d11, [one];
	ld.param.u64 %d12, [other];
	ld.param.u64 %d13, [count];
	ld.param.u32 %r10, [divisor];
	mov.u32 %r11, %ctaid.x;
	mov.u32 %r12, %ntid.x;
	mov.u32 %r13, %tid.x;
	cvt.u64.u32 %d14, %r13;
	mad.wide.u32 %d14, %r11, %r12, %d14;
	setp.ge.u64 %p1, %d14, %d13;
	@%p1 bra done;
	mul.lo.u64 %d14, %d14, {};
	cvta.to.global.u64 %d10, %d10;
	cvta.to.global.u64 %d11, %d11;
	cvta.to.global.u64 %d12, %d12;
	add.s64 %d10, %d10, %d14;
	add.s64 %d11, %d11, %d14;
	add.s64 %d12, %d12, %d14;
)";
constexpr const char* end = R"(done:
	ret;
}
)";

std::string load(ElementKind kind, const Form& form, int number, int address) {
  if (kind == ElementKind::f16)
    return fmt::format("\tld.global.u16 %h{0}, [%d{1}];\n\tcvt.f32.f16 %f{0}, %h{0};\n", number,
                       address);
  if (kind == ElementKind::bf16)
    return fmt::format(
        "\tld.global.u16 %r{0}, [%d{1}];\n\tshl.b32 %r{0}, %r{0}, 16;\n\tmov.b32 %f{0}, %r{0};\n",
        number, address);
  return fmt::format("\tld.global.{} %{}{}, [%d{}];\n", form.load, form.bank, number, address);
}

/// Rounds f32 to the nearest bf16, ties to even.
constexpr const char* store_bf16 = R"(	mov.b32 %r1, %f1;
	shr.u32 %r2, %r1, 16;
	and.b32 %r2, %r2, 1;
	add.u32 %r2, %r2, 32767;
	add.u32 %r1, %r1, %r2;
	shr.u32 %r1, %r1, 16;
	setp.nan.f32 %p2, %f1, %f1;
	selp.b32 %r1, 32767, %r1, %p2;
	st.global.u16 [%d10], %r1;
)";

std::string store(ElementKind kind, const Form& form) {
  if (kind == ElementKind::bf16) return store_bf16;
  if (kind == ElementKind::f16) return "\tcvt.rn.f16.f32 %h1, %f1;\n\tst.global.u16 [%d10], %h1;\n";
  return fmt::format("\tst.global.{} [%d10], %{}1;\n", form.store, form.bank);
}

std::string operation(const Form& form, Reduction reduction) {
  const bool is_float = form.arithmetic[0] == 'f';
  const std::string registers = fmt::format("%{0}1, %{0}1, %{0}2", form.bank);
  const char* word = is_float ? "add.rn" : "add";
  if (reduction == Reduction::product) word = is_float ? "mul.rn" : "mul.lo";
  if (reduction == Reduction::maximum) word = "max";
  if (reduction == Reduction::minimum) word = "min";
  return fmt::format("\t{}.{} {};\n", word, form.arithmetic, registers);
}

/// Divides the last sum by the number of GPUs.
std::string division(const Form& form) {
  const bool is_float = form.arithmetic[0] == 'f';
  std::string text = "\tsetp.eq.u32 %p3, %r10, 1;\n\t@%p3 bra sum;\n";
  if (is_float) text += fmt::format("\tcvt.rn.{}.u32 %{}2, %r10;\n", form.arithmetic, form.bank);
  if (form.bank[0] == 'd') text += "\tcvt.u64.u32 %d2, %r10;\n";
  if (form.bank[0] == 'r') text += "\tmov.u32 %r2, %r10;\n";
  return text + fmt::format("\tdiv{0}.{1} %{2}1, %{2}1, %{2}2;\nsum:\n", is_float ? ".rn" : "",
                            form.arithmetic, form.bank);
}

}  // namespace

std::uint32_t bytes_of(ElementKind kind) {
  return forms[static_cast<std::size_t>(kind)].bytes;
}

CombiningKernel combining_kernel(ElementKind kind, Reduction reduction) {
  const Form& form = forms[static_cast<std::size_t>(kind)];
  const std::string name = fmt::format(
      "lockstep_collective_{}_{}", reduction_names[static_cast<std::size_t>(reduction)], form.name);
  std::string text = fmt::format(begin, name, form.bytes);
  text += load(kind, form, 1, 11) + load(kind, form, 2, 12) + operation(form, reduction);
  if (reduction == Reduction::average) text += division(form);
  return {name, text + store(kind, form) + end};
}

CombiningKernel local_copy_kernel(std::uint32_t element_bytes) {
  const std::string name = fmt::format("lockstep_collective_copy_{}", element_bytes);
  const char* bank = element_bytes == 8 ? "d" : "r";
  return {name,
          fmt::format(begin, name, element_bytes) +
              fmt::format("\tld.global.u{0} %{1}1, [%d11];\n\tst.global.u{0} [%d10], %{1}1;\n",
                          8 * element_bytes, bank) +
              end};
}

}  // namespace lockstep::capture
