#pragma once

#include <cstdint>

namespace lockstep::isa {

/// PTX base opcodes, then those of the machine, which only lowering makes.
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
  cp_async,        ///< copies from global to shared memory, see families/async_copy.cpp
  cp_async_group,  ///< commits a group of copies, or waits; `mode`: ir::CopyGroupStep
  bulk_copy,       ///< many bytes at once, see families/bulk_copy.cpp; `mode`: ir::BulkCopyStep
  bulk_group,      ///< commits a group of bulk stores, or waits; `mode`: ir::BulkGroupStep
  async_store,  ///< st.async, red.async: stores to a block of the cluster, see families/cluster.cpp
  mbarrier_wait,  ///< d = whether the phase of parity b at a is over; c: time limit; PhaseWaitMode
  ldmatrix,
  stmatrix,
  // warp
  shfl,
  vote,
  match,
  activemask,
  redux,
  elect,
  mma,         ///< mma and wmma.mma
  wgmma,       ///< product of a warp group, see families/warpgroup.cpp
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
  /// `mode` 1: takes registers, 0: gives some back; `immediate`: number that the warp has then.
  setmaxnreg,
  pmevent,
  griddepcontrol,  ///< `mode`: ir::GridDependencyStep
  nop,
  // made by the reader
  print,          ///< step of vprintf, see ir::PrintStep
  stack_save,     ///< d = first byte of local memory that alloca has not given away
  stack_restore,  ///< sets the byte that stack_save returns to a
  // made by the reader of texture and surface instructions, see semantics/families/texture.cc
  tex_index,     ///< texels that a coordinate means, and their weights
  tex_row,       ///< row of a slice, counted over all slices
  tex_address,   ///< address of a texel
  tex_decode,    ///< decodes the bytes of a texel
  tex_mix,       ///< mixes two or four texels by their weights
  surf_address,  ///< address of a byte of a surface
  // made by lowering
  iadd3,         ///< d = a + b + c
  lea,           ///< d = (a << imm) + b
  mad_wide_add,  ///< d64 = a * b + c64 (mad.wide with folded operands)
  spill,
  fill,  ///< moves between a register and the thread's local memory
};

}  // namespace lockstep::isa
