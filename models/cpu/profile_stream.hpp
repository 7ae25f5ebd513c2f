/// The misses of a program that is known by how it misses, not by what it computes.
///
/// Misses come in groups, each further than a window behind the one before, so that a core waits
/// for one group at a time: the group decides how many banks work for it at once.  The reads of a
/// group go to some banks, drawn anew for each group, evenly; in a bank an access goes on in the
/// row of the access before with the probability of the row locality, otherwise to another row; a
/// line read lets others leave the cache, which are written to the same row.  Groups are as large
/// as the misses in a thousand instructions ask for, and as far apart.  With CpuMisses::spread the
/// same reads, in the same order, are evenly apart: the window decides how many of them wait.
/// Source: memory-interference.md, sections 1.4 (row locality, bank parallelism) and 4.5 (AMB-27).
///
/// Simplified: programs have no phases; an access stream that comes to the end of a row begins at
/// its start again.
#pragma once

#include <vector>

#include "core/random/random.hpp"
#include "models/cpu/access_stream.hpp"
#include "models/cpu/core_memory.hpp"
#include "models/cpu/cpu_parameters.hpp"
#include "models/workload/cpu/cpu_program.hpp"

namespace lockstep {

/// Time of a bank for a request, and time that every request is on its way. ProfileStream uses them
/// to keep as many banks busy as the profile asks for.
struct MemoryTimes {
  double hit = 0, miss = 0, path = 0;  ///< times in ns
};

class ProfileStream final : public AccessStream {
 public:
  ProfileStream(const CpuTraffic& traffic, CpuMisses misses, std::uint32_t window,
                const MemoryTimes& times, const CoreMemory& memory, Random random);

  std::optional<CpuAccess> next() override;
  void serialize(Archive& archive) override;

 private:
  struct Bank {
    std::uint64_t row = 0;
    std::uint32_t line = 0;  ///< line within the row
    template <class Archive>
    void serialize(Archive& archive) {
      archive(row, line);
    }
  };
  void begin_group();
  void go_on();
  CpuAccess access(bool write);

  const CpuTraffic traffic_;
  const bool spread_;
  const double interval_;  ///< mean number of instructions from a miss to the next
  const CoreMemory memory_;
  const std::uint32_t lines_of_row_;
  double banks_of_group_ = 0;  ///< mean number of banks in a group
  std::uint32_t reads_of_group_ = 0;
  std::int64_t distance_ = 0;  ///< least distance from the last read of a group to the next group
  double slack_ = 0;           ///< mean number of instructions beyond that distance

  Random random_;
  std::vector<Bank> banks_;
  std::vector<std::uint16_t> order_;  ///< order of the banks; a group takes the first ones
  std::int64_t instruction_ = 0;      ///< instruction of the next read
  double first_ = 0;                  ///< place of the first read, if reads are evenly spread
  std::uint64_t reads_ = 0;           ///< reads so far
  std::uint32_t read_ = 0;            ///< place of the next read in its group
  std::uint32_t group_banks_ = 0;
  bool writes_ = false;  ///< true: the line that leaves the cache for the last read comes next
};

}  // namespace lockstep
