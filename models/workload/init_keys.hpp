/// Keys of `init:` of a buffer: its initial content.  initializer.cpp reads them.
#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

struct LinearKeys {
  Node start, step;
  static auto schema() {
    using P = LinearKeys;
    return parameters<P>()
        .part("start", &P::start, "formula", "the first element; without it 0")
        .part("step", &P::step, "formula",
              "difference from each element to the next; without it 1");
  }
};

/// Adds the key that random content begins with.
template <class P>
ParametersOf<P>& with_seed(ParametersOf<P>& keys) {
  return keys.part("seed", &P::seed, "number", "seed: other numbers for another one; without it 0");
}

struct UniformKeys {
  Node low, high, seed;
  static auto schema() {
    using P = UniformKeys;
    auto keys = parameters<P>();
    keys.part("low", &P::low, "formula", "the least; without it 0")
        .part("high", &P::high, "formula", "the largest; without it 1");
    return with_seed(keys);
  }
};

struct NormalKeys {
  Node mean, deviation, seed;
  static auto schema() {
    using P = NormalKeys;
    auto keys = parameters<P>();
    keys.part("mean", &P::mean, "formula", "mean of the elements; without it 0")
        .part("deviation", &P::deviation, "formula", "standard deviation; without it 1");
    return with_seed(keys);
  }
};

struct PermutationKeys {
  Node seed;
  static auto schema() {
    auto keys = parameters<PermutationKeys>();
    return with_seed(keys);
  }
};

struct CsrGraphKeys {
  Node kind, vertices, edges, columns, weights, seed;
  static auto schema() {
    using P = CsrGraphKeys;
    auto keys = parameters<P>();
    keys.part("kind", &P::kind, "word (required)", "rmat or uniform")
        .part("vertices", &P::vertices, "formula (required)", "vertices of the graph, 1 or more")
        .part("edges", &P::edges, "formula (required)", "edges of the graph")
        .part("columns", &P::columns, "name (required)", "buffer that says where each edge leads")
        .part("weights", &P::weights, "name", "buffer with a weight for each edge");
    return with_seed(keys);
  }
};

struct FileKeys {
  Node name, data_set;
  static auto schema() {
    using P = FileKeys;
    return parameters<P>()
        .part("name", &P::name, "file (required)", "raw little-endian elements, or HDF5")
        .part("data_set", &P::data_set, "text", "data set of an HDF5 file");
  }
};

struct TextureKeys {
  Node buffer, width, height, depth, channels, pitch, address, filter, normalized, fractions;
  static auto schema() {
    using P = TextureKeys;
    return parameters<P>()
        .part("buffer", &P::buffer, "name (required)",
              "buffer with its texels, which has an address")
        .part("width", &P::width, "formula", "texels; without it 1")
        .part("height", &P::height, "formula", "texels; without it 1")
        .part("depth", &P::depth, "formula", "texels; without it 1")
        .part("channels", &P::channels, "formula", "channels of a texel: 1, 2 or 4; without it 1")
        .part("pitch", &P::pitch, "formula", "bytes from row to row; without it the bytes of a row")
        .part("address", &P::address, "word or list",
              "texels beyond the edge: wrap, clamp, mirror or border, for all dimensions or each")
        .part("filter", &P::filter, "word", "nearest or linear")
        .part("normalized", &P::normalized, "true or false", "coordinates are from 0 to 1")
        .part("fractions", &P::fractions, "true or false", "integers are read as fractions");
  }
};

/// `init:`, one of these; `zero` and `permutation` stand alone, too.
struct InitKeys {
  Node zero, value;
  LinearKeys linear;
  UniformKeys uniform;
  NormalKeys normal;
  PermutationKeys permutation;
  CsrGraphKeys csr_graph;
  FileKeys file;
  TextureKeys texture;

  static auto schema() {
    using P = InitKeys;
    return parameters<P>()
        .part("zero", &P::zero, "word", "zeros, as without init")
        .part("value", &P::value, "formula", "value of each element")
        .group("linear", &P::linear, "numbers in equal steps")
        .group("uniform", &P::uniform, "random numbers, all equally likely")
        .group("normal", &P::normal, "random numbers of a normal distribution")
        .group("permutation", &P::permutation, "the numbers from 0 on, shuffled")
        .group("csr_graph", &P::csr_graph, "row offsets of a random graph")
        .group("file", &P::file, "a file (its name), or a data set of it (a map)")
        .group("texture", &P::texture, "the header of a texture");
  }
};

}  // namespace lockstep
