#include "models/isa/reader/names/names.hpp"

#include <utility>

namespace lockstep::isa {
namespace {

constexpr std::pair<std::string_view, Type> type_names[] = {
    {"pred", Type::pred},     {"b8", Type::b8},   {"b16", Type::b16},     {"b32", Type::b32},
    {"b64", Type::b64},       {"u8", Type::u8},   {"u16", Type::u16},     {"u32", Type::u32},
    {"u64", Type::u64},       {"s8", Type::s8},   {"s16", Type::s16},     {"s32", Type::s32},
    {"s64", Type::s64},       {"f16", Type::f16}, {"f16x2", Type::f16x2}, {"bf16", Type::bf16},
    {"bf16x2", Type::bf16x2}, {"f32", Type::f32}, {"f64", Type::f64},
};

using S = ir::SpecialRegister;
constexpr std::pair<std::string_view, S> specials[] = {
    {"%tid.x", S::tid_x},
    {"%tid.y", S::tid_y},
    {"%tid.z", S::tid_z},
    {"%ntid.x", S::ntid_x},
    {"%ntid.y", S::ntid_y},
    {"%ntid.z", S::ntid_z},
    {"%ctaid.x", S::ctaid_x},
    {"%ctaid.y", S::ctaid_y},
    {"%ctaid.z", S::ctaid_z},
    {"%nctaid.x", S::nctaid_x},
    {"%nctaid.y", S::nctaid_y},
    {"%nctaid.z", S::nctaid_z},
    {"%laneid", S::laneid},
    {"%warpid", S::warpid},
    {"%nwarpid", S::nwarpid},
    {"%smid", S::smid},
    {"%nsmid", S::nsmid},
    {"%gridid", S::gridid},
    {"%lanemask_eq", S::lanemask_eq},
    {"%lanemask_le", S::lanemask_le},
    {"%lanemask_lt", S::lanemask_lt},
    {"%lanemask_ge", S::lanemask_ge},
    {"%lanemask_gt", S::lanemask_gt},
    {"%clock", S::clock},
    {"%clock_hi", S::clock_hi},
    {"%clock64", S::clock64},
    {"%globaltimer", S::globaltimer},
    {"%globaltimer_lo", S::globaltimer_lo},
    {"%globaltimer_hi", S::globaltimer_hi},
    {"%dynamic_smem_size", S::dynamic_smem_size},
    {"%total_smem_size", S::total_smem_size},
    {"%aggr_smem_size", S::aggr_smem_size},
    {"%clusterid.x", S::clusterid_x},
    {"%clusterid.y", S::clusterid_y},
    {"%clusterid.z", S::clusterid_z},
    {"%nclusterid.x", S::nclusterid_x},
    {"%nclusterid.y", S::nclusterid_y},
    {"%nclusterid.z", S::nclusterid_z},
    {"%cluster_ctaid.x", S::cluster_ctaid_x},
    {"%cluster_ctaid.y", S::cluster_ctaid_y},
    {"%cluster_ctaid.z", S::cluster_ctaid_z},
    {"%cluster_nctaid.x", S::cluster_nctaid_x},
    {"%cluster_nctaid.y", S::cluster_nctaid_y},
    {"%cluster_nctaid.z", S::cluster_nctaid_z},
    {"%cluster_ctarank", S::cluster_ctarank},
    {"%cluster_nctarank", S::cluster_nctarank},
    {"WARP_SZ", S::warp_sz},
};

}  // namespace

Type type_named(std::string_view name) {
  for (const auto& [text, type] : type_names)
    if (text == name) return type;
  return Type::none;
}

std::optional<ir::SpecialRegister> special_register_named(std::string_view name) {
  for (const auto& [text, special] : specials)
    if (text == name) return special;
  return std::nullopt;
}

Type type_of(ir::SpecialRegister special) {
  return special == S::clock64 || special == S::globaltimer || special == S::gridid ? Type::u64
                                                                                    : Type::u32;
}

}  // namespace lockstep::isa
