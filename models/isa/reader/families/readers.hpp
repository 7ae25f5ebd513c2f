#pragma once

#include "models/isa/reader/families/arithmetic.hpp"
#include "models/isa/reader/families/async_copy.hpp"
#include "models/isa/reader/families/atomics.hpp"
#include "models/isa/reader/families/cluster.hpp"
#include "models/isa/reader/families/control.hpp"
#include "models/isa/reader/families/conversions.hpp"
#include "models/isa/reader/families/matrix.hpp"
#include "models/isa/reader/families/mbarrier.hpp"
#include "models/isa/reader/families/memory.hpp"
#include "models/isa/reader/families/moves.hpp"
#include "models/isa/reader/families/run_time_calls.hpp"
#include "models/isa/reader/families/stack.hpp"
#include "models/isa/reader/families/surfaces.hpp"
#include "models/isa/reader/families/tensor_map.hpp"
#include "models/isa/reader/families/textures.hpp"
#include "models/isa/reader/families/video.hpp"
#include "models/isa/reader/families/warp.hpp"
#include "models/isa/reader/families/warpgroup.hpp"

namespace lockstep::isa {

/// The readers of all families, over one function.
struct Readers {
  explicit Readers(Translation& code)
      : operands(code),
        arithmetic(code, operands),
        async_copy(code, operands),
        atomics(code, operands),
        cluster(code, operands),
        control(code, operands),
        conversions(code, operands),
        matrix(code, operands),
        mbarrier(code, operands),
        memory(code, operands),
        moves(code, operands),
        run_time(code, operands),
        stack(code, operands),
        surfaces(code, operands),
        tensor_map(code, operands),
        textures(code, operands),
        video(code, operands),
        warp(code, operands),
        warpgroup(code, operands) {}
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  OperandReader operands;
  ArithmeticReader arithmetic;
  AsyncCopyReader async_copy;
  AtomicReader atomics;
  ClusterReader cluster;
  ControlReader control;
  ConversionReader conversions;
  MatrixReader matrix;
  MbarrierReader mbarrier;
  MemoryReader memory;
  MoveReader moves;
  RunTimeCalls run_time;
  StackReader stack;
  SurfaceReader surfaces;
  TensorMapReader tensor_map;
  TextureReader textures;
  VideoReader video;
  WarpReader warp;
  WarpgroupReader warpgroup;
};

}  // namespace lockstep::isa
