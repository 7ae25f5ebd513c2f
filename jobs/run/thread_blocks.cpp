#include "jobs/run/thread_blocks.hpp"

#include <algorithm>
#include <tuple>

#include "core/checkpoint/packed.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/sm/turnover/block_log.hpp"

namespace lockstep {
namespace {

/// Records of a GPU.
struct BlocksOfGpu {
  std::uint32_t gpu = 0;
  std::vector<BlockRecord> records;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(gpu, records);
  }
};

}  // namespace

std::vector<BlockRow> gather_blocks(const Engine& engine, const Machine& machine) {
  std::vector<BlocksOfGpu> mine;
  for (const LocalComponent& local : engine.components()) {
    const auto* sm = dynamic_cast<const StreamingMultiprocessor*>(local.component);
    if (sm == nullptr) continue;
    mine.push_back({machine.site_of(local.id).place().gpu, sm->block_log().records()});
  }
  std::vector<BlockRow> rows;
  for (const Communicator::Bytes& bytes : engine.communicator().gather(packed(std::move(mine)))) {
    for (const BlocksOfGpu& of_gpu : unpacked<std::vector<BlocksOfGpu>>(bytes)) {
      for (const BlockRecord& record : of_gpu.records) {
        const BlockReference& block = record.reference;
        rows.push_back(
            {block.grid, of_gpu.gpu, block.sm, block.block, record.started, record.done});
      }
    }
  }
  std::sort(rows.begin(), rows.end(), [](const BlockRow& a, const BlockRow& b) {
    return std::tie(a.started, a.gpu, a.sm, a.grid, a.block) <
           std::tie(b.started, b.gpu, b.sm, b.grid, b.block);
  });
  return rows;
}

}  // namespace lockstep
