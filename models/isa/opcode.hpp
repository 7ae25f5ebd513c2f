#pragma once

#include <cstdint>

namespace lockstep::isa {

/// PTX base opcodes, then the ones that only lowering makes (the machine's own).
enum class Opcode : std::uint16_t {
  // integer and logic
  add,
  addc,
  sub,
  subc,
  mul,
  mad,
  madc,
  mul24,
  mad24,
  sad,
  div,
  rem,
  abs,
  neg,
  min,
  max,
  and_,
  or_,
  xor_,
  not_,
  cnot,
  lop3,
  shl,
  shr,
  shf,
  popc,
  clz,
  bfind,
  fns,
  brev,
  bfe,
  bfi,
  szext,
  bmsk,
  prmt,
  dp4a,
  dp2a,
  video,  ///< vadd ... vmad, vset
  video2,
  video4,  ///< two halves, four bytes: vadd4, ...; add.u16x2
  // floating point
  fma,
  rcp,
  sqrt,
  rsqrt,
  sin,
  cos,
  lg2,
  ex2,
  tanh,
  copysign,
  testp,
  // comparison and selection
  set,
  setp,
  selp,
  slct,
  // movement and conversion
  mov,
  mov_pack,
  mov_unpack,
  cvt,
  cvt_pack,
  cvt_fp8,
  cvta,
  isspacep,
  mapa,        ///< d = the place of a in the block of rank b of the cluster
  getctarank,  ///< d = the rank of the block that a lies in
  // memory
  ld,
  ldu,
  st,
  atom,
  red,
  prefetch,
  fence,
  cp_async,        ///< from global to shared memory, see families/async_copy.cpp
  cp_async_group,  ///< commits a group of them, or waits; `mode`: ir::CopyGroupStep
  bulk_copy,       ///< many bytes at once, see families/bulk_copy.cpp; `mode`: ir::BulkCopyStep
  bulk_group,      ///< commits a group of them, or waits; `mode`: ir::BulkGroupStep
  async_store,     ///< st.async, red.async: to a block of the cluster, see families/cluster.cpp
  mbarrier_wait,   ///< d = the phase of parity b at a is over; c: for how long; PhaseWaitMode
  ldmatrix,
  stmatrix,
  // warp
  shfl,
  vote,
  match,
  activemask,
  redux,
  elect,
  mma,         ///< and wmma.mma
  wgmma,       ///< of a warp group, see families/warpgroup.cpp
  wgmma_step,  ///< fence, commit or wait; `mode`: ir::WarpgroupStep
  movmatrix,
  // control
  bra,
  brx,
  call,
  ret,
  exit,
  trap,
  brkpt,
  bar,
  bar_warp,
  bar_cluster,  ///< `mode`: ir::ClusterBarrierStep
  nanosleep,
  setmaxnreg,  ///< `mode` 1: takes registers, 0: gives some back; `immediate`: how many it has then
  pmevent,
  griddepcontrol,  ///< `mode`: ir::GridDependencyStep
  nop,
  // made by the reader
  print,          ///< of vprintf, see ir::PrintStep
  stack_save,     ///< d = first byte of local memory that alloca has not given away
  stack_restore,  ///< that byte = a
  // made by the reader of texture and surface instructions, see semantics/families/texture.cc
  tex_index,     ///< texels that a coordinate means, and their weights
  tex_row,       ///< row of a slice, among the rows of all slices
  tex_address,   ///< where a texel is
  tex_decode,    ///< decodes its bytes
  tex_mix,       ///< of two or four texels, by their weights
  surf_address,  ///< where a byte of a surface is
  // made by lowering
  iadd3,         ///< d = a + b + c
  lea,           ///< d = (a << imm) + b
  mad_wide_add,  ///< d64 = a * b + c64 (mad.wide with folded operands)
  spill,
  fill,  ///< register to or from the thread's local memory
};

}  // namespace lockstep::isa
