#include "core/exec/communicator.hpp"

namespace lockstep {

std::vector<Communicator::Bytes> Communicator::gather(Bytes contribution) {
  if (rank() != 0) {
    send(0, contribution);
    return {};
  }
  std::vector<Bytes> all;
  all.push_back(std::move(contribution));
  for (int from = 1; from < size(); ++from) all.push_back(receive(from));
  return all;
}

}  // namespace lockstep
