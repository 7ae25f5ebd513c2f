/// Source: PTX ISA 8.x, section 9.7 "Instructions".  Simplified: the advice shows only the frequent
/// ones of the modifiers that many instructions have ({.ftz}, {.sat}, cache hints).
#include "models/isa/reader/advice/instruction_forms.hpp"

#include <algorithm>

#include "core/parameters/suggest.hpp"

namespace lockstep::isa {
namespace {

struct Form {
  std::string_view name, text;
};

constexpr Form forms[] = {
    {"abs", "abs{.ftz}.type d, a"},
    {"activemask", "activemask.b32 d"},
    {"add", "add{.rnd}{.ftz}{.sat}{.cc}.type d, a, b"},
    {"addc", "addc{.cc}.type d, a, b"},
    {"alloca", "alloca.u64 pointer, size{, alignment}"},
    {"and", "and.type d, a, b with .pred, .b16, .b32 or .b64"},
    {"applypriority", "applypriority{.global}.L2::evict_normal [a], 128"},
    {"atom", "atom{.order}{.scope}{.space}.operation.type d, [a], b{, c}"},
    {"bar", "bar{.warp}.sync a{, threads}"},
    {"barrier", "barrier{.cta}.sync{.aligned} a{, threads}; also barrier.cluster.arrive and .wait"},
    {"bfe", "bfe.type d, a, position, length with .u32, .s32, .u64 or .s64"},
    {"bfi", "bfi.type d, a, b, position, length with .b32 or .b64"},
    {"bfind", "bfind{.shiftamt}.type d, a"},
    {"bmsk", "bmsk.clamp.b32 d, position, length"},
    {"bra", "bra{.uni} label"},
    {"brev", "brev.type d, a with .b32 or .b64"},
    {"brkpt", "brkpt"},
    {"brx", "brx.idx{.uni} index, list of .branchtargets"},
    {"call", "call{.uni} (result), function, (arguments)"},
    {"clz", "clz.type d, a with .b32 or .b64"},
    {"cnot", "cnot.type d, a with .b16, .b32 or .b64"},
    {"copysign", "copysign.type d, a, b with .f32 or .f64"},
    {"cos", "cos.approx{.ftz}.f32 d, a"},
    {"cp",
     "cp.async.ca.shared.global [to], [from], bytes{, bytes_read} with .ca or .cg, "
     "cp.async.commit_group, cp.async.wait_group n or cp.async.wait_all"},
    {"createpolicy",
     "createpolicy.fractional.L2::priority.b64 d{, fraction}; also .range and .cvt"},
    {"cvt", "cvt{.rnd}{.ftz}{.sat}.to_type.from_type d, a"},
    {"cvta", "cvta{.to}.space.u64 d, a"},
    {"discard", "discard{.global}.L2 [a], 128"},
    {"div", "div{.rnd}{.ftz}.type d, a, b"},
    {"dp2a", "dp2a.lo.type.type d, a, b, c with .u32 or .s32"},
    {"dp4a", "dp4a.type.type d, a, b, c with .u32 or .s32"},
    {"elect", "elect.sync d|p, mask"},
    {"ex2", "ex2.approx{.ftz}.type d, a"},
    {"exit", "exit"},
    {"fence", "fence{.sc, .acq_rel}.scope with .cta, .cluster, .gpu or .sys"},
    {"fma", "fma.rnd{.ftz}{.sat}.type d, a, b, c"},
    {"fns", "fns.b32 d, mask, base, offset"},
    {"getctarank", "getctarank{.shared::cluster}.type d, a with .u32 or .u64"},
    {"griddepcontrol", "griddepcontrol.wait; also .launch_dependents"},
    {"isspacep", "isspacep.space p, a"},
    {"ld", "ld{.order}{.scope}{.space}{.vec}.type d, [a] with .v2 or .v4"},
    {"ldmatrix", "ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 {d, e, f, g}, [a]"},
    {"ldu", "ldu.global{.vec}.type d, [a]"},
    {"lg2", "lg2.approx{.ftz}.f32 d, a"},
    {"lop3", "lop3.b32 d, a, b, c, table with a table from 0 to 255"},
    {"mad", "mad.lo.type d, a, b, c with .lo, .hi or .wide; mad.rnd of floating point"},
    {"mad24", "mad24.lo.type d, a, b, c with .lo or .hi, .u32 or .s32"},
    {"madc", "madc.lo{.cc}.type d, a, b, c with .lo or .hi"},
    {"mapa", "mapa{.shared::cluster}.type d, a, rank with .u32 or .u64"},
    {"match", "match.any.sync.type d, a, mask"},
    {"max", "max{.ftz}{.NaN}.type d, a, b"},
    {"mbarrier",
     "mbarrier.init.shared.b64 [a], count; also .arrive, .test_wait, .try_wait, .inval, "
     ".expect_tx, .complete_tx"},
    {"membar", "membar.scope with .cta, .gl or .sys"},
    {"min", "min{.ftz}{.NaN}.type d, a, b"},
    {"mma", "mma.sync.aligned.m16n8k16.row.col.d_type.a_type.b_type.c_type {d}, {a}, {b}, {c}"},
    {"mov", "mov.type d, a; also mov.type {d, e}, a and mov.type d, {a, b}"},
    {"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 d, a"},
    {"mul", "mul.lo.type d, a, b with .lo, .hi or .wide; mul{.rnd}.type of floating point"},
    {"mul24", "mul24.lo.type d, a, b with .lo or .hi, .u32 or .s32"},
    {"nanosleep", "nanosleep.u32 t"},
    {"neg", "neg{.ftz}.type d, a"},
    {"not", "not.type d, a with .pred, .b16, .b32 or .b64"},
    {"or", "or.type d, a, b with .pred, .b16, .b32 or .b64"},
    {"pmevent", "pmevent a"},
    {"popc", "popc.type d, a with .b32 or .b64"},
    {"prefetch", "prefetch{.space}.L1 [a] with .L1 or .L2"},
    {"prefetchu", "prefetchu.L1 [a]"},
    {"print", "call vprintf: print belongs to its body"},
    {"prmt", "prmt.b32{.mode} d, a, b, selection"},
    {"rcp", "rcp{.approx}{.rnd}{.ftz}.type d, a"},
    {"red", "red{.order}{.scope}{.space}.operation.type [a], b; also red.async"},
    {"redux", "redux.sync.operation.type d, a, mask"},
    {"rem", "rem.type d, a, b"},
    {"ret", "ret{.uni}"},
    {"rsqrt", "rsqrt.approx{.ftz}.type d, a"},
    {"sad", "sad.type d, a, b, c"},
    {"selp", "selp.type d, a, b, p"},
    {"set", "set.comparison{.ftz}.to_type.type d, a, b"},
    {"setmaxnreg", "setmaxnreg.dec.sync.aligned.u32 n with .dec or .inc"},
    {"setp", "setp.comparison{.ftz}.type p, a, b; setp.comparison.and.type p, a, b, q"},
    {"shf", "shf.l.clamp.b32 d, a, b, c with .l or .r, .clamp or .wrap"},
    {"shfl", "shfl.sync.mode.b32 d{|p}, a, b, c, mask with .up, .down, .bfly or .idx"},
    {"shl", "shl.type d, a, b with .b16, .b32 or .b64"},
    {"shr", "shr.type d, a, b"},
    {"sin", "sin.approx{.ftz}.f32 d, a"},
    {"slct", "slct{.ftz}.type.s32 d, a, b, c with .s32 or .f32 for c"},
    {"sqrt", "sqrt{.approx}{.rnd}{.ftz}.type d, a"},
    {"st", "st{.order}{.scope}{.space}{.vec}.type [a], b with .v2 or .v4; also st.async"},
    {"stackrestore", "stackrestore.u64 a"},
    {"stacksave", "stacksave.u64 d"},
    {"stmatrix", "stmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 [a], {b, c, d, e}"},
    {"sub", "sub{.rnd}{.ftz}{.sat}{.cc}.type d, a, b"},
    {"subc", "subc{.cc}.type d, a, b"},
    {"suld",
     "suld.b.geometry{.vec}.type{.trap} d, [surface, {x, y}] with .1d, .2d, .3d, .a1d or .a2d"},
    {"suq", "suq.query.b32 d, [surface] with .width, .height or .depth"},
    {"sust",
     "sust.b.geometry{.vec}.type{.trap} [surface, {x, y}], b with .1d, .2d, .3d, .a1d or .a2d"},
    {"szext", "szext.clamp.type d, a, b with .u32 or .s32"},
    {"tanh", "tanh.approx.type d, a"},
    {"tensormap",
     "tensormap.replace.tile.field.space.b1024.type [map], {number,} value; also .cp_fenceproxy"},
    {"testp",
     "testp.test.type p, a with .finite, .infinite, .number, .notanumber, .normal, .subnormal"},
    {"tex",
     "tex.geometry.v4.type.type {d, e, f, g}, [texture, {x, y}] with .1d, .2d, .3d, .a1d or .a2d"},
    {"trap", "trap"},
    {"txq", "txq.query.b32 d, [texture] with .width, .height or .depth"},
    {"vabsdiff", "vabsdiff.type.type.type{.sat} d, a{.part}, b{.part}"},
    {"vabsdiff2", "vabsdiff2.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vabsdiff4", "vabsdiff4.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vadd", "vadd.type.type.type{.sat} d, a{.part}, b{.part}"},
    {"vadd2", "vadd2.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vadd4", "vadd4.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vavrg2", "vavrg2.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vavrg4", "vavrg4.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vmad", "vmad.type.type.type{.sat} d, a{.part}, b{.part}, c"},
    {"vmax", "vmax.type.type.type{.sat} d, a{.part}, b{.part}"},
    {"vmax2", "vmax2.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vmax4", "vmax4.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vmin", "vmin.type.type.type{.sat} d, a{.part}, b{.part}"},
    {"vmin2", "vmin2.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vmin4", "vmin4.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vote", "vote.sync.mode.type d, p, mask with .all, .any, .uni or .ballot"},
    {"vset", "vset.type.type.comparison d, a{.part}, b{.part}"},
    {"vset2", "vset2.type.type.comparison d{.parts}, a{.parts}, b{.parts}, c"},
    {"vset4", "vset4.type.type.comparison d{.parts}, a{.parts}, b{.parts}, c"},
    {"vshl", "vshl.type.type.u32.clamp d, a{.part}, b{.part} with .clamp or .wrap"},
    {"vshr", "vshr.type.type.u32.clamp d, a{.part}, b{.part} with .clamp or .wrap"},
    {"vsub", "vsub.type.type.type{.sat} d, a{.part}, b{.part}"},
    {"vsub2", "vsub2.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"vsub4", "vsub4.type.type.type{.sat} d{.parts}, a{.parts}, b{.parts}, c"},
    {"wgmma",
     "wgmma.mma_async.sync.aligned.m64n128k16.d_type.a_type.b_type {d}, a, b, scale-d, ...; also "
     ".fence, .commit_group, .wait_group"},
    {"wmma",
     "wmma.mma.sync.aligned.row.col.m16n16k16.d_type.c_type {d}, {a}, {b}, {c}; also .load, "
     ".store"},
    {"xor", "xor.type d, a, b with .pred, .b16, .b32 or .b64"},
};

/// Instructions that no part of the machine executes, by the beginnings of their names, each with a
/// replacement.
constexpr Form not_modelled[] = {
    {"clusterlaunchcontrol", "it belongs to sm_100: compile for sm_90a"},
    {"multimem", "several GPUs are not modelled in this release: address each memory with ld, st"},
    {"sured", "reductions of surfaces are not modelled in this release: use red on a buffer"},
    {"tcgen05",
     "matrix units of sm_100 are not modelled in this release: compile for sm_80, which has "
     "mma.sync"},
    {"tld4", "gathers are not modelled in this release: fetch each texel with tex"},
};

/// Modifiers of features that no part of the machine has.
constexpr Form modifiers_not_modelled[] = {
    {"async", "asynchronous accesses are not modelled in this release: use ld, st and red"},
    {"bulk", "asynchronous accesses are not modelled in this release: use ld, st and red"},
    {"f32x2", "pairs of f32 are not modelled in this release: compute each with .f32"},
    {"oob", "products without what a tensor map has filled are not modelled in this release"},
    {"pack", "packing is not modelled in this release: convert each value, then use prmt or bfi"},
    {"rs", "stochastic rounding is not modelled in this release: round with .rn"},
    {"xorsign", "compute the sign with xor, and the rest with .abs of each operand"},
};

template <std::size_t n>
std::string_view find(const Form (&table)[n], std::string_view name) {
  const Form* entry =
      std::lower_bound(std::begin(table), std::end(table), name,
                       [](const Form& form, std::string_view word) { return form.name < word; });
  return entry != std::end(table) && entry->name == name ? entry->text : "";
}

}  // namespace

std::string_view form_of(std::string_view name) {
  return find(forms, name);
}

std::vector<std::string> instruction_names() {
  std::vector<std::string> names;
  for (const Form& form : forms) names.emplace_back(form.name);
  return names;
}

std::string modifier_advice(const std::string& modifier) {
  return std::string(find(modifiers_not_modelled, modifier));
}

std::string instruction_advice(const std::string& name) {
  if (const std::string_view form = form_of(name); !form.empty())
    return "write it as " + std::string(form);
  if (const std::string_view instead = find(not_modelled, name); !instead.empty())
    return std::string(instead);
  const std::string meant = nearest(name, instruction_names());
  if (!meant.empty()) return "did you mean \"" + meant + "\"? It is " + std::string(form_of(meant));
  return "see the instructions of PTX ISA 8; what is not modelled stands in docs/workloads.md";
}

}  // namespace lockstep::isa
