#pragma once

#include <memory>

#include "models/workload/content/content.hpp"

namespace lockstep {

class CsrGraph;

/// Functions that make a generator for each kind of initial content, each in the file of its name.
/// make_linear() makes single values, too.
std::shared_ptr<const Content> make_linear(const Buffer& buffer);
std::shared_ptr<const Content> make_uniform(const Buffer& buffer);
std::shared_ptr<const Content> make_normal(const Buffer& buffer);
std::shared_ptr<const Content> make_permutation(const Buffer& buffer);
std::shared_ptr<const Content> make_graph_part(const Buffer& buffer,
                                               std::shared_ptr<const CsrGraph> graph);
std::shared_ptr<const Content> make_graph_weights(const Buffer& buffer);
std::shared_ptr<const Content> make_raw_file(const Buffer& buffer);
std::shared_ptr<const Content> make_data_set(const Buffer& buffer);
std::shared_ptr<const Content> make_texture(const Buffer& buffer);

}  // namespace lockstep
