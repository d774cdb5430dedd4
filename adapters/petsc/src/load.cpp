// MatLoad() from containers: each rank reads its own share's file (spmvpack encode --ranks), and nobody the whole
// matrix.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spmvpack/container/file/format.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

using Load = PetscErrorCode(Mat, PetscViewer);
static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long), "sent as MPI_UNSIGNED_LONG_LONG");

/// Those of AIJ, for files of PETSc's own.
Load *load_of_seqaij = nullptr, *load_of_mpiaij = nullptr;

/// What a rank has read: its rows, with columns of the whole, or why it has none.
struct Local {
  ShareFacts facts;  ///< of a whole matrix: the share of the only rank
  std::vector<PetscInt> row_ptr, col_idx;
  std::vector<PetscScalar> values;
  std::vector<PetscInt> original_rows;
  bool renumbered = false;
  std::string failed;  ///< a sentence; empty: nothing has

  [[nodiscard]] PetscInt rows() const noexcept { return static_cast<PetscInt>(row_ptr.size()) - 1; }
};

/// Whether the viewer's file begins as a container does: on its first rank, which has opened it, then on all.
PetscErrorCode is_container(Mat a, PetscViewer viewer, const char** name, PetscBool* is) {
  PetscBool binary = PETSC_FALSE;
  PetscMPIInt rank = 0;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscFunctionBegin;
  *is = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERBINARY, &binary));
  if (binary == PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerFileGetName(viewer, name));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  int begins = 0;
  if (rank == 0 && *name != nullptr) {
    try {
      std::array<std::uint8_t, 8> start{};
      open_file(*name)->read(0, std::as_writable_bytes(std::span(start)));
      begins = start == format::magic ? 1 : 0;
    } catch (const std::exception&) {  // PETSc's own reader says what is wrong
      begins = 0;
    }
  }
  PetscCallMPI(MPI_Bcast(&begins, 1, MPI_INT, 0, comm));
  *is = begins != 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The file that `rank` reads if `name` is what the program has opened.
std::string file_of(const std::string& name, int rank, int ranks) {
  const std::optional<ShareName> share = parse_share_path(name);
  if (!share) {
    if (ranks == 1) return name;
    throw Error(errc::usage, fmt::format("not a share's file, of a program of {} ranks", ranks), name,
                fmt::format("write shares with `spmvpack encode --ranks {}`, and open that of rank 0", ranks));
  }
  if (share->ranks != static_cast<std::uint64_t>(ranks))
    throw Error(errc::usage, fmt::format("a share of {} ranks, of a program of {}", share->ranks, ranks), name,
                fmt::format("start {} ranks, or write shares with `spmvpack encode --ranks {}`", share->ranks, ranks));
  return share_path(share->path, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks));
}

/// Reads a rank's file. Columns are those of the whole, in their order. Errors: those of unpack(), and of what does not
/// fit this PETSc or these ranks.
void read_local(const std::string& path, int rank, int ranks, Local& local) {
  LoadOptions options;
  options.threads = 1;
  const Container container = Container::open(path);
  const MatrixFacts& facts = container.facts();
  const std::shared_ptr<const Share> share = read_share(container, options);
  if (share)
    local.facts = share->facts;
  else
    local.facts = {facts.rows, facts.cols, facts.nnz, 0, 0, facts.cols, 0, 1, 0, facts.digest};
  const ShareFacts& f = local.facts;
  if (f.rank != static_cast<std::uint32_t>(rank) || f.ranks != static_cast<std::uint32_t>(ranks))
    throw Error(errc::usage,
                fmt::format("the share of rank {} of {}, expected that of {} of {}", f.rank, f.ranks, rank, ranks),
                path, "give files the names that `spmvpack encode --ranks` gave them");
  constexpr std::uint64_t most = std::numeric_limits<PetscInt>::max();
  if (f.global_rows > most || f.global_cols > most || facts.nnz > most)
    throw Error(errc::unsupported,
                fmt::format("{} x {}, {} nonzeros of this rank: this PETSc counts to {}", f.global_rows, f.global_cols,
                            facts.nnz, most),
                path, "use more ranks");
  if (holds_complex(facts.value_type))
    throw Error(errc::unsupported,
                fmt::format("a matrix of complex values ({}); this PETSc is real", to_string(facts.value_type)), path,
                "encode its real and imaginary parts as two matrices");
  const CsrMatrix m = unpack(container, options);
  local.row_ptr.assign(m.row_ptr.begin(), m.row_ptr.end());
  local.col_idx.resize(m.nnz());
  local.values.resize(m.nnz());
  const auto to_whole = [&](std::uint32_t c) {
    return static_cast<PetscInt>(c < f.own_cols ? f.first_col + c : share->ghosts[c - f.own_cols]);
  };
  std::visit(
      [&](const auto& values) {
        for (std::uint64_t r = 0; r < m.rows; ++r) {
          // A row has own columns, then ghosts before them, then ghosts behind them; each of the three rises.
          const std::uint32_t* const begin = m.col_idx.begin() + m.row_ptr[r];
          const std::uint32_t* const end = m.col_idx.begin() + m.row_ptr[r + 1];
          const std::uint32_t* const ghosts = std::lower_bound(begin, end, f.own_cols);
          const std::uint32_t* const behind = std::partition_point(
              ghosts, end, [&](std::uint32_t c) { return static_cast<std::uint64_t>(to_whole(c)) < f.first_col; });
          std::uint64_t to = m.row_ptr[r];
          for (const auto& [from, until] :
               {std::pair(ghosts, behind), std::pair(begin, ghosts), std::pair(behind, end)})
            for (const std::uint32_t* c = from; c != until; ++c, ++to) {
              local.col_idx[to] = to_whole(*c);
              if constexpr (!is_complex_type<std::remove_cvref_t<decltype(values[0])>>)
                local.values[to] = static_cast<PetscScalar>(values[static_cast<std::uint64_t>(c - m.col_idx.begin())]);
            }
        }
      },
      m.values);
  if (share) local.original_rows.assign(share->original_rows.begin(), share->original_rows.end());
  local.renumbered = !local.original_rows.empty();
}

/// Sizes that the program has given the matrix must be those of the file.
PetscErrorCode check_sizes(Mat a, Local& local) {
  PetscInt rows = 0, cols = 0, global_rows = 0, global_cols = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(a, &rows, &cols));
  PetscCall(MatGetSize(a, &global_rows, &global_cols));
  const ShareFacts& f = local.facts;
  const auto fits = [](PetscInt given, std::uint64_t found) {
    return given < 0 || static_cast<std::uint64_t>(given) == found;
  };
  if (local.failed.empty() && (!fits(rows, static_cast<std::uint64_t>(local.rows())) || !fits(cols, f.own_cols) ||
                               !fits(global_rows, f.global_rows) || !fits(global_cols, f.global_cols)))
    local.failed = fmt::format(
        "the matrix was given sizes {} x {}, {} x {} of this rank; the share is of {} x {}, {} x {} "
        "of this rank: leave the sizes to the file",
        global_rows, global_cols, rows, cols, f.global_rows, f.global_cols, local.rows(), f.own_cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The least of what all ranks have, and the least of its complement, that is, whether all agree.
struct Agreement {
  static constexpr std::size_t numbers = 8;
  std::array<std::uint64_t, 2 * numbers + 3> all{};

  Agreement(const Local& local, int rank, int ranks, std::uint64_t rows_before) {
    const ShareFacts& f = local.facts;
    const std::array<std::uint64_t, numbers> own{f.ranks,     f.global_rows,       f.global_cols,        f.global_nnz,
                                                 f.partition, f.global_digest.low, f.global_digest.high, 0};
    for (std::size_t i = 0; i < numbers; ++i) {
      all[2 * i] = local.failed.empty() ? own[i] : ~std::uint64_t{0};
      all[2 * i + 1] = local.failed.empty() ? ~own[i] : ~std::uint64_t{0};
    }
    const auto own_rank = static_cast<std::uint64_t>(rank), nobody = static_cast<std::uint64_t>(ranks);
    all[2 * numbers] = local.failed.empty() ? nobody : own_rank;  // the first that has failed
    all[2 * numbers + 1] = local.failed.empty() && rows_before != f.first_row ? own_rank : nobody;
    all[2 * numbers + 2] = local.renumbered ? 0 : 1;
  }
  [[nodiscard]] std::uint64_t first_failed() const { return all[2 * numbers]; }
  [[nodiscard]] std::uint64_t first_gap() const { return all[2 * numbers + 1]; }
  [[nodiscard]] bool renumbered() const { return all[2 * numbers + 2] == 0; }
  [[nodiscard]] bool same() const {
    for (std::size_t i = 0; i < numbers; ++i)
      if (all[2 * i] != ~all[2 * i + 1]) return false;
    return true;
  }
};

/// All ranks go on, or none does, with the same sentence. The only exchange before it is that of numbers of rows.
PetscErrorCode agree_on_shares(MPI_Comm comm, const char* name, const Local& local, PetscBool* renumbered) {
  PetscMPIInt rank = 0, ranks = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  std::uint64_t rows = local.failed.empty() ? static_cast<std::uint64_t>(local.rows()) : 0, rows_before = 0;
  PetscCallMPI(MPI_Exscan(&rows, &rows_before, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, comm));
  if (rank == 0) rows_before = 0;
  Agreement agreement(local, rank, ranks, rows_before);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, agreement.all.data(), static_cast<int>(agreement.all.size()),
                             MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm));
  if (const auto failed = static_cast<PetscMPIInt>(agreement.first_failed()); failed < ranks) {
    constexpr std::size_t longest = 1024;
    std::array<char, longest> sentence{};
    local.failed.copy(sentence.data(), longest - 1);
    PetscCallMPI(MPI_Bcast(sentence.data(), static_cast<int>(longest), MPI_CHAR, failed, comm));
    SETERRQ(comm, PETSC_ERR_FILE_UNEXPECTED, "spmvpack: rank %d cannot load its share: %s", static_cast<int>(failed),
            sentence.data());
  }
  PetscCheck(
      agreement.same(), comm, PETSC_ERR_FILE_UNEXPECTED,
      "spmvpack: %s and the other ranks' files are not shares of one partition of one matrix: write them all with "
      "one `spmvpack encode --ranks %d`",
      name, static_cast<int>(ranks));
  PetscCheck(agreement.first_gap() == static_cast<std::uint64_t>(ranks), comm, PETSC_ERR_FILE_UNEXPECTED,
             "spmvpack: rank %d's share does not begin where that of the rank before it ends: write all with one "
             "`spmvpack encode --ranks %d`",
             static_cast<int>(agreement.first_gap()), static_cast<int>(ranks));
  *renumbered = agreement.renumbered() ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Composes with `a` the source's numbers of its rows, as an index set of the same layout.
PetscErrorCode compose_original_rows(Mat a, const Local& local) {
  IS is = nullptr;
  PetscFunctionBegin;
  PetscCall(ISCreateGeneral(PetscObjectComm(reinterpret_cast<PetscObject>(a)),
                            static_cast<PetscInt>(local.original_rows.size()), local.original_rows.data(),
                            PETSC_COPY_VALUES, &is));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(a), "spmvpack_original_rows",
                               reinterpret_cast<PetscObject>(is)));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode load_container(Mat a, const char* name) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscMPIInt rank = 0, ranks = 0;
  PetscBool renumbered = PETSC_FALSE;
  Local local;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  try {
    read_local(file_of(name, rank, ranks), rank, ranks, local);
  } catch (const Error& e) {
    local.failed = e.what();
  } catch (const std::bad_alloc&) {
    local.failed = "out of memory";
  } catch (const std::exception& e) {
    local.failed = e.what();
  }
  PetscCall(check_sizes(a, local));
  PetscCall(agree_on_shares(comm, name, local, &renumbered));
  const ShareFacts& f = local.facts;
  PetscCall(MatSetSizes(a, local.rows(), static_cast<PetscInt>(f.own_cols), static_cast<PetscInt>(f.global_rows),
                        static_cast<PetscInt>(f.global_cols)));
  // Of these two, the one that is not of the matrix's type does nothing.
  PetscCall(MatSeqAIJSetPreallocationCSR(a, local.row_ptr.data(), local.col_idx.data(), local.values.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(a, local.row_ptr.data(), local.col_idx.data(), local.values.data()));
  if (renumbered != PETSC_FALSE) PetscCall(compose_original_rows(a, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <Load** OfAij>
PetscErrorCode load(Mat a, PetscViewer viewer) {
  const char* name = nullptr;
  PetscBool is = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(is_container(a, viewer, &name, &is));
  if (is != PETSC_FALSE)
    PetscCall(load_container(a, name));
  else
    PetscCall((**OfAij)(a, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Has `a`, whose type is new, load by the function; what was there before is kept.
template <Load** OfAij>
PetscErrorCode set_load(Mat a) {
  PetscAnyFunction any = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOperation(a, MATOP_LOAD, &any));
  auto* const function = reinterpret_cast<Load*>(any);
  if (function != load<OfAij>) *OfAij = function;
  PetscCall(MatSetOperation(a, MATOP_LOAD, reinterpret_cast<PetscAnyFunction>(&load<OfAij>)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_seq_to_load(Mat a) {
  PetscFunctionBegin;
  PetscCall(create_seq(a));
  PetscCall(set_load<&load_of_seqaij>(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_mpi_to_load(Mat a) {
  PetscFunctionBegin;
  PetscCall(create_mpi(a));
  PetscCall(set_load<&load_of_mpiaij>(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_types_that_load() {
  PetscFunctionBegin;
  PetscCall(MatRegister(seq_type, create_seq_to_load));
  PetscCall(MatRegister(mpi_type, create_mpi_to_load));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
