#pragma once

#include <cstdio>
#include <string>

namespace lockstep {

/// Returns the name beside an output: "run.csv" for "run.h5" and ".csv".
std::string name_beside(const std::string& output_of_run, const std::string& ending);

/// A text file that takes its name when it is complete.
class WrittenFile {
 public:
  explicit WrittenFile(const std::string& path);
  ~WrittenFile();
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;

  void write(const std::string& text);
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_, unfinished_;
  std::FILE* file_;
};

}  // namespace lockstep
