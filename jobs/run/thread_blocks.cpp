#include "jobs/run/thread_blocks.hpp"

#include <algorithm>
#include <tuple>

#include "core/checkpoint/packed.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/sm/turnover/block_log.hpp"

namespace lockstep {
std::vector<BlockRow> gather_blocks(const Engine& engine) {
  std::vector<BlockRecord> mine;
  for (const LocalComponent& local : engine.components()) {
    const auto* sm = dynamic_cast<const StreamingMultiprocessor*>(local.component);
    if (sm == nullptr) continue;
    const std::vector<BlockRecord> records = sm->block_log().records();
    mine.insert(mine.end(), records.begin(), records.end());
  }
  std::vector<BlockRow> rows;
  for (const Communicator::Bytes& bytes : engine.communicator().gather(packed(std::move(mine)))) {
    for (const BlockRecord& record : unpacked<std::vector<BlockRecord>>(bytes)) {
      const BlockReference& block = record.reference;
      rows.push_back({block.grid, block.sm, block.block, record.started, record.done});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const BlockRow& a, const BlockRow& b) {
    return std::tie(a.started, a.sm, a.grid, a.block) < std::tie(b.started, b.sm, b.grid, b.block);
  });
  return rows;
}

}  // namespace lockstep
