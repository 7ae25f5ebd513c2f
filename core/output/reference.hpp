#pragma once

#include <string>
#include <vector>

#include "core/output/recorder.hpp"
#include "core/output/table.hpp"

namespace lockstep {

/// A value below /interference or /final, or an attribute of /run.
struct OutputValue {
  std::string name, unit, doc;
};

/// Everything that a file may contain; instances of the kinds do not matter.
struct OutputContents {
  std::vector<KindStatistics> kinds;
  std::vector<const TableSchema*> tables;
  std::vector<OutputValue> finals, run;
  std::vector<OutputValue> delays = {};
  std::vector<OutputValue> texts = {};  ///< texts, each with its whole path
};

/// Returns docs/output.md: every path of an output file with shape, unit and meaning.
std::string output_page(const OutputContents& contents);

}  // namespace lockstep
