#include "models/isa/reader/advice/instruction_forms.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/isa/reader/families/instruction_table.hpp"

namespace lockstep::isa::instruction_forms_test {
namespace {

TEST(InstructionForms, EveryInstructionThatIsReadHasOneAndNoOther) {
  std::vector<std::string> read;
  for (const InstructionEntry& entry : instruction_table()) read.emplace_back(entry.name);
  EXPECT_EQ(instruction_names(), read);
}

TEST(InstructionForms, EachBeginsWithTheNameOfItsInstruction) {
  for (const std::string& name : instruction_names()) {
    if (name == "print") continue;  // not for users
    EXPECT_EQ(form_of(name).substr(0, name.size()), name);
    EXPECT_EQ(instruction_advice(name), "write it as " + std::string(form_of(name)));
  }
}

TEST(InstructionForms, WhatIsNotModelledHasAdviceOfItsOwn) {
  for (const std::string name : {"tld4", "tcgen05", "sured", "multimem"})
    EXPECT_NE(instruction_advice(name).find("in this release: "), std::string::npos) << name;
}

TEST(InstructionForms, AWordLikeNoInstructionIsSentToTheManual) {
  EXPECT_EQ(instruction_advice("frobnicate_the_lot").substr(0, 8), "see the ");
}

}  // namespace
}  // namespace lockstep::isa::instruction_forms_test
