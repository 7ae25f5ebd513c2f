"""Parameters with which applications of paper 004 (Tables 4.2 and 6.2), and others of their kind, have 32 MiB of
buffers and more, to study TLBs: its own have 10 to 362 MB (section 7.2.2).
"""
LARGE = {
    "barnes_hut": "{bodies: 1048576, levels: 9}",
    "black_scholes": "{options: 1703936}",
    "cfd": "{cells: 262144}",
    "convolution_separable": "{width: 2048, height: 1536}",
    "fft": "{batch: 8300}",
    "fwt": "{far: 6}",
    "histogram": "{n: 8388608, blocks: 240}",
    "inverted_index": "{words: 1048576, vocabulary: 100000, slots: 4194304}",
    "mst": "{vertices: 524288, edges: 2097152}",
    "nearest_neighbour": "{records: 2883584, blocks: 64}",
    "page_view_count": "{entries: 262144, pages: 65536, page_slots: 131072, pair_slots: 4194304}",
    "sad": "{columns: 96, rows: 90}",
    "scalar_product": "{pairs: 256, elements: 16400, blocks: 64}",
    "scan": "{n: 4194304}",
    "sgemm": "{n: 1728}",
    "spmv": "{rows: 1048576, entries: 4194304}",
    "srad": "{width: 1184, height: 1184}",
    "sssp": "{vertices: 524288, edges: 4194304}",
    "stencil3d": "{width: 256, height: 128, depth: 128}",
    "streamcluster": "{points: 491520}",
    "triad": "{piece: 730000}",
}
