#include "jobs/run/thread_blocks.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "core/checkpoint/archive.hpp"
#include "models/sm/streaming_multiprocessor.hpp"
#include "models/sm/turnover/block_log.hpp"

namespace lockstep {
namespace {

Communicator::Bytes packed(std::vector<BlockRecord> records) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  archive(records);
  const std::string text = out.str();
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::vector<BlockRecord> unpacked(const Communicator::Bytes& bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  Archive archive = Archive::restoring(in);
  std::vector<BlockRecord> records;
  archive(records);
  return records;
}

}  // namespace

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
    for (const BlockRecord& record : unpacked(bytes)) {
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
