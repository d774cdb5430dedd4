#include "bench/cusparse.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

#include "bench/cusparse_library.hpp"
#include "bench/device_columns.hpp"
#include "bench/device_memory.hpp"
#include "bench/peer_formats.hpp"

namespace spmvpack::bench {
namespace {

static_assert(CUSPARSE_VERSION >= 12600);

using Library = std::shared_ptr<const CusparseLibrary>;
using Memory = std::vector<std::shared_ptr<void>>;

// Padding that a format may add before it is left out: slots per nonzero, and bytes over those of CSR.
constexpr double sell_limit = 2.5;
constexpr std::uint64_t bsr_limit = 10;

std::uint64_t limit(const CsrView& a, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(a.nnz()) * factor);
}

cudaDataType cuda_type(ValueType type) {
  switch (type) {
    case ValueType::f64:
      return CUDA_R_64F;
    case ValueType::f32:
      return CUDA_R_32F;
    case ValueType::c64:
    case ValueType::c128:
      break;
  }
  throw Error(errc::unsupported, "cuSPARSE's peers are not of this type");
}

struct Context {
  Library library;
  std::shared_ptr<cusparseContext> handle;
  DeviceVectors vectors;
  cudaStream_t stream;
  cudaDataType values;       ///< type of the matrix's values
  std::uint64_t rows, cols;  ///< of the matrix, before a format rounds them up
  /// Of x, y and the arithmetic.
  [[nodiscard]] cudaDataType compute() const { return cuda_type(vectors.type); }
};

/// A matrix that cuSPARSE knows: its descriptor and the memory below it.
struct Description {
  std::shared_ptr<cusparseSpMatDescr> matrix;
  Memory memory;
  std::uint64_t rows = 0, cols = 0, bytes = 0;
};

/// `make` fills in a descriptor.
template <class Make>
Description describe(const Context& context, std::uint64_t rows, std::uint64_t cols, std::uint64_t bytes, Memory memory,
                     Make&& make) {
  cusparseSpMatDescr_t matrix = nullptr;
  context.library->require(make(&matrix), "describing the matrix");
  return {{matrix, [library = context.library](cusparseSpMatDescr_t m) { library->destroy_matrix(m); }},
          std::move(memory),
          rows,
          cols,
          bytes};
}

std::shared_ptr<cusparseDnVecDescr> describe_vector(const Context& context, std::uint64_t size, void* values) {
  cusparseDnVecDescr_t vector = nullptr;
  context.library->require(
      context.library->create_vector(&vector, static_cast<std::int64_t>(size), values, context.compute()),
      "describing a vector");
  return {vector, [library = context.library](cusparseDnVecDescr_t v) { library->destroy_vector(v); }};
}

/// 1 and 0, of the vectors' type.
struct Scalars {
  std::shared_ptr<const void> both;
  std::size_t size;
  explicit Scalars(ValueType type)
      : both(dispatch(type,
                      []<class T>(T) {
                        return std::shared_ptr<const void>(
                            std::make_shared<const std::array<T, 2>>(std::array<T, 2>{T{1}, T{0}}));
                      })),
        size(size_of(type)) {}
  [[nodiscard]] const void* one() const { return both.get(); }
  [[nodiscard]] const void* zero() const { return static_cast<const std::byte*>(both.get()) + size; }
};

constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// A candidate that multiplies what the descriptors x and y stand for: the context's vectors, or those that it is
/// given.
template <class Vector>
Candidate between(const Context& context, Candidate made, const Vector& x, const Vector& y,
                  const std::function<void()>& multiply) {
  made.between = [library = context.library, x, y, multiply](void* from, void* to) {
    library->require(library->set_values(x.get(), from), "setting a vector");
    library->require(library->set_values(y.get(), to), "setting a vector");
    multiply();
  };
  made.run = [of = made.between, vectors = context.vectors] { of(vectors.x, vectors.y); };
  return made;
}

/// The multiply of a description by cusparseSpMVOp, after its planning.
Candidate by_spmv_op(const Context& context, const std::string& name, const Description& a,
                     SpmvOpFunctions::Algorithm algorithm) {
  const auto x = describe_vector(context, a.cols, context.vectors.x);
  const auto y = describe_vector(context, a.rows, context.vectors.y);
  const CusparseLibrary& library = *context.library;
  std::size_t bytes = 0;
  library.require(library.op.buffer_size(context.handle.get(), plain, a.matrix.get(), x.get(), y.get(), y.get(),
                                         context.compute(), algorithm, &bytes),
                  "asking for a buffer's size");
  const std::shared_ptr<void> buffer = allocate_device(bytes);
  SpmvOpFunctions::Description* description = nullptr;
  library.require(library.op.describe(context.handle.get(), &description, plain, a.matrix.get(), x.get(), y.get(),
                                      y.get(), context.compute(), algorithm, buffer.get()),
                  "describing a multiply");
  const std::shared_ptr<SpmvOpFunctions::Description> described(
      description, [of = context.library](SpmvOpFunctions::Description* d) { of->op.destroy_description(d); });
  SpmvOpFunctions::Plan* plan = nullptr;
  library.require(library.op.plan(context.handle.get(), description, &plan, nullptr, 0), "planning a multiply");
  const std::shared_ptr<SpmvOpFunctions::Plan> planned(
      plan, [of = context.library](SpmvOpFunctions::Plan* p) { of->op.destroy_plan(p); });
  return between(context, {"cusparse", name, {}, std::nullopt, a.bytes, bytes, {}}, x, y,
                 [context, a, x, y, described, planned, buffer, scalars = Scalars(context.vectors.type)] {
                   context.library->require(
                       context.library->op.multiply(context.handle.get(), planned.get(), scalars.one(), scalars.zero(),
                                                    x.get(), y.get(), y.get()),
                       "multiplying");
                 });
}

/// The multiply of a description by one algorithm, after its preprocessing.
Candidate by_spmv(const Context& context, const std::string& name, const Description& a, cusparseSpMVAlg_t algorithm) {
  const auto x = describe_vector(context, a.cols, context.vectors.x);
  const auto y = describe_vector(context, a.rows, context.vectors.y);
  const Scalars scalars(context.vectors.type);
  const CusparseLibrary& library = *context.library;
  std::size_t bytes = 0;
  library.require(library.buffer_size(context.handle.get(), plain, scalars.one(), a.matrix.get(), x.get(),
                                      scalars.zero(), y.get(), context.compute(), algorithm, &bytes),
                  "asking for a buffer's size");
  const std::shared_ptr<void> buffer = allocate_device(bytes);
  library.require(library.preprocess(context.handle.get(), plain, scalars.one(), a.matrix.get(), x.get(),
                                     scalars.zero(), y.get(), context.compute(), algorithm, buffer.get()),
                  "preprocessing");
  return between(context, {"cusparse", name, {}, std::nullopt, a.bytes, bytes, {}}, x, y,
                 [context, a, x, y, scalars, buffer, algorithm] {
                   context.library->require(
                       context.library->multiply(context.handle.get(), plain, scalars.one(), a.matrix.get(), x.get(),
                                                 scalars.zero(), y.get(), context.compute(), algorithm, buffer.get()),
                       "multiplying");
                 });
}

/// An algorithm of cusparseSpMM, and the order of both X and Y.
struct SpmmMethod {
  cusparseSpMMAlg_t algorithm;
  cusparseOrder_t order;
};

/// The multiply of a description with all columns, after its preprocessing.
Candidate by_spmm(const Context& context, const std::string& name, const Description& a, SpmmMethod method) {
  if (!context.library->has_spmm()) throw Error(errc::unsupported, "this cuSPARSE has no cusparseSpMM");
  const SpmmFunctions& spmm = context.library->spmm;
  const DeviceVectors& vectors = context.vectors;
  const bool by_rows = method.order == CUSPARSE_ORDER_ROW;
  const auto dense = [&](std::uint64_t rows, std::uint64_t stride, void* values) {
    cusparseDnMatDescr_t matrix = nullptr;
    context.library->require(
        spmm.create_columns(&matrix, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(vectors.columns),
                            static_cast<std::int64_t>(by_rows ? vectors.columns : stride), values, context.compute(),
                            method.order),
        "describing columns");
    return std::shared_ptr<cusparseDnMatDescr>(
        matrix, [library = context.library](cusparseDnMatDescr_t m) { library->spmm.destroy_columns(m); });
  };
  const auto x = dense(a.cols, column_stride(context.cols), by_rows ? vectors.x : vectors.x_by_columns);
  const auto y = dense(a.rows, column_stride(context.rows), vectors.y);
  const Scalars scalars(vectors.type);
  std::size_t bytes = 0;
  context.library->require(spmm.buffer_size(context.handle.get(), plain, plain, scalars.one(), a.matrix.get(), x.get(),
                                            scalars.zero(), y.get(), context.compute(), method.algorithm, &bytes),
                           "asking for a buffer's size");
  const std::shared_ptr<void> buffer = allocate_device(bytes);
  context.library->require(spmm.preprocess(context.handle.get(), plain, plain, scalars.one(), a.matrix.get(), x.get(),
                                           scalars.zero(), y.get(), context.compute(), method.algorithm, buffer.get()),
                           "preprocessing");
  Candidate made{"cusparse", name, {}, std::nullopt, a.bytes, bytes, {}};
  made.run = [context, a, x, y, scalars, buffer, method] {
    context.library->require(
        context.library->spmm.multiply(context.handle.get(), plain, plain, scalars.one(), a.matrix.get(), x.get(),
                                       scalars.zero(), y.get(), context.compute(), method.algorithm, buffer.get()),
        "multiplying");
  };
  if (!by_rows)
    made.finish = [context] {
      make_row_major(context.vectors.y, context.rows, context.vectors.columns, context.vectors.type, context.stream);
    };
  return made;
}

/// Columns and values in device memory, shared by CSR and COO: there once either is asked for.
struct Entries {
  std::shared_ptr<void> columns, values;
  void require(const CsrView& a) {
    if (columns != nullptr) return;
    columns = upload(a.col_idx(), a.nnz() * sizeof(std::uint32_t));
    values = upload(a.value_bytes(), a.nnz() * size_of(a.value_type()));
  }
  static std::uint64_t bytes(const CsrView& a) { return a.nnz() * (sizeof(std::uint32_t) + size_of(a.value_type())); }
};

constexpr auto index = CUSPARSE_INDEX_32I;
constexpr auto base = CUSPARSE_INDEX_BASE_ZERO;
constexpr auto signed_size = [](std::uint64_t size) { return static_cast<std::int64_t>(size); };

Description csr_matrix(const Context& context, const CsrView& a, Entries& entries) {
  entries.require(a);
  Array<std::int32_t> row_ptr(a.rows() + 1);
  for (std::uint64_t i = 0; i <= a.rows(); ++i) row_ptr[i] = static_cast<std::int32_t>(a.row_ptr(i));
  const std::shared_ptr<void> pointers = upload(row_ptr);
  return describe(context, a.rows(), a.cols(), Entries::bytes(a) + row_ptr.size() * sizeof(std::int32_t),
                  {pointers, entries.columns, entries.values}, [&](cusparseSpMatDescr_t* matrix) {
                    return context.library->create_csr(matrix, signed_size(a.rows()), signed_size(a.cols()),
                                                       signed_size(a.nnz()), pointers.get(), entries.columns.get(),
                                                       entries.values.get(), index, index, base, context.values);
                  });
}

Description coo_matrix(const Context& context, const CsrView& a, Entries& entries, int threads) {
  entries.require(a);
  const std::shared_ptr<void> rows = upload(coo_rows(a, threads));
  return describe(context, a.rows(), a.cols(), Entries::bytes(a) + a.nnz() * sizeof(std::int32_t),
                  {rows, entries.columns, entries.values}, [&](cusparseSpMatDescr_t* matrix) {
                    return context.library->create_coo(matrix, signed_size(a.rows()), signed_size(a.cols()),
                                                       signed_size(a.nnz()), rows.get(), entries.columns.get(),
                                                       entries.values.get(), index, base, context.values);
                  });
}

template <class T>
Description sell_matrix(const Context& context, const CsrView& a, int threads) {
  const auto sell = sliced_ell<T>(a, limit(a, sell_limit), threads);
  if (!sell) throw Error(errc::unsupported, "padding would make it more than 2.5 times the nonzeros");
  const Memory memory{upload(sell->offsets), upload(sell->columns), upload(sell->values)};
  const std::uint64_t slots = sell->columns.size();
  return describe(context, a.rows(), a.cols(),
                  sell->offsets.size() * sizeof(std::int32_t) + slots * (sizeof(std::int32_t) + sizeof(T)), memory,
                  [&](cusparseSpMatDescr_t* matrix) {
                    return context.library->create_sell(
                        matrix, signed_size(a.rows()), signed_size(a.cols()), signed_size(a.nnz()), signed_size(slots),
                        signed_size(SlicedEll<T>::slice), memory[0].get(), memory[1].get(), memory[2].get(), index,
                        index, base, context.values);
                  });
}

template <class T>
Description bsr_matrix(const Context& context, const CsrView& a, std::uint64_t size, int threads) {
  const auto bsr = block_csr<T>(a, size, block_value_limit(a, size, bsr_limit), threads);
  if (!bsr) throw Error(errc::unsupported, "blocks would take more than 10 times the bytes of CSR");
  const Memory memory{upload(bsr->row_ptr), upload(bsr->columns), upload(bsr->values)};
  const std::uint64_t rows = div_up(a.rows(), size), cols = div_up(a.cols(), size);
  return describe(context, rows * size, cols * size,
                  (bsr->row_ptr.size() + bsr->columns.size()) * sizeof(std::int32_t) + bsr->values.size() * sizeof(T),
                  memory, [&](cusparseSpMatDescr_t* matrix) {
                    return context.library->create_bsr(
                        matrix, signed_size(rows), signed_size(cols), signed_size(bsr->columns.size()),
                        signed_size(size), signed_size(size), memory[0].get(), memory[1].get(), memory[2].get(), index,
                        index, base, context.values, CUSPARSE_ORDER_ROW);
                  });
}

class LoadedCusparse final : public Cusparse {
 public:
  LoadedCusparse(cudaStream_t stream, int threads)
      : library_(std::make_shared<const CusparseLibrary>()), stream_(stream), threads_(threads) {
    cusparseHandle_t handle = nullptr;
    library_->require(library_->create(&handle), "starting");
    handle_ = {handle, [library = library_](cusparseHandle_t h) { library->destroy(h); }};
    library_->require(library_->set_stream(handle, stream), "setting the stream");
  }

  [[nodiscard]] std::string version() const override { return library_->version(); }

  std::vector<Peer> peers(const CsrView& a, const DeviceVectors& vectors) override {
    const Context context{library_, handle_, vectors, stream_, cuda_type(a.value_type()), a.rows(), a.cols()};
    const auto entries = std::make_shared<Entries>();
    const int threads = threads_;
    std::vector<Peer> peers;
    const auto add = [&](const std::string& name, auto algorithm, auto&& matrix) {
      peers.push_back({"cusparse", name, [=] {
                         constexpr std::uint64_t most = std::uint64_t{1} << 31U;
                         if (a.nnz() >= most || a.rows() >= most - vector_slack || a.cols() >= most - vector_slack)
                           throw Error(errc::unsupported, "too large for 32-bit indices");
                         const Description described = matrix();
                         try {
                           if constexpr (std::is_same_v<decltype(algorithm), SpmvOpFunctions::Algorithm>)
                             return by_spmv_op(context, name, described, algorithm);
                           else if constexpr (std::is_same_v<decltype(algorithm), SpmmMethod>)
                             return by_spmm(context, name, described, algorithm);
                           else
                             return by_spmv(context, name, described, algorithm);
                         } catch (const Error& e) {
                           if (e.code() != errc::unsupported || vectors.type == a.value_type()) throw;
                           throw Error(errc::unsupported, "f32 values with f64 vectors: " + e.message());
                         }
                       }});
    };
    const auto csr = [=] { return csr_matrix(context, a, *entries); };
    const auto coo = [=] { return coo_matrix(context, a, *entries, threads); };
    if (vectors.columns != 1) {
      const auto add_orders = [&](const std::string& name, cusparseSpMMAlg_t algorithm, auto&& matrix) {
        add(name + "-row", SpmmMethod{algorithm, CUSPARSE_ORDER_ROW}, matrix);
        add(name + "-col", SpmmMethod{algorithm, CUSPARSE_ORDER_COL}, matrix);
      };
      add_orders("csr-alg1", CUSPARSE_SPMM_CSR_ALG1, csr);
      add_orders("csr-alg2", CUSPARSE_SPMM_CSR_ALG2, csr);
      add_orders("csr-alg3", CUSPARSE_SPMM_CSR_ALG3, csr);
      add_orders("coo-alg1", CUSPARSE_SPMM_COO_ALG1, coo);
      add_orders("coo-alg2", CUSPARSE_SPMM_COO_ALG2, coo);
      add_orders("coo-alg3", CUSPARSE_SPMM_COO_ALG3, coo);
      add_orders("coo-alg4", CUSPARSE_SPMM_COO_ALG4, coo);
      dispatch(a.value_type(), [&]<class T>(T) {
        for (const std::uint64_t size : {2U, 3U, 4U})
          add_orders("bsr-" + std::to_string(size), CUSPARSE_SPMM_BSR_ALG1,
                     [=] { return bsr_matrix<T>(context, a, size, threads); });
      });
      return peers;
    }
    add("csr-alg1", CUSPARSE_SPMV_CSR_ALG1, csr);
    add("csr-alg2", CUSPARSE_SPMV_CSR_ALG2, csr);
    if (library_->has_op()) {
      add("csr-op-alg1", SpmvOpFunctions::alg1, csr);
      add("csr-op-alg2", SpmvOpFunctions::alg2, csr);
    }
    add("coo-alg1", CUSPARSE_SPMV_COO_ALG1, coo);
    add("coo-alg2", CUSPARSE_SPMV_COO_ALG2, coo);
    dispatch(a.value_type(), [&]<class T>(T) {
      add("sell-32", CUSPARSE_SPMV_SELL_ALG1, [=] { return sell_matrix<T>(context, a, threads); });
      for (const std::uint64_t size : {2U, 3U, 4U})
        add("bsr-" + std::to_string(size), CUSPARSE_SPMV_BSR_ALG1,
            [=] { return bsr_matrix<T>(context, a, size, threads); });
    });
    return peers;
  }

 private:
  Library library_;
  std::shared_ptr<cusparseContext> handle_;
  cudaStream_t stream_;
  int threads_;
};

}  // namespace

std::shared_ptr<Cusparse> load_cusparse(cudaStream_t stream, int threads) {
  return std::make_shared<LoadedCusparse>(stream, threads);
}

}  // namespace spmvpack::bench
