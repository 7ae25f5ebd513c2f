#pragma once

// Every shipped workload with its reference, so that one test can drive them all.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/references/buffers.hpp"
#include "tests/references/clusters/cluster_histogram.hpp"
#include "tests/references/clusters/cluster_reduce.hpp"
#include "tests/references/dynamic_programming/nw.hpp"
#include "tests/references/dynamic_programming/nw_two.hpp"
#include "tests/references/dynamic_programming/pathfinder.hpp"
#include "tests/references/elementwise/black_scholes.hpp"
#include "tests/references/elementwise/managed_add.hpp"
#include "tests/references/elementwise/saxpy.hpp"
#include "tests/references/elementwise/scale_bulk.hpp"
#include "tests/references/elementwise/triad.hpp"
#include "tests/references/elementwise/vector_add.hpp"
#include "tests/references/graphs/bfs.hpp"
#include "tests/references/graphs/bfs_persistent.hpp"
#include "tests/references/graphs/bfs_two.hpp"
#include "tests/references/graphs/mst.hpp"
#include "tests/references/graphs/sssp.hpp"
#include "tests/references/graphs/survey_propagation.hpp"
#include "tests/references/heap/hash_table.hpp"
#include "tests/references/heap/linked_lists.hpp"
#include "tests/references/heap/quadtree.hpp"
#include "tests/references/histograms/histo.hpp"
#include "tests/references/histograms/histogram.hpp"
#include "tests/references/histograms/histogram1024.hpp"
#include "tests/references/histograms/inverted_index.hpp"
#include "tests/references/histograms/page_view_count.hpp"
#include "tests/references/histograms/page_view_rank.hpp"
#include "tests/references/histograms/tpacf.hpp"
#include "tests/references/images/gicov.hpp"
#include "tests/references/images/heartwall.hpp"
#include "tests/references/images/sad.hpp"
#include "tests/references/images/srad_reduce.hpp"
#include "tests/references/learning/backprop.hpp"
#include "tests/references/learning/kmeans.hpp"
#include "tests/references/learning/streamcluster.hpp"
#include "tests/references/linear_algebra/gemm_mma.hpp"
#include "tests/references/linear_algebra/gemm_wmma.hpp"
#include "tests/references/linear_algebra/lud.hpp"
#include "tests/references/linear_algebra/reduction.hpp"
#include "tests/references/linear_algebra/scalar_product.hpp"
#include "tests/references/linear_algebra/scan.hpp"
#include "tests/references/linear_algebra/sgemm.hpp"
#include "tests/references/linear_algebra/spmv.hpp"
#include "tests/references/memory/bandwidth.hpp"
#include "tests/references/memory/frames.hpp"
#include "tests/references/memory/invert_mapping.hpp"
#include "tests/references/memory/persistent.hpp"
#include "tests/references/memory/pointer_chase.hpp"
#include "tests/references/memory/transpose.hpp"
#include "tests/references/memory/urgent.hpp"
#include "tests/references/networks/attention_decode.hpp"
#include "tests/references/networks/flash_attention.hpp"
#include "tests/references/networks/flash_attention_hopper.hpp"
#include "tests/references/networks/fp8_gemm.hpp"
#include "tests/references/networks/gelu.hpp"
#include "tests/references/networks/layer_norm.hpp"
#include "tests/references/networks/softmax.hpp"
#include "tests/references/networks/transformer_block.hpp"
#include "tests/references/particles/barnes_hut.hpp"
#include "tests/references/particles/cutcp.hpp"
#include "tests/references/search/btree.hpp"
#include "tests/references/search/btree_range.hpp"
#include "tests/references/search/nearest_neighbour.hpp"
#include "tests/references/search/similarity_score.hpp"
#include "tests/references/several_gpus/data_parallel_step.hpp"
#include "tests/references/several_gpus/direct_kernel.hpp"
#include "tests/references/several_gpus/halo_exchange.hpp"
#include "tests/references/several_gpus/managed_graph.hpp"
#include "tests/references/several_gpus/peer_gather.hpp"
#include "tests/references/several_gpus/pipeline_stages.hpp"
#include "tests/references/several_gpus/ring_all_reduce.hpp"
#include "tests/references/several_gpus/ring_kernel.hpp"
#include "tests/references/several_gpus/tree_kernel.hpp"
#include "tests/references/signals/chirp.hpp"
#include "tests/references/signals/convolution_separable.hpp"
#include "tests/references/signals/dwt2d.hpp"
#include "tests/references/signals/fft.hpp"
#include "tests/references/signals/fwt.hpp"
#include "tests/references/signals/mri_gridding.hpp"
#include "tests/references/signals/mri_q.hpp"
#include "tests/references/stencils/cfd.hpp"
#include "tests/references/stencils/hotspot.hpp"
#include "tests/references/stencils/lbm.hpp"
#include "tests/references/stencils/srad.hpp"
#include "tests/references/stencils/stencil2d.hpp"
#include "tests/references/stencils/stencil3d.hpp"

namespace lockstep::reference {

struct Reference {
  std::string workload;  ///< configs/workloads/<workload>.yaml
  void (*run)(const Parameters&, Buffers&);
  /// Float buffers that agree only within() a tolerance; all other buffers agree to the bit, but
  /// for those that the workload declares `check: false`.
  std::map<std::string, double> tolerance{};
};

/// Relative above 1, absolute below: sums of sines may cancel.
inline bool within(double tolerance, double expected, double actual) {
  return std::abs(expected - actual) <= tolerance * std::max(1.0, std::abs(expected));
}

inline std::vector<Reference> all() {
  return {
      {"attention_decode", attention_decode::run, {{"out", 1e-5}}},
      {"backprop", backprop::run, {{"hidden", 1e-5}, {"weight", 1e-5}, {"change", 1e-5}}},
      {"bandwidth", bandwidth::run},
      {"flash_attention",
       flash_attention::run,
       {{"out", 3e-3},
        {"logarithms", 1e-5},
        {"sums", 1e-2},
        {"d_q", 1e-2},
        {"d_k", 1e-2},
        {"d_v", 1e-2}}},
      {"flash_attention_hopper",
       flash_attention_hopper::run,
       {{"out", 3e-3}, {"logarithms", 1e-5}}},
      {"fp8_gemm", fp8_gemm::run},
      {"frames", frames::run},
      {"barnes_hut", barnes_hut::run, {{"force", 1e-4}}},
      {"barnes_hut_warps", barnes_hut::run_by_warps, {{"force", 1e-4}}},
      {"bfs", bfs::run},
      {"bfs_persistent", bfs_persistent::run},
      {"bfs_two", bfs_two::run},
      {"black_scholes", black_scholes::run, {{"call", 1e-4}, {"put", 1e-4}}},
      {"btree", btree::run},
      {"btree_range", btree_range::run},
      {"cfd", cfd::run, {{"quantity", 1e-6}, {"old", 1e-6}, {"factor", 1e-6}, {"flux", 1e-6}}},
      {"chirp", chirp::run, {{"in_phase", 4e-7}, {"quadrature", 4e-7}}},
      {"cluster_histogram", cluster_histogram::run},
      {"cluster_reduce", cluster_reduce::run, {{"totals", 1e-5}, {"shares", 1e-6}}},
      {"convolution_separable", convolution_separable::run},
      {"cutcp", cutcp::run, {{"potential", 1e-5}}},
      {"dram_latency", pointer_chase::run},
      {"direct_kernel", direct_kernel::run},
      {"dwt2d", dwt2d::run},
      {"fft", fft::run, {{"root", 4e-7}, {"out", 1e-4}}},
      {"fwt", fwt::run},
      {"gelu", gelu::run, {{"out", 2e-3}, {"d_in", 4e-3}}},
      {"gemm_mma", gemm_mma::run<isa::Type::f16, isa::Type::f16>, {{"c", 1e-3}}},
      {"gemm_mma_bf16", gemm_mma::run<isa::Type::bf16, isa::Type::bf16>, {{"c", 8e-3}}},
      {"gemm_mma_s8", gemm_mma::run<isa::Type::s8, isa::Type::s32>},
      {"gemm_mma_tf32", gemm_mma::run<isa::Type::f32, isa::Type::f32, true>, {{"c", 1e-5}}},
      {"gemm_tma", gemm_mma::run<isa::Type::f16, isa::Type::f32>, {{"c", 1e-5}}},
      {"gemm_tma_wgmma", gemm_mma::run<isa::Type::f16, isa::Type::f16>, {{"c", 1e-3}}},
      {"gemm_tma_wgmma_pairs", gemm_mma::run<isa::Type::f16, isa::Type::f16>, {{"c", 1e-3}}},
      {"gemm_tma_wgmma_tf32", gemm_mma::run<isa::Type::f32, isa::Type::f32, true>, {{"c", 1e-5}}},
      {"gemm_wgmma", gemm_mma::run<isa::Type::f16, isa::Type::f16>, {{"c", 1e-3}}},
      {"gemm_wmma", gemm_wmma::run, {{"c", 1e-5}}},
      {"gicov", gicov::run, {{"cosine", 4e-7}, {"sine", 4e-7}, {"score", 1e-5}, {"dilated", 1e-5}}},
      {"data_parallel_step", data_parallel_step::run},
      {"halo_exchange", halo_exchange::run},
      {"hash_table", hash_table::run},
      {"heartwall", heartwall::run},
      {"histo", histo::run},
      {"histogram", histogram::run},
      {"histogram1024", histogram1024::run},
      {"hotspot", hotspot::run},
      {"invert_mapping", invert_mapping::run},
      {"inverted_index", inverted_index::run},
      {"inverted_index_persistent", inverted_index::run},
      {"kmeans", kmeans::run},
      {"l1_latency", pointer_chase::run},
      {"l2_latency", pointer_chase::run},
      {"layer_norm",
       layer_norm::run,
       {{"out", 1e-5}, {"moments", 1e-5}, {"d_in", 1e-5}, {"d_gain", 1e-4}, {"d_bias", 1e-5}}},
      {"lbm", lbm::run, {{"f", 1e-6}, {"next", 1e-6}}},
      {"linked_lists", linked_lists::run},
      {"lud", lud::run},
      {"managed_add", managed_add::run},
      {"managed_graph", managed_graph::run},
      {"mri_gridding", mri_gridding::run, {{"grid", 1e-5}}},
      {"mri_q", mri_q::run, {{"q", 5e-5}}},
      {"mst", mst::run},
      {"nearest_neighbour", nearest_neighbour::run},
      {"nw", nw::run},
      {"nw_two", nw_two::run},
      {"page_view_count", page_view_count::run},
      {"page_view_count_persistent", page_view_count::run},
      {"page_view_rank", page_view_rank::run},
      {"pathfinder", pathfinder::run},
      {"peer_gather", peer_gather::run},
      {"persistent", persistent::run},
      {"pointer_chase", pointer_chase::run},
      {"quadtree", quadtree::run},
      {"reduction", reduction::run},
      {"pipeline_stages", pipeline_stages::run},
      {"ring_all_reduce", ring_all_reduce::run},
      {"ring_kernel", ring_kernel::run},
      {"sad", sad::run},
      {"saxpy", saxpy::run},
      {"scalar_product", scalar_product::run, {{"product", 1e-5}}},
      {"scale_bulk", scale_bulk::run},
      {"scan", scan::run},
      {"sgemm", sgemm::run},
      {"sgemm_async", sgemm::run},
      {"similarity_score", similarity_score::run},
      {"softmax", softmax::run, {{"out", 1e-5}, {"d_in", 1e-5}}},
      {"spmv", spmv::run},
      {"srad", srad::run},
      {"srad_reduce", srad_reduce::run, {{"sum", 1e-5}, {"squares", 1e-5}}},
      {"sssp", sssp::run},
      {"stencil2d", stencil2d::run},
      {"stencil3d", stencil3d::run},
      {"stencil_coarsened", stencil3d::run},
      {"streamcluster", streamcluster::run, {{"saved", 1e-4}}},
      {"survey_propagation", survey_propagation::run},
      {"survey_propagation_persistent", survey_propagation::run},
      {"tpacf", tpacf::run},
      {"transformer_block",
       transformer_block::run,
       {{"x", 1e-2}, {"normal", 1e-2}, {"qkv", 1e-2}, {"attended", 1e-2}, {"hidden", 1e-2}}},
      {"transpose", transpose::run},
      {"tree_kernel", tree_kernel::run},
      {"triad", triad::run},
      {"urgent", urgent::run},
      {"vector_add", vector_add::run},
  };
}

}  // namespace lockstep::reference
