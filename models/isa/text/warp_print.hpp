/// Printing by the threads of a warp: the meaning of `print` instructions.
///
/// Lanes collect their arguments word by word, each at its own pace; lanes that reach the end
/// together print together, in the order of lanes.
/// Source: CUDA C++ Programming Guide, "Formatted Output" (return value: the number of arguments,
/// -1 for a null format).
///
/// Simplified: ModuleText must find the format. No buffer can overflow, because the host prints
/// each text when it arrives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/isa/instruction.hpp"
#include "models/isa/text/module_text.hpp"

namespace lockstep::isa {

class WarpPrint {
 public:
  /// A lane whose format is no text.
  struct NoFormat {
    unsigned lane;
    std::string what;
  };

  /// Executes a `print` for the active lanes of the context.  Returns the printed text, which may
  /// be empty.  Throws NoFormat before anything has changed.
  std::string execute(const Instruction& instruction, const WarpContext& context,
                      const ModuleText& text);
  /// Returns whether no lane is between the beginning and the end of a printf.
  bool empty() const { return lanes_.empty(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(lanes_);
  }

 private:
  struct Lane {
    std::uint64_t format = 0;
    std::vector<std::uint32_t> words;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(format, words);
    }
  };

  void begin(const Instruction& instruction, const WarpContext& context, const ModuleText& text);
  std::string end(const Instruction& instruction, const WarpContext& context,
                  const ModuleText& text);

  std::map<unsigned, Lane> lanes_;
};

}  // namespace lockstep::isa
