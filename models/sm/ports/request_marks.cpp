#include "models/sm/ports/request_marks.hpp"

#include "models/sm/ports/request_tag.hpp"

namespace lockstep {

static_assert(SmSide::pc_bits == RequestTag::pc_bits);

RequestMarks::RequestMarks(const SmConstants& constants)
    : constants_(constants),
      marks_(!constants.setup.sides.empty() || constants.setup.marks_priorities),
      epochs_(constants.setup.epochs) {
  for (const SmSideChoice& side : constants.setup.sides) {
    sides_.push_back(side.factory.make(side.setup));
    epochs_.add(side.topic, *sides_.back());
  }
}

void RequestMarks::ask(MemoryRequest& request, SmCycle now) const {
  if (RequestTag::host(request.tag)) return;
  request.tag = RequestTag::with_pc(request.tag, request.pc);
  for (const auto& side : sides_) side->mark(request, constants_.time_of(now));
}

void RequestMarks::tell(const MemoryResponse& answer, SmCycle now) const {
  const RequestTag::Kind kind = RequestTag::kind(answer.tag);
  if (RequestTag::host(answer.tag) || kind == RequestTag::write_back || kind >= RequestTag::context)
    return;
  for (const auto& side : sides_)
    side->on_answer(answer, RequestTag::pc(answer.tag), constants_.time_of(now));
}

void RequestMarks::translated(TenantId tenant, std::uint64_t warps, SmCycle now) const {
  for (const auto& side : sides_) side->on_translation(tenant, warps, constants_.time_of(now));
}

std::vector<StatisticsView> RequestMarks::statistics() const {
  std::vector<StatisticsView> views;
  for (const auto& side : sides_)
    if (const StatisticsView view = side->statistics(); view.schema != nullptr)
      views.push_back(view);
  return views;
}

void RequestMarks::serialize(Archive& archive) {
  archive(epochs_);
  for (const auto& side : sides_) side->serialize(archive);
}

}  // namespace lockstep
