// The loops of sjds, once for each instruction set: sjds.cpp includes this in a namespace of its own for each, which
// has Lanes<V> and Columns<N>, and defines SPMVPACK_SJDS_INLINE, as functions of GCC have the instructions that they
// name. There is no guard: it is included several times.

/// The values of a slice's steps, one after the other.
template <Source source, bool fetched, class A, class V>
struct Values {
  const A* raw;
  const std::uint32_t* codes;
  const V* table;
  SPMVPACK_SJDS_INLINE Lanes<V> next(std::uint32_t n) {
    if constexpr (source == Source::code) {
      if (fetched) prefetch(codes, ahead_bytes);
      return Lanes<V>::pick(table, *codes++);
    } else {
      if (fetched) prefetch(raw, ahead_bytes);
      const Lanes<V> values = Lanes<V>::load(raw, n);
      raw += n;
      return values;
    }
  }
};

/// Adds up steps whose columns are stored one by one.
template <bool fetched, class Column, class V>
SPMVPACK_SJDS_INLINE void add_others(Lanes<V>& sum, const Slice& slice, auto& values, const Column* columns,
                                     const std::uint8_t* tail, const V* x) {
  for (std::uint32_t k = slice.steps(); k != 0; --k, columns += lanes) {
    if (fetched) prefetch(columns, ahead_bytes);
    const Lanes<V> value = values.next(lanes);
    sum.add_products(value, Lanes<V>::gather(x, Columns<Column>(columns)));
  }
  for (std::uint32_t k = 0; k < slice.tail(); ++k) {
    const std::uint32_t n = tail[k];
    const Lanes<V> value = values.next(n);
    // Eight columns are there, of the steps that follow, or 0.
    sum.add_products(value, Lanes<V>::gather(x, Columns<Column>(columns)), n);
    columns += n;
  }
}

/// The sums of a slice's lanes.
template <Source source, bool fetched, class A, class V>
SPMVPACK_SJDS_INLINE Lanes<V> sums_of(const Product<A, V>& p, const Slice& slice) {
  const std::byte* const stream = p.v.stream + std::uint64_t{slice.begin} * unit;
  const StreamLayout at = stream_layout(slice, source, sizeof(A));
  Values<source, fetched, A, V> values{reinterpret_cast<const A*>(stream + at.values),
                                       reinterpret_cast<const std::uint32_t*>(stream + at.codes), p.table};
  Lanes<V> sum = Lanes<V>::zero();
  const auto* step = reinterpret_cast<const WindowStep*>(stream + at.windows);
  for (std::uint32_t k = slice.windows(); k != 0; --k, ++step) {
    if (fetched) prefetch(step, ahead_bytes);
    const Lanes<V> value = values.next(lanes);
    sum.add_products(value, Lanes<V>::pick(p.to.x + step->base, step->places));
  }
  const std::byte* const columns = stream + at.columns;
  const auto* const tail = reinterpret_cast<const std::uint8_t*>(stream + at.tail);
  if (slice.is_wide())
    add_others<fetched>(sum, slice, values, reinterpret_cast<const std::uint32_t*>(columns), tail, p.to.x);
  else
    add_others<fetched>(sum, slice, values, reinterpret_cast<const std::uint16_t*>(columns), tail,
                        p.to.x + slice.column);
  return sum;
}

/// Slices [begin, end) of rows.
template <Source source, bool fetched, class A, class V>
SPMVPACK_SJDS_INLINE void multiply_slices(const Product<A, V>& p, Operands<V> to, std::uint64_t begin,
                                          std::uint64_t end) {
  for (std::uint64_t s = begin; s < end; ++s) {
    const Slice slice = p.v.slices[s];
    const Lanes<V> sums = sums_of<source, fetched>(p, slice);
    alignas(cache_line) std::array<V, lanes> of_lanes;
    sums.store(of_lanes.data());
    if (slice.rows() == lanes && !slice.is_listed() && to.rows == nullptr) {
      V* const y = to.y + slice.row;
      if (to.beta == 0)
        for (std::uint32_t i = 0; i < lanes; ++i) y[i] = std::fma(to.alpha, of_lanes[i], V{0});
      else
        for (std::uint32_t i = 0; i < lanes; ++i) y[i] = std::fma(to.alpha, of_lanes[i], to.beta * y[i]);
      continue;
    }
    const auto* const list = reinterpret_cast<const std::uint16_t*>(p.v.stream + std::uint64_t{slice.begin} * unit);
    for (std::uint32_t i = 0; i < slice.rows(); ++i)
      to.put(std::uint64_t{slice.row} + (slice.is_listed() ? list[i] : i), of_lanes[i]);
  }
}

/// Pieces [begin, end) of long rows. The lanes of each are added up by the tree.
template <Source source, bool fetched, class A, class V>
SPMVPACK_SJDS_INLINE void multiply_pieces(const Product<A, V>& p, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) {
    std::array<V, lanes> s;
    sums_of<source, fetched>(p, p.v.slices[p.v.row_slices() + i]).store(s.data());
    p.piece_sums[i] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  }
}

template <Source source, bool fetched, class A, class V>
SPMVPACK_SJDS_INLINE void multiply_share(const Product<A, V>& p, const Share& share) {
  for (std::uint64_t w = share.first_window, s = share.begin; w <= share.last_window && w < p.v.window_count; ++w) {
    const std::uint64_t end = std::min<std::uint64_t>(share.end, p.v.windows[w + 1].first_slice());
    const bool has_others = p.v.windows[w].has_others();
    if (has_others && w < share.last_window)
      p.to.scale(w * p.v.window_rows, std::min((w + 1) * p.v.window_rows, p.v.rows));
    if (s < end) multiply_slices<source, fetched>(p, has_others ? p.to_scaled() : p.to, s, end);
    s = end;
  }
  multiply_pieces<source, fetched>(p, share.first_piece, share.last_piece);
}
