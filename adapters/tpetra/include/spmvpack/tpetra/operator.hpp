#pragma once
/// Tpetra::Operator, which Belos's solvers multiply with, on encoded matrices: a header for programs that have Trilinos
/// and spmvpack's encoder and host_loader (docs/OPERATORS.md).

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::tpetra {

/// The default request of encode(): `auto` for the least time on this kind of machine, one thread for each rank.
inline encoder::EncodeRequest default_request() {
  encoder::EncodeRequest request;
  request.aim = {encoder::Objective::time, encoder::Target::host};
  request.threads = 1;
  return request;
}

/// The scalars and local ordinals that encoded matrices support: f64 or f32, no complex numbers; 32-bit indices.
template <class Scalar, class LocalOrdinal>
concept Encodable = is_value_type<Scalar> && !is_complex_type<Scalar> && sizeof(LocalOrdinal) == sizeof(std::int32_t);

/// Y = alpha op(A) X + beta Y with an encoded matrix, in host memory, whose X and Y may have any number of columns.
template <class Scalar = Tpetra::Operator<>::scalar_type,
          class LocalOrdinal = typename Tpetra::Operator<Scalar>::local_ordinal_type,
          class GlobalOrdinal = typename Tpetra::Operator<Scalar, LocalOrdinal>::global_ordinal_type,
          class Node = typename Tpetra::Operator<Scalar, LocalOrdinal, GlobalOrdinal>::node_type>
requires Encodable<Scalar, LocalOrdinal>
class Operator final : public Tpetra::Operator<Scalar, LocalOrdinal, GlobalOrdinal, Node> {
 public:
  using Map = Tpetra::Map<LocalOrdinal, GlobalOrdinal, Node>;
  using MultiVector = Tpetra::MultiVector<Scalar, LocalOrdinal, GlobalOrdinal, Node>;
  using CrsMatrix = Tpetra::CrsMatrix<Scalar, LocalOrdinal, GlobalOrdinal, Node>;

  /// A whole matrix in one process, such as one from a container. Row i is the element of the range map with global
  /// index i, counted from the map's base; column j likewise in the domain map. Multiplies run on `threads` threads (0:
  /// all). Error(errc::usage), before any multiply: no matrix or map; several processes; a map that is not contiguous,
  /// or that does not match the matrix's rows or columns; f32 vectors with f64 values.
  Operator(std::shared_ptr<const host_loader::HostMatrix> matrix, Teuchos::RCP<const Map> range,
           Teuchos::RCP<const Map> domain, int threads = 1)
      : matrix_(std::move(matrix)), range_(std::move(range)), domain_(std::move(domain)), threads_(threads) {
    if (matrix_ == nullptr) fail("there is no matrix", "load or encode one first");
    check_map(range_, "range", matrix_->facts().rows, "rows");
    check_map(domain_, "domain", matrix_->facts().cols, "columns");
    check_types();
  }

  /// Encodes a matrix of Tpetra that is distributed over any number of processes, in any way: each encodes its rows,
  /// and multiplies after Tpetra's own exchange. The CrsMatrix is not needed afterwards. With request.transpose,
  /// apply() takes the transpose, too; request.threads is also the number of threads that multiply. All processes of
  /// the matrix call it, and if one throws, all do. Errors: errc::usage (fillComplete() was not called, or processes
  /// share rows), and those of encoder::encode().
  static Teuchos::RCP<Operator> encode(const CrsMatrix& a, const encoder::EncodeRequest& request = default_request()) {
    if (!a.isFillComplete()) fail("the matrix is not complete", "call fillComplete() first");
    if (!a.getGraph()->getExporter().is_null())
      fail("the row map of the matrix is not its range map: processes share rows", "give each row to one process");
    std::shared_ptr<const host_loader::HostMatrix> matrix;
    std::exception_ptr error;
    try {
      matrix = std::make_shared<const host_loader::HostMatrix>(encode_local(a, request));
    } catch (...) {
      error = std::current_exception();
    }
    // All of them learn of it, so that none waits in a multiply for one that has thrown.
    const Teuchos::Comm<int>& processes = *a.getComm();
    const int failed = error != nullptr ? processes.getRank() : processes.getSize();
    int first = failed;
    Teuchos::reduceAll(processes, Teuchos::REDUCE_MIN, 1, &failed, &first);
    if (error != nullptr) std::rethrow_exception(error);
    if (first < processes.getSize())
      throw Error(errc::usage, "rank " + std::to_string(first) + " could not encode its rows", "a Tpetra::CrsMatrix",
                  "see what it says");
    return Teuchos::rcp(new Operator(std::move(matrix), a, request.transpose, request.threads));
  }

  [[nodiscard]] Teuchos::RCP<const Map> getDomainMap() const override { return domain_; }
  [[nodiscard]] Teuchos::RCP<const Map> getRangeMap() const override { return range_; }
  /// Whether apply() takes Teuchos::TRANS, on this process and all others: the transpose was encoded, or the matrix is
  /// in one process and symmetric or skew-symmetric.
  [[nodiscard]] bool hasTransposeApply() const override { return has_transpose_; }
  /// This process's rows.
  [[nodiscard]] const host_loader::HostMatrix& local_matrix() const noexcept { return *matrix_; }

  /// X and Y do not overlap. Y is not read if beta is 0. Values are real: CONJ_TRANS is TRANS. Error(errc::usage), on
  /// all processes, if X or Y is not over the maps of op(A), if they differ in their numbers of columns, or if there is
  /// no transpose.
  void apply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             Scalar alpha = Teuchos::ScalarTraits<Scalar>::one(),
             Scalar beta = Teuchos::ScalarTraits<Scalar>::zero()) const override {
    const bool transposed = mode != Teuchos::NO_TRANS;
    if (transposed && !has_transpose_)
      fail("there is no transpose to apply", "encode the matrix with EncodeRequest::transpose");
    check_vectors(x, transposed ? *range_ : *domain_, "X", transposed ? "range" : "domain");
    check_vectors(y, transposed ? *domain_ : *range_, "Y", transposed ? "domain" : "range");
    if (x.getNumVectors() != y.getNumVectors())
      fail("X has " + std::to_string(x.getNumVectors()) + " columns, Y " + std::to_string(y.getNumVectors()),
           "give both as many");
    if (importer_.is_null()) {  // whatever a process multiplies by is its own
      multiply(x, y, mode, alpha, beta);
    } else if (!transposed) {
      MultiVector with_ghosts(importer_->getTargetMap(), x.getNumVectors());
      with_ghosts.doImport(x, *importer_, Tpetra::INSERT);
      multiply(with_ghosts, y, mode, alpha, beta);
    } else {
      MultiVector with_ghosts(importer_->getTargetMap(), x.getNumVectors());
      multiply(x, with_ghosts, mode, alpha, Scalar{0});
      if (beta == Scalar{0})
        y.putScalar(Scalar{0});  // scale() would keep NaN
      else
        y.scale(beta);
      y.doExport(with_ghosts, *importer_, Tpetra::ADD_ASSIGN);
    }
  }

 private:
  using Importer = Tpetra::Import<LocalOrdinal, GlobalOrdinal, Node>;

  Operator(std::shared_ptr<const host_loader::HostMatrix> matrix, const CrsMatrix& a, bool with_transpose, int threads)
      : matrix_(std::move(matrix)),
        range_(a.getRangeMap()),
        domain_(a.getDomainMap()),
        importer_(a.getGraph()->getImporter()),
        threads_(threads) {
    check_types();
    // That one process's rows happen to be symmetric says nothing of the others'.
    if (range_->getComm()->getSize() > 1) has_transpose_ = with_transpose;
  }

  [[noreturn]] static void fail(const std::string& what, const std::string& remedy) {
    throw Error(errc::usage, what, "spmvpack::tpetra::Operator", remedy);
  }
  static void check_map(const Teuchos::RCP<const Map>& map, const std::string& name, std::uint64_t size,
                        const std::string& of) {
    if (map.is_null()) fail("there is no " + name + " map", "make one of the matrix's " + of);
    if (map->getComm()->getSize() > 1)
      fail("the " + name + " map is of " + std::to_string(map->getComm()->getSize()) +
               " processes, and a whole matrix of one",
           "encode() a Tpetra::CrsMatrix, of which each process has rows");
    if (!map->isContiguous())
      fail("the " + name + " map is not contiguous, as the matrix's " + of + " are",
           "make the map from its size, and permute vectors by a Tpetra::Import");
    if (map->getGlobalNumElements() != size)
      fail("the " + name + " map has " + std::to_string(map->getGlobalNumElements()) + " elements, the matrix " +
               std::to_string(size) + ' ' + of,
           "make the map from the size of the matrix");
  }
  void check_types() {
    (void)check_description(describe<Scalar>(), matrix_->facts(), {});
    has_transpose_ = matrix_->has_transpose();
  }
  /// As Tpetra compares maps: at once if they are one, else with all processes, which get the same answer.
  static void check_vectors(const MultiVector& v, const Map& map, const std::string& name, const std::string& of) {
    if (!v.getMap()->isSameAs(map))
      fail("the map of " + name + ", of " + std::to_string(v.getGlobalLength()) + " elements, is not the " + of +
               " map, of " + std::to_string(map.getGlobalNumElements()),
           "make " + name + " with getDomainMap() or getRangeMap()");
  }

  static host_loader::HostMatrix encode_local(const CrsMatrix& a, const encoder::EncodeRequest& request) {
    const auto local = a.getLocalMatrixHost();
    const auto row_ptr = local.graph.row_map;
    const auto nnz = static_cast<std::size_t>(local.graph.entries.extent(0));
    const CsrView view(static_cast<std::uint64_t>(local.numRows()), static_cast<std::uint64_t>(local.numCols()),
                       std::span(row_ptr.data(), row_ptr.extent(0)),
                       std::span<const LocalOrdinal>(local.graph.entries.data(), nnz),
                       std::span<const Scalar>(local.values.data(), nnz));
    MemorySink sink;
    if (view.columns_increase(request.threads))
      encoder::encode(view, request, sink);
    else
      encoder::encode(assemble(view, request.threads, request.memory_limit), request, sink);
    LoadOptions options;  // the bytes are our own: nothing has changed them
    options.threads = request.threads;
    options.verify_checksums = options.check_structure = false;
    return host_loader::HostMatrix::load(Container::open(memory_source(sink.take()), "a Tpetra::CrsMatrix"), options);
  }

  void multiply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode, Scalar alpha, Scalar beta) const {
    if (!x.isConstantStride() || !y.isConstantStride()) {  // columns picked out of others
      for (std::size_t j = 0; j < x.getNumVectors(); ++j)
        multiply(*x.getVector(j), *y.getVectorNonConst(j), mode, alpha, beta);
      return;
    }
    const auto x_view = x.getLocalViewHost(Tpetra::Access::ReadOnly);
    const auto y_view = y.getLocalViewHost(Tpetra::Access::ReadWrite);
    const auto operation = mode == Teuchos::NO_TRANS ? spmvpack::Operation::none : spmvpack::Operation::transpose;
    matrix_->template multiply<Scalar>(alpha, dense<const Scalar>(x_view), beta, dense<Scalar>(y_view), threads_,
                                       describe<Scalar>(operation));
  }
  template <class T, class View>
  static DenseView<T> dense(const View& v) {
    return {v.data(), v.extent(0), v.extent(1), static_cast<std::int64_t>(v.stride(0)),
            static_cast<std::int64_t>(v.stride(1))};
  }

  std::shared_ptr<const host_loader::HostMatrix> matrix_;
  Teuchos::RCP<const Map> range_, domain_;
  Teuchos::RCP<const Importer> importer_;  ///< to the columns of the local rows, where others have some of them
  int threads_;
  bool has_transpose_ = false;
};

}  // namespace spmvpack::tpetra
