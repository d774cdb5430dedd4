#pragma once
// Containers of bitflag with right checksums that lie, one for each check of the layout.

#include <string>
#include <utility>
#include <vector>

#include "worked_example.hpp"

namespace spmvpack::test {

struct BitflagLie {
  std::string name;
  std::vector<std::byte> file;
  std::string host, device;  ///< what the host says; a part of what the device's check says
};

/// A number of so many bytes, or zeros after its eighth, at a byte of a section, which grows if it is shorter.
struct Patch {
  std::string section;
  std::size_t at = 0, bytes = 0;
  std::uint64_t number = 0;
};
inline Patch word_of_chunks(std::size_t element, std::uint32_t value) { return {"chunks", 4 * element, 4, value}; }
inline Patch byte_of_stream(std::size_t at, std::uint8_t value) { return {"stream", at, 1, value}; }

using Parameters = std::vector<std::pair<std::size_t, std::uint64_t>>;  ///< of the part, by their places

inline std::vector<std::byte> patched(const std::vector<std::byte>& file, const std::vector<Patch>& patches,
                                      const Parameters& parameters = {}) {
  return edited(file, [&](ContainerSource& source) {
    auto& part = source.parts[0];
    for (const auto& [place, value] : parameters) part.info.params.at(place) = value;
    for (const Patch& patch : patches)
      for (SectionSource& s : part.sections) {
        if (s.name != patch.section) continue;
        std::vector<std::byte> bytes(s.raw_bytes());
        if (!bytes.empty()) s.fill(0, bytes);
        bytes.resize(std::max(bytes.size(), patch.at + patch.bytes));
        for (std::size_t i = 0; i < patch.bytes; ++i)
          bytes[patch.at + i] = static_cast<std::byte>(i < 8 ? patch.number >> 8 * i & 0xFF : 0);
        s = section_of_bytes(s.name, s.element_type, s.flags, s.alignment, std::move(bytes));
      }
  });
}

/// Row 1 has 259 entries, so that a second chunk goes on with it, and row 3 has one.
inline CsrMatrix two_chunks() {
  Entries entries;
  for (std::uint32_t j = 0; j < 259; ++j) entries[{1, j}] = 7;
  entries[{3, 400}] = 7;
  return make_csr(6, 401, entries);
}

inline std::vector<BitflagLie> bitflag_lies() {
  const auto encoded = [](const CsrMatrix& a, std::map<std::string, std::string> settings) {
    settings["bitflag.tile"] = "1";
    return encode(a, "bitflag", std::move(settings)).bytes;
  };
  // The example: one chunk, its flags, columns, ids and rows from bytes 0, 32, 64 and 96 of the stream.
  const std::vector<std::byte> example = encoded(worked_example(), {}), two = encoded(two_chunks(), {}),
                               hot = encoded(worked_example(), {{"bitflag.hot", "2"}}),
                               single = encoded(two_chunks(), {{"bitflag.values", "single"}}),
                               raw = encoded(worked_example(), {{"bitflag.values", "raw"}}),
                               empty = encoded(make_csr(10000, 1, {}), {}),
                               late = encoded(make_csr(2049, 1, {{{2048, 0}, 1.0}}), {}),
                               full =
                                   encoded(make_csr(4, 1, {{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{2, 0}, 3.0}, {{3, 0}, 4.0}}),
                                           {{"bitflag.values", "raw"}}),
                               segments = encoded(worked_example(), {{"bitflag.segments", "2"}}),
                               wide = encoded(make_csr(1, (std::uint64_t{1} << 31U) + 1, {{{0, 7}, 1.0}}), {}),
                               window = encoded(worked_example(), {{"bitflag.values", "window"}});
  // Decimals in one lane of four stored: integers from byte 64 on, exponents from 192 on.
  const auto decimals = [&](double first, double second) {
    return encoded(make_csr(1, 3, {{{0, 0}, first}, {{0, 1}, second}, {{0, 2}, 7.0}}), {{"bitflag.values", "decimal"}});
  };
  const std::vector<std::byte> decimal = decimals(0.5, 2), exponents_4 = decimals(0.5, 2e9),
                               exponents_8 = decimals(1e-20, 2e9);
  constexpr std::uint32_t info = 7 | 3 << 9 | 1 << 20;  // of the example's chunk

  std::vector<BitflagLie> all;
  const auto add = [&](std::string name, std::vector<std::byte> file, std::string host, std::string device) {
    all.push_back({std::move(name), std::move(file), std::move(host), std::move(device)});
  };
  // Parameters, which the host checks for both.
  const auto shape = [&](const std::string& what, const std::vector<std::byte>& file, const std::vector<Patch>& patches,
                         const Parameters& parameters) { add(what, patched(file, patches, parameters), what, what); };
  shape("source is 5", example, {}, {{0, 5}});
  shape("source is 4", encoded(make_csr<float>(1, 1, {{{0, 0}, 1.0}}), {{"bitflag.values", "raw"}}), {}, {{0, 4}});
  shape("tile_chunks is 0", example, {}, {{1, 0}});
  shape("tile_chunks is 33", example, {}, {{1, 33}});
  // So do the sections' sizes.
  shape("8 elements", example, {}, {{1, 2}});  // the chunks are not a multiple of a tile's
  shape("9 elements", example, {{"chunks", 32, 4, 0}}, {});
  shape("33 elements", example, {{"stream", 128, 4, 0}}, {});
  shape("257 elements", example, {{"values", 256 * 8, 8, 0}}, {});
  shape("2 elements", single, {{"values", 8, 8, 0}}, {});
  shape("1 elements", raw, {{"values", 0, 8, 0}}, {});
  shape("1 elements", decimal, {{"values", 0, 8, 0}}, {});
  shape("0 elements", raw, {}, {{0, 3}});
  shape("2158593 elements", window, {{"values", 2158592 * 8, 8, 0}}, {});
  shape("32769 elements", example, {{"hot", 32768 * 4, 4, 0}}, {});
  shape("1 elements", wide, {{"hot", 0, 4, 0}}, {});  // of more than 2^31 columns

  shape("1 elements", example, {{"segments", 0, 4, 0}}, {});
  shape("2 elements", example, {{"segments", 0, 8, 0}}, {});   // of one segment, which has none
  shape("7 elements", example, {{"segments", 0, 28, 0}}, {});  // of five columns
  shape("5 elements", example, {{"segments", 0, 20, 0}}, {});  // of two columns: three are enough
  shape("3 elements", hot, {{"segments", 0, 12, 0}}, {});      // hot columns in segments
  shape("3 elements", wide, {{"segments", 0, 12, 0}}, {});     // of more than 65,536 columns
  shape("2001 elements", encoded(make_csr(10000, 2000, {}), {}), {{"segments", 0, 2001 * 4, 0}}, {});

  // Chunks.
  const auto chunks = [&](std::string name, const std::vector<std::byte>& file, const std::vector<Patch>& patches,
                          std::string host, std::string device, const Parameters& parameters = {}) {
    add(std::move(name), patched(file, patches, parameters), std::move(host), std::move(device));
  };
  const std::string numbers = "a chunk's numbers make no sense", rows = "a chunk's rows are out of range",
                    flags = "rows start elsewhere", columns = "columns do not rise", count = "are not as many as";
  for (const auto& [what, bad] : {std::pair{"a bit too many", info | 1U << 23U},
                                  {"257 entries", 257U | 3U << 9U | 1U << 20U},
                                  {"more starts than entries", 7U | 8U << 9U | 1U << 20U},
                                  {"row offsets of 3 bytes", info | 3U << 20U},
                                  {"no row", 7U},
                                  {"row offsets without rows", 7U | 1U << 20U | 1U << 22U},
                                  {"rows without entries", 1U << 9U},
                                  {"a width without entries", 1U << 18U}})
    chunks(what, example, {word_of_chunks(3, bad)}, "chunk 0: its numbers make no sense", numbers);
  chunks("a base of no entry", empty, {word_of_chunks(5, 1)}, "chunk 1: its numbers make no sense", numbers);
  chunks("a base of the end", example, {word_of_chunks(5, 1)}, "chunk 1: its numbers make no sense", numbers);
  chunks("bytes begin late", example, {word_of_chunks(2, 1)}, "chunk 0: its bytes begin elsewhere", numbers);
  chunks("bytes end late", example, {word_of_chunks(6, 5)}, "chunk 1: its bytes begin elsewhere", numbers);
  chunks("bytes end after the stream", example, {word_of_chunks(3, info | 1U << 18U)},
         "chunk 0: its bytes end elsewhere", numbers);
  chunks("columns of three bytes", example, {word_of_chunks(3, info | 3U << 18U)}, "chunk 0: its bytes end elsewhere",
         numbers);
  chunks("the stream goes on", example, {byte_of_stream(159, 0)}, "the stream has 1 units more", numbers);
  chunks("rows before the first", example, {word_of_chunks(0, 1)}, "chunk 0: rows before it", rows);
  chunks("rows end late", example, {word_of_chunks(4, 5)}, "chunk 1: a row out of range", rows);
  chunks("rows end early", example, {word_of_chunks(4, 3)}, "chunk 1: it is not the end", numbers);
  chunks("an end with entries", example, {word_of_chunks(7, info)}, "chunk 1: it is not the end", numbers);
  chunks("too many rows", empty, {word_of_chunks(4, 4097)}, "chunk 1: rows fall, or skip too many", rows);
  chunks("rows fall", empty, {word_of_chunks(8, 0)}, "chunk 2: rows fall, or skip too many", rows);
  chunks("more starts than rows", example, {word_of_chunks(3, 7 | 5 << 9 | 1 << 20)},
         "chunk 1: the chunk before has more rows than there are up to it", rows);
  chunks("rows are skipped without offsets", example, {word_of_chunks(3, 7 | 3 << 9), word_of_chunks(6, 3)},
         "chunk 1: the chunk before skips rows", rows);
  chunks("a chunk continues at first", late, {word_of_chunks(3, 1 | 1 << 22)}, "chunk 0: rows before it", rows);
  chunks("nothing to continue", late, {word_of_chunks(4, 2047), word_of_chunks(7, 1 | 1 << 9 | 1 << 22)},
         "chunk 1: it continues nothing", rows);
  chunks("tiles continued", example, {}, "0 tiles begin inside a row, the part table says 1", count, {{2, 1}});
  chunks("no tiles continued", two, {}, "1 tiles begin inside a row, the part table says 0", count, {{2, 0}});

  // Hot columns.
  chunks("a hot column twice", hot, {{"hot", 0, 4, 1}}, "column 1 is out of range, or does not rise", "hot: a column");
  chunks("a hot column out of range", hot, {{"hot", 4, 4, 5}}, "column 1 is out of range, or does not rise",
         "hot: a column");
  chunks("a place beyond the hot columns", hot, {byte_of_stream(32, 2)}, "chunk 0: a column out of range", columns);
  chunks("a third byte too many", hot, {byte_of_stream(96 + 4, 1)}, "chunk 0: a column out of range", columns);
  chunks("no hot column by that byte", hot, {byte_of_stream(96 + 4, 0x80)}, "chunk 0: a column out of range", columns);

  // Segments begin with tiles 0, 2 and 3: columns 0 to 2 have rows 0 and 1 in one chunk, 2 and 3 in another.
  const std::string begins = "segments: a segment does not begin with a tile";
  for (std::uint32_t s = 0; s < 3; ++s)
    chunks(std::to_string(s) + ": a tile later", segments, {{"segments", std::size_t{4} * s, 4, s == 0 ? 1U : s + 2}},
           "segment " + std::to_string(s) + " does not begin with a tile", begins);
  chunks("a tile earlier", segments, {{"segments", 4, 4, 0}}, "segment 1 does not begin with a tile", begins);
  chunks("rows of another segment", segments, {word_of_chunks(8, 5)}, "segment 1 does not begin with a tile", begins);
  chunks("columns of another base", segments, {word_of_chunks(9, 2)},
         "chunk 2: its columns do not count from its segment's first", columns);
  chunks("columns of another segment", segments, {byte_of_stream(32 + 1, 3)}, "chunk 0: a column out of range",
         columns);

  // The stream.
  chunks("more rows start", example, {byte_of_stream(0, 0b100111)}, "chunk 0: more rows start than its numbers say",
         flags);
  chunks("fewer rows start", example, {byte_of_stream(0, 0b100001), byte_of_stream(34, 2), byte_of_stream(35, 3)},
         "chunk 0: fewer rows start than its numbers say", flags);
  chunks("no row at first", example, {byte_of_stream(0, 0b100100)}, "chunk 0: its first entry starts no row", flags);
  chunks("a row at first, and one continued", two, {byte_of_stream(320, 0b0001)},
         "chunk 1: its first entry starts a row, but continues one", flags);
  chunks("rows do not rise", example, {byte_of_stream(97, 0)}, "chunk 0: a row out of range, or that does not rise",
         rows);
  chunks("a row out of range", example, {byte_of_stream(98, 4)}, "chunk 0: a row out of range, or that does not rise",
         rows);
  chunks("another row is continued", two, {word_of_chunks(4, 2), byte_of_stream(384, 1)},
         "chunk 1: it does not continue the row before", rows);
  chunks("offsets of consecutive rows", full,
         {word_of_chunks(3, 4 | 4 << 9 | 1 << 20),
          word_of_chunks(6, 11),
          {"stream", 320, 4, 0x03020100},
          byte_of_stream(351, 0)},
         "chunk 0: a list of rows that are consecutive", rows);
  chunks("a column out of range", example, {byte_of_stream(36, 5)}, "chunk 0: a column out of range", columns);
  chunks("columns fall", example, {byte_of_stream(33, 0)}, "chunk 0: columns do not rise", columns);
  chunks("columns fall from chunk to chunk", two, {word_of_chunks(5, 255)}, "chunk 1: columns do not rise", columns);
  chunks("an id out of range", example, {byte_of_stream(64, 3)}, "chunk 0: an id out of range", "a value's id");
  chunks("an id out of the window's range", window, {byte_of_stream(64, 3)}, "chunk 0: an id out of range",
         "a value's id");
  chunks("a window out of range", window, {word_of_chunks(3, info | 1U << 23U)}, "chunk 0: an id out of range",
         "a value's id");
  // One row of three entries.
  constexpr std::uint32_t row = 3 | 1 << 9;
  for (const auto& [what, bad] : {std::pair{"an exponent of 23", row | 23U << 23U},
                                  {"exponents of 12 bits", row | 3U << 28U},
                                  {"bit 30", row | 1U << 30U},
                                  {"bit 31", row | 1U << 31U}})
    chunks(what, decimal, {word_of_chunks(3, bad)}, "chunk 0: its numbers make no sense", numbers);
  const std::string exponent = "chunk 0: an exponent out of range";
  chunks("22 and 1", exponents_4, {word_of_chunks(3, row | 22U << 23U | 1U << 28U)}, exponent, "its exponent");
  chunks("15 and 8", exponents_4, {word_of_chunks(3, row | 15U << 23U | 1U << 28U), byte_of_stream(192, 8)}, exponent,
         "its exponent");
  chunks("0 and 23", exponents_8, {byte_of_stream(193, 23)}, exponent, "its exponent");
  chunks("0 and 255", exponents_8, {byte_of_stream(194, 255)}, exponent, "its exponent");
  const std::string beyond = "chunk 0: something beyond its last entry";
  chunks("a row after the last entry", example, {byte_of_stream(0, 0b10100101)}, beyond, numbers);
  chunks("a row after the last lane", example, {byte_of_stream(31, 1)}, beyond, numbers);
  chunks("a column after the last entry", example, {byte_of_stream(39, 1)}, beyond, numbers);
  chunks("a third byte after the last entry", hot, {byte_of_stream(96 + 7, 1)}, beyond, numbers);
  chunks("an id after the last entry", example, {byte_of_stream(95, 1)}, beyond, numbers);
  chunks("a value after the last entry", raw, {byte_of_stream(319, 0x80)}, beyond, numbers);
  chunks("an id of a window after the last entry", window, {byte_of_stream(127, 1)}, beyond, numbers);
  chunks("an integer after the last entry", decimal, {byte_of_stream(191, 1)}, beyond, numbers);
  chunks("4 bits after the last entry", exponents_4, {byte_of_stream(193, 0x10)}, beyond, numbers);
  chunks("4 bits after the last lane", exponents_4, {byte_of_stream(208, 1)}, beyond, numbers);
  chunks("8 bits after the last entry", exponents_8, {byte_of_stream(195, 1)}, beyond, numbers);
  chunks("a row offset after the last", example, {byte_of_stream(99, 1)}, beyond, numbers);

  add("fewer entries",
      edited(example,
             [](ContainerSource& source) {
               source.facts.nnz = 8;
               source.parts[0].info.nnz = 8;
             }),
      "7 entries, the part table says 8", count);
  return all;
}

}  // namespace spmvpack::test
