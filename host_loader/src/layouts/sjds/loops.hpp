// The loops of sjds, once for each instruction set: sjds.cpp includes this in a namespace of its own for each, which
// has Lanes<V>, Columns<N> and near_bytes, and defines SPMVPACK_SJDS_TARGET and SPMVPACK_SJDS_INLINE, as functions of
// GCC have the instructions that they name. The last of them, share(), is what others call. There is no guard: it is
// included several times.

/// What comes next of each array.
template <class A>
struct Place {
  const std::byte* stream;
  const A* raw;
  const std::uint32_t* codes;

  /// From slice s on.
  SPMVPACK_SJDS_INLINE Place(const View<A>& v, std::uint64_t s)
      : stream(reinterpret_cast<const std::byte*>(v.stream)), raw(v.values), codes(v.codes) {
    if (s == v.slice_count) return;
    const Slice& slice = v.slices[s];
    stream += std::uint64_t{slice.begin} * unit;
    if (v.source == Source::raw)
      raw += slice.values;
    else
      codes += slice.values;
  }
  Place() = default;
};

/// Slice after slice. A slice's places in the arrays follow from those of the one before, so that its entries are
/// loaded before its header has arrived. fetched: values are where they are stored, and what comes next is fetched;
/// else raw values are aligned.
template <Values values, bool fetched, class A, class V>
struct Reader : Place<A> {
  using Place<A>::stream;
  using Place<A>::raw;
  using Place<A>::codes;
  const typename Lanes<V>::Table& table;
  const V* x;

  SPMVPACK_SJDS_INLINE Reader(const Product<A, V>& p, const typename Lanes<V>::Table& of_codes, Place<A> at)
      : Place<A>(at), table(of_codes), x(p.to.x) {}

  /// The values of the next step, of all lanes or of the first n.
  template <class... Count>
  SPMVPACK_SJDS_INLINE Lanes<V> value(Count... n) {
    if constexpr (values == Values::one) {
      return Lanes<V>::all(table.one());
    } else if constexpr (values == Values::code) {
      if (fetched) prefetch(codes, ahead_bytes);
      return table.of(*codes++);
    } else {
      if (fetched) prefetch(raw, ahead_bytes);
      const Lanes<V> next = Lanes<V>::load(raw, n...);
      raw += sizeof...(n) == 0 ? lanes : (0 + ... + n);
      return next;
    }
  }

  /// Adds up the window steps of a slice that begins here. Returns how many lanes have an entry in each step of its
  /// tail. `groups`: Groups, Runs or OneColumn of the lanes, if they have some.
  template <class... Groups>
  SPMVPACK_SJDS_INLINE const std::uint8_t* add_windows(Lanes<V>& sum, const Slice& slice, const Groups&... groups) {
    if (slice.is_listed()) stream += lanes * sizeof(std::uint16_t);
    for (std::uint32_t k = slice.windows(); k != 0; --k) {
      const WindowStep& step = next_window();
      const Lanes<V> factors = value();
      if constexpr (sizeof...(groups) == 0)
        sum.add_products(factors, Lanes<V>::window(x + step.base, EightPlaces{step.places}));
      else
        sum.add_products(factors, Lanes<V>::gather(x + step.base, EightPlaces{step.places}, groups...));
    }
    const auto* const tail = reinterpret_cast<const std::uint8_t*>(stream);
    if (slice.tail() != 0) stream += (slice.tail() + unit - 1) / unit * unit;
    return tail;
  }
  /// Adds up the next n steps of all lanes whose columns are stored one by one.
  template <class Column, class... Groups>
  SPMVPACK_SJDS_INLINE void add_steps(Lanes<V>& sum, std::uint32_t n, const V* from, const Groups&... groups) {
    const auto* columns = reinterpret_cast<const Column*>(stream);
    for (; n != 0; --n, columns += lanes) {
      if (fetched) prefetch(columns, ahead_bytes);
      const Lanes<V> factors = value();
      if constexpr (sizeof...(groups) == 0)
        sum.add_products(factors, Lanes<V>::gather(from, Columns<Column>(columns)));
      else
        sum.add_products(factors, Lanes<V>::gather(from, columns, groups...));
    }
    stream = reinterpret_cast<const std::byte*>(columns);
  }
  /// Adds up the steps of the tail, and goes on to the next slice.
  template <class Column>
  SPMVPACK_SJDS_INLINE void add_tail(Lanes<V>& sum, const Slice& slice, const std::uint8_t* tail, const V* from) {
    const auto* columns = reinterpret_cast<const Column*>(stream);
    if (slice.tail() != 0) {
      const Column* next = columns;
      for (std::uint32_t k = 0; k < slice.tail(); ++k) {
        const std::uint32_t n = tail[k];
        const Lanes<V> factors = value(n);
        // Eight columns are there, of the steps that follow, or 0.
        sum.add_products(factors, Lanes<V>::gather(from, Columns<Column>(next)), n);
        next += n;
      }
      columns += slice.tail_entries() + tail_padding;
      if constexpr (values == Values::raw && !fetched) raw += aligned_entries(slice) - slice.entries();
    }
    const auto end = reinterpret_cast<std::uintptr_t>(columns);
    stream = reinterpret_cast<const std::byte*>(columns) + (unit - end % unit) % unit;
  }

  /// The sums of the lanes of a slice, the next one.
  template <class... Groups>
  SPMVPACK_SJDS_INLINE Lanes<V> sums(const Slice& slice, const Groups&... groups) {
    Lanes<V> sum = Lanes<V>::all(0);
    const std::uint8_t* const tail = add_windows(sum, slice, groups...);
    if (slice.is_wide()) {
      add_steps<std::uint32_t>(sum, slice.steps(), x, groups...);
      add_tail<std::uint32_t>(sum, slice, tail, x);
    } else {
      add_steps<std::uint16_t>(sum, slice.steps(), x + slice.column, groups...);
      add_tail<std::uint16_t>(sum, slice, tail, x + slice.column);
    }
    return sum;
  }

  /// The same of a plain slice of so many steps.
  SPMVPACK_SJDS_INLINE Lanes<V> plain_sums(std::uint32_t steps) {
    Lanes<V> sum = Lanes<V>::all(0);
    for (; steps != 0; --steps) {
      const V* const from = x + next_window().base;
      if constexpr (values == Values::raw && !fetched && near_bytes != 0) prefetch(raw, near_bytes);
      const Lanes<V> factors = value();
      sum.add_products(factors, Lanes<V>::load(from));
    }
    return sum;
  }

 private:
  SPMVPACK_SJDS_INLINE const WindowStep& next_window() {
    const auto* const step = reinterpret_cast<const WindowStep*>(stream);
    if (fetched) prefetch(step, ahead_bytes);
    stream += sizeof *step;
    return *step;
  }
};

/// Writes the sums of eight rows that follow each other.
template <class V>
SPMVPACK_SJDS_INLINE void put_eight(const Lanes<V>& sums, const Lanes<V>& alpha, V* y) {
  Lanes<V> product = Lanes<V>::all(0);
  product.add_products(alpha, sums);
  product.store(y);
}

/// The same of a slice whose rows have factors of their own, or places in a list.
template <class V>
[[gnu::noinline]] SPMVPACK_SJDS_TARGET void put_each(const Slice& slice, const std::uint16_t* list, const V* sums,
                                                     const Operands<V>& to) {
  for (std::uint32_t i = 0; i < slice.rows(); ++i)
    to.put(std::uint64_t{slice.row} + (slice.is_listed() ? list[i] : i), sums[i]);
}

/// Writes the sums of a slice's rows. `alpha`: in all lanes.
template <class V>
SPMVPACK_SJDS_INLINE void put(const Slice& slice, const std::uint16_t* list, const Lanes<V>& sums,
                              const Lanes<V>& alpha, const Operands<V>& to) {
  alignas(cache_line) std::array<V, lanes> of_lanes;
  if (to.beta != 0 || to.rows != nullptr) {
    sums.store(of_lanes.data());
    return put_each(slice, list, of_lanes.data(), to);
  }
  V* const y = to.y + slice.row;
  if (slice.rows() == lanes && !slice.is_listed()) return put_eight(sums, alpha, y);
  Lanes<V> product = Lanes<V>::all(0);
  product.add_products(alpha, sums);
  product.store(of_lanes.data());
  if (slice.rows() == lanes)  // no end for a processor to foresee
    for (std::uint32_t i = 0; i < lanes; ++i) y[list[i]] = of_lanes[i];
  else
    for (std::uint32_t i = 0; i < slice.rows(); ++i) y[slice.is_listed() ? list[i] : i] = of_lanes[i];
}

/// Slices [begin, end) of rows. Functions of their own, so that registers hold what each of their loops needs.
template <Values values, bool fetched, class A, class V>
[[gnu::noinline]] SPMVPACK_SJDS_TARGET void multiply_slices(const Product<A, V>& p,
                                                            const typename Lanes<V>::Table& table, Operands<V> to,
                                                            std::uint64_t begin, std::uint64_t end) {
  const Lanes<V> alpha = Lanes<V>::all(to.alpha);
  Reader<values, fetched, A, V> reader(p, table, Place<A>(p.v, begin));
  for (std::uint64_t s = begin; s < end; ++s) {
    const Slice slice = p.v.slices[s];
    const auto* const list = reinterpret_cast<const std::uint16_t*>(reader.stream);
    put(slice, list, reader.sums(slice), alpha, to);
  }
}

/// The same, of any kinds.
template <Values values, bool fetched, class A, class V>
[[gnu::noinline]] SPMVPACK_SJDS_TARGET void multiply_kinds(const Product<A, V>& p,
                                                           const typename Lanes<V>::Table& table, Operands<V> to,
                                                           std::uint64_t begin, std::uint64_t end) {
  const Lanes<V> alpha = Lanes<V>::all(to.alpha);
  const bool overwrites = to.beta == 0 && to.rows == nullptr;
  const Slice* const slices = p.v.slices;
  const Kind* const kinds = p.kinds;
  Reader<values, fetched, A, V> reader(p, table, Place<A>(p.v, begin));
  for (std::uint64_t s = begin; s < end; ++s) {
    if (overwrites)
      for (; kinds[s] == rules::plain; ++s) {
        put_eight(reader.plain_sums(slices[s].windows()), alpha, to.y + slices[s].row);
        if (s + 1 == end) return;
      }
    const Slice slice = slices[s];
    const auto* const list = reinterpret_cast<const std::uint16_t*>(reader.stream);
    if (rules::has_groups(kinds[s]))
      put(slice, list, reader.sums(slice, typename Lanes<V>::Groups(kinds[s])), alpha, to);
    else if (rules::has_runs(kinds[s]))
      put(slice, list, reader.sums(slice, typename Lanes<V>::Runs(kinds[s] - rules::two_runs)), alpha, to);
    else if (kinds[s] == rules::one_column)
      put(slice, list, reader.sums(slice, OneColumn()), alpha, to);
    else
      put(slice, list, reader.sums(slice), alpha, to);
  }
}

/// The lanes of a piece are added up by the tree.
template <class V>
SPMVPACK_SJDS_INLINE V tree(const Lanes<V>& sums) {
  std::array<V, lanes> s;
  sums.store(s.data());
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/// Pieces that follow each other, some steps of each in turn.
template <Values values, bool fetched, class A, class V>
SPMVPACK_SJDS_INLINE void multiply_together(const Product<A, V>& p, const typename Lanes<V>::Table& table,
                                            const PieceVisit* pieces, std::uint64_t count) {
  using PieceReader = Reader<values, fetched, A, V>;
  /// How far a piece has been added up.
  struct State {
    Place<A> at;
    const std::uint8_t* tail;
    std::uint32_t steps;
    std::array<V, lanes> sums;
  };
  std::array<State, most_together> states;
  const auto slice_of = [&](std::uint64_t i) __attribute__((always_inline))->const Slice& {
    return p.v.slices[p.v.row_slices() + pieces[i].piece];
  };
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    PieceReader reader(p, table, Place<A>(p.v, p.v.row_slices() + pieces[i].piece));
    Lanes<V> sum = Lanes<V>::all(0);
    const std::uint8_t* const tail = reader.add_windows(sum, slice_of(i));
    states[i].at = reader;
    states[i].tail = tail;
    states[i].steps = slice_of(i).steps();
    sum.store(states[i].sums.data());
    most = std::max(most, states[i].steps);
  }
  const auto in_turn = static_cast<std::uint32_t>(entries_in_turn(slice_of(0).entries(), pieces->columns) / lanes);
  for (std::uint32_t from = 0; from < most; from += in_turn)
    for (std::uint64_t i = 0; i < count; ++i) {
      State& state = states[i];
      const Slice& slice = slice_of(i);
      const std::uint32_t n = std::min(in_turn, state.steps);
      PieceReader reader(p, table, state.at);
      Lanes<V> sum = Lanes<V>::load(state.sums.data());
      if (slice.is_wide())
        reader.template add_steps<std::uint32_t>(sum, n, p.to.x);
      else
        reader.template add_steps<std::uint16_t>(sum, n, p.to.x + slice.column);
      state.at = reader;
      state.steps -= n;
      sum.store(state.sums.data());
    }
  for (std::uint64_t i = 0; i < count; ++i) {
    const Slice& slice = slice_of(i);
    PieceReader reader(p, table, states[i].at);
    Lanes<V> sum = Lanes<V>::load(states[i].sums.data());
    if (slice.is_wide())
      reader.template add_tail<std::uint32_t>(sum, slice, states[i].tail, p.to.x);
    else
      reader.template add_tail<std::uint16_t>(sum, slice, states[i].tail, p.to.x + slice.column);
    p.piece_sums[pieces[i].piece] = tree(sum);
  }
}

/// The visits [begin, end) to pieces of long rows.
template <Values values, bool fetched, class A, class V>
[[gnu::noinline]] SPMVPACK_SJDS_TARGET void multiply_pieces(const Product<A, V>& p,
                                                            const typename Lanes<V>::Table& table, std::uint64_t begin,
                                                            std::uint64_t end) {
  while (begin < end) {
    const PieceVisit* const pieces = p.visits + begin;
    const std::uint64_t entries = p.v.slices[p.v.row_slices() + pieces->piece].entries();
    const std::uint64_t count = pieces_together(
        end - begin, entries, [&](std::uint64_t i) __attribute__((always_inline)) { return pieces[i].columns; });
    if (count == 1) {
      const std::uint64_t s = p.v.row_slices() + pieces->piece;
      p.piece_sums[pieces->piece] = tree(Reader<values, fetched, A, V>(p, table, Place<A>(p.v, s)).sums(p.v.slices[s]));
    } else {
      multiply_together<values, fetched>(p, table, pieces, count);
    }
    begin += count;
  }
}

template <class A, class V, Values values, bool fetched>
SPMVPACK_SJDS_TARGET void share(const Product<A, V>& p, const Share& share) {
  const typename Lanes<V>::Table table(p.coded);
  for (std::uint64_t w = share.first_window, s = share.begin; w <= share.last_window && w < p.v.window_count; ++w) {
    const std::uint64_t end = std::min<std::uint64_t>(share.end, p.v.windows[w + 1].first_slice());
    const bool as_whole = p.others.as_whole[w] != 0;
    if (w < share.last_window) {
      if (as_whole) p.to.scale(w * p.v.window_rows, std::min((w + 1) * p.v.window_rows, p.v.rows));
      for (std::uint64_t i = p.others.first[w]; i < p.others.first[w + 1]; ++i)
        p.to.scale(p.others.rows[i], p.others.rows[i] + std::uint64_t{1});
    }
    const Operands<V> to = as_whole ? p.to_scaled() : p.to;
    if (s < end && p.kinds == nullptr) multiply_slices<values, fetched>(p, table, to, s, end);
    if (s < end && p.kinds != nullptr) multiply_kinds<values, fetched>(p, table, to, s, end);
    s = end;
  }
  multiply_pieces<values, fetched>(p, table, share.first_piece, share.last_piece);
}

#undef SPMVPACK_SJDS_TARGET
#undef SPMVPACK_SJDS_INLINE
