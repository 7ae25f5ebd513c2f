#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/isa/lowering/lowering.hpp"
#include "models/isa/reader/reader.hpp"
#include "models/isa/text/disassemble.hpp"

namespace lockstep::isa {

/// A kernel after lowering, and questions about it.
class Lowered {
 public:
  explicit Lowered(const std::string& body, const LoweringOptions& options = {}) {
    const std::string text = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
{
.reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<80>; .reg .b64 %rd<40>; .reg .f32 %f<40>;
.shared .align 16 .b8 room[256];
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [m];
mov.u32 %r3, %tid.x;
mov.u32 %r4, %laneid;
)" + body + "\nret;\n}\n";
    SourceModule module = read_ptx(text, "test.ptx");
    function = std::move(module.functions[1].code);
    allocation = lower(function, options);
  }

  std::size_t count(Opcode opcode) const { return all(opcode).size(); }
  std::vector<ir::Operation> all(Opcode opcode) const {
    std::vector<ir::Operation> found;
    for (const ir::Block& block : function.blocks)
      for (const ir::Operation& operation : block.operations)
        if (operation.opcode == opcode) found.push_back(operation);
    return found;
  }
  ir::Operation only(Opcode opcode) const {
    const auto found = all(opcode);
    EXPECT_EQ(found.size(), 1u) << text();
    return found.empty() ? ir::Operation{} : found[0];
  }
  /// Place of the n-th operation of this kind among all.
  std::size_t place(Opcode opcode, std::size_t n = 0) const {
    std::size_t at = 0;
    for (const ir::Block& block : function.blocks)
      for (const ir::Operation& operation : block.operations) {
        if (operation.opcode == opcode && n-- == 0) return at;
        ++at;
      }
    ADD_FAILURE() << "no such operation in\n" << text();
    return at;
  }
  std::string text() const { return disassemble(function); }

  ir::Function function;
  Allocation allocation;
};

}  // namespace lockstep::isa
