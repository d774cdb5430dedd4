// MATSEQAIJCUSPARSE with another multiply, on the GPU. All else is PETSc's: diagonals, products, assembly by
// MatSetValuesCOO() stay on the device.
//
// Such a matrix has no type of its own: PETSc's functions, those that copy a matrix to the device among them, refuse
// any that is not named MATSEQAIJCUSPARSE. So the name stays, and what would make the functions PETSc's again
// (MatBindToCPU(), MatDuplicate()) is replaced, too.

#include <petscdevice.h>

#include "device.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "functions.hpp"
#include "product_functions.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

PetscErrorCode state_of(Mat a, State** state);
PetscErrorCode multiply(Mat a, bool transpose, Vec x, Vec y, Vec z);
PetscErrorCode bind_to_cpu(Mat a, PetscBool bind);
PetscErrorCode duplicate(Mat a, MatDuplicateOption option, Mat* copy);
PetscErrorCode convert_to_gpu_seq(Mat a, MatType type, MatReuse reuse, Mat* converted);

constexpr const Functions& ours = FunctionsBy<multiply, state_of>::all;

/// PETSc's own, the same for every MATSEQAIJCUSPARSE that is not bound to the CPU.
struct OfAijcusparse {
  Functions functions;
  PetscErrorCode (*bind_to_cpu)(Mat, PetscBool) = nullptr;
  PetscErrorCode (*duplicate)(Mat, MatDuplicateOption, Mat*) = nullptr;
  OfMatrix* products = nullptr;  ///< with dense matrices
};
OfAijcusparse of_aijcusparse;
constexpr const char* products_with[] = {"MatProductSetFromOptions_seqaijcusparse_seqdensecuda_C",
                                         "MatProductSetFromOptions_seqaijcusparse_seqdense_C"};

/// The number of the GPU that PETSc has chosen for this rank.
PetscErrorCode current_device(int* number) {
  PetscDeviceContext context = nullptr;
  PetscDevice device = nullptr;
  PetscInt id = 0;
  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDevice(context, &device));
  PetscCall(PetscDeviceGetDeviceId(device, &id));
  *number = static_cast<int>(id);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of what a place calls where exceptions are expected.
void check(PetscErrorCode code) {
  if (code != PETSC_SUCCESS) throw Error(errc::internal, "PETSc reports an error of its GPU");
}

/// Pointers of the pattern are those in host memory, which every MATSEQAIJCUSPARSE has; its values may be on the
/// device, and whoever changes them there raises the state.
PetscErrorCode contents_on_gpu(Mat a, Contents* contents) {
  PetscInt rows = 0;
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &contents->state));
  PetscCall(MatGetNonzeroState(a, &contents->pattern));
  const PetscInt *row_ptr = nullptr, *col_idx = nullptr;
  PetscCall(MatGetRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col_idx, &done));
  PetscCheck(done != PETSC_FALSE, PETSC_COMM_SELF, PETSC_ERR_SUP, "spmvpack: the matrix has no pattern in host memory");
  contents->row_ptr = row_ptr;
  contents->col_idx = col_idx;
  PetscCall(MatRestoreRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &rows, &row_ptr, &col_idx, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode defaults_on_gpu(Options* options, std::string* target) {
  int device = 0;
  PetscFunctionBegin;
  options->encoding.threads = 0;     // they encode; otherwise the host is idle
  options->encoding.at_most = 0.95;  // csr itself stays PETSc's
  PetscCall(current_device(&device));
  PetscCall(guarded([&] { *target = target_of_device(device); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

encoder::Tuner tuner_on_gpu(int threads) {
  int device = 0;
  check(current_device(&device));
  return tuner_on_device(device, threads);
}

std::shared_ptr<DeviceOperator> load(const Encoding& encoding, int threads) {
  int device = 0;
  gpu_loader::Stream stream = nullptr;
  check(current_device(&device));
  check(current_stream(&stream));
  const gpu_loader::CurrentDevice current(device);
  return std::make_shared<DeviceOperator>(encoding, threads, stream);
}

/// From the device's array of values, to which PETSc copies those that are newer on the host.
PetscErrorCode update_on_gpu(Mat a, const State& state, Operator& op, std::string* failure) {
  gpu_loader::Stream stream = nullptr;
  const PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(a, &values));
  PetscCall(PetscLogGpuTimeBegin());
  *failure = failure_of([&] { op.device->update_values({values, static_cast<std::size_t>(state.nnz)}, stream); });
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(a, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From AIJCUSPARSE's arrays on the device, to which PETSc copies what is newer on the host, or on the host alone.
PetscErrorCode encode_on_gpu(Mat a, const State& state, bool transpose, EncodedThere* made) {
  EncodingOptions options = state.options.encoding;
  const auto rows = static_cast<std::uint64_t>(state.rows), cols = static_cast<std::uint64_t>(state.cols);
  int device = 0;
  gpu_loader::Stream stream = nullptr;
  const PetscInt *row_ptr = nullptr, *col_idx = nullptr;
  const PetscScalar* values = nullptr;
  std::uint64_t filled = 0;
  PetscFunctionBegin;
  options.transpose = transpose;
  options.updatable = state.updatable;
  if (!encodes_on_device(options)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt r = 0; r < state.rows; ++r) filled += state.contents.row_ptr[r] != state.contents.row_ptr[r + 1];
  if (filled < rows / 2) PetscFunctionReturn(PETSC_SUCCESS);  // the host lists the rows that have entries
  PetscCall(current_device(&device));
  PetscCall(current_stream(&stream));
  PetscCall(PetscLogEventBegin(events.encode, a, 0, 0, 0));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(a, &values));
  PetscCall(MatSeqAIJCUSPARSEGetIJ(a, PETSC_FALSE, &row_ptr, &col_idx));
  PetscCall(PetscLogGpuTimeBegin());
  made->failure = failure_of([&] {
    const gpu_loader::CurrentDevice current(device);
    const auto nonzeros = static_cast<std::uint64_t>(state.nnz);
    made->encoding = encode_on_device({rows, cols, nonzeros, row_ptr, col_idx, values}, options, stream, &made->device);
    made->encoding.filled_rows = filled;
  });
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(a, PETSC_FALSE, &row_ptr, &col_idx));
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(a, &values));
  PetscCall(PetscLogEventEnd(events.encode, a, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Place on_gpu{"AIJCUSPARSE", true, contents_on_gpu, defaults_on_gpu,
                       tuner_on_gpu,  load, update_on_gpu,   encode_on_gpu};

/// Composes a State with the matrix unless it has one of its own.
PetscErrorCode state_of(Mat a, State** state) {
  bool own = false;
  PetscFunctionBegin;
  PetscCall(find_state(a, state, &own));
  // MatHeaderMerge() and MatHeaderReplace() exchange what is composed with matrices, of whatever type.
  if (!own || (*state)->place != &on_gpu) PetscCall(make_state(a, on_gpu, of_aijcusparse.functions, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = op(A) x, or op(A) x + z, unless a vector is not on the GPU: then z is as before.
PetscErrorCode multiply_on_gpu(Mat a, const State& state, const Multiplier& with, bool adds, Vec x, Vec z, bool* done) {
  gpu_loader::Stream stream = nullptr;
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscMemType of_x = PETSC_MEMTYPE_HOST, of_z = PETSC_MEMTYPE_HOST;
  PetscBool x_bound = PETSC_FALSE, z_bound = PETSC_FALSE;
  PetscFunctionBegin;
  // AIJCUSPARSE multiplies into the device's copy of a vector that is bound to the CPU; to look at its host array would
  // make that one the newest.
  PetscCall(VecBoundToCPU(x, &x_bound));
  PetscCall(VecBoundToCPU(z, &z_bound));
  *done = false;
  if (x_bound != PETSC_FALSE || z_bound != PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayReadAndMemType(x, &from, &of_x));
  if (adds)
    PetscCall(VecGetArrayAndMemType(z, &to, &of_z));
  else
    PetscCall(VecGetArrayWriteAndMemType(z, &to, &of_z));
  *done = PetscMemTypeCUDA(of_x) && PetscMemTypeCUDA(of_z);
  if (*done) {
    PetscCall(current_stream(&stream));
    PetscCall(PetscLogEventBegin(events.multiply, a, x, z, 0));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded([&] { with.device->multiply(with.operation, from, adds ? 1 : 0, to, stream); }));
    PetscCall(PetscLogGpuTimeEnd());
    const double first_products = adds ? 0 : static_cast<double>(with.of->encoding.filled_rows);
    PetscCall(PetscLogGpuFlops(2.0 * state.nnz - first_products));
    PetscCall(PetscLogEventEnd(events.multiply, a, x, z, 0));
    ++with.of->multiplies;
  }
  if (adds)
    PetscCall(VecRestoreArrayAndMemType(z, &to));
  else
    PetscCall(VecRestoreArrayWriteAndMemType(z, &to));
  PetscCall(VecRestoreArrayReadAndMemType(x, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJCUSPARSE writes to the device memory of any vector, which those of types without any would never read.
PetscErrorCode require_cuda(Vec z) {
  VecType type = nullptr;
  PetscBool cuda = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(z), &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecGetType(z, &type));
  PetscCheck(cuda != PETSC_FALSE, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "spmvpack: AIJCUSPARSE cannot multiply into a vector of type %s; take those of MatCreateVecs(), or "
             "-vec_type cuda",
             type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = op(A) x, or with `y`, which may be z, op(A) x + y. Vectors may be parallel: this rank's elements are meant.
PetscErrorCode multiply(Mat a, bool transpose, Vec x, Vec y, Vec z) {
  State* state = nullptr;
  Multiplier with;
  bool done = false;
  PetscFunctionBegin;
  PetscCall(state_of(a, &state));
  PetscCall(find_multiplier(a, *state, transpose, &with));
  // In place for AIJCUSPARSE, too: of two vectors, PETSc 3.26.1 adds to A^T x + y what z was.
  if (y != nullptr && y != z) {
    PetscCall(VecCopy(y, z));
    y = z;
  }
  if (with.device != nullptr) PetscCall(multiply_on_gpu(a, *state, with, y != nullptr, x, z, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(require_cuda(z));
  if (y == nullptr)
    PetscCall((transpose ? state->aij.mult_transpose : state->aij.mult)(a, x, z));
  else
    PetscCall((transpose ? state->aij.mult_transpose_add : state->aij.mult_add)(a, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// c = op(A) b by us, if both are on the GPU.
PetscErrorCode multiply_dense(Mat a, bool transpose, Mat b, Mat c, bool* done) {
  State* state = nullptr;
  Multiplier with;
  gpu_loader::Stream stream = nullptr;
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscMemType of_b = PETSC_MEMTYPE_HOST, of_c = PETSC_MEMTYPE_HOST;
  PetscBool a_bound = PETSC_FALSE, b_bound = PETSC_FALSE, c_bound = PETSC_FALSE;
  PetscInt columns = 0, b_leading = 0, c_leading = 0;
  PetscFunctionBegin;
  PetscCall(MatBoundToCPU(a, &a_bound));
  PetscCall(MatBoundToCPU(b, &b_bound));
  PetscCall(MatBoundToCPU(c, &c_bound));
  if (a_bound != PETSC_FALSE || b_bound != PETSC_FALSE || c_bound != PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(b, nullptr, &columns));
  PetscCall(state_of(a, &state));
  PetscCall(find_multiplier(a, *state, transpose, &with, columns));
  if (with.device == nullptr || columns == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDenseGetLDA(b, &b_leading));
  PetscCall(MatDenseGetLDA(c, &c_leading));
  PetscCall(MatDenseGetArrayReadAndMemType(b, &from, &of_b));
  PetscCall(MatDenseGetArrayWriteAndMemType(c, &to, &of_c));
  *done = PetscMemTypeCUDA(of_b) && PetscMemTypeCUDA(of_c);
  if (*done) {
    const auto k = static_cast<std::uint64_t>(columns);
    const auto rows = static_cast<std::uint64_t>(state->rows), cols = static_cast<std::uint64_t>(state->cols);
    PetscCall(current_stream(&stream));
    PetscCall(PetscLogEventBegin(events.multiply, a, 0, 0, 0));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded([&] {
      with.device->multiply_columns(with.operation, {from, transpose ? rows : cols, k, 1, b_leading},
                                    {to, transpose ? cols : rows, k, 1, c_leading}, stream);
    }));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(static_cast<double>(columns) *
                               (2.0 * state->nnz - static_cast<double>(with.of->encoding.filled_rows))));
    PetscCall(PetscLogEventEnd(events.multiply, a, 0, 0, 0));
    with.of->multiplies += columns;
  }
  PetscCall(MatDenseRestoreArrayWriteAndMemType(c, &to));
  PetscCall(MatDenseRestoreArrayReadAndMemType(b, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode products_of_aijcusparse(Mat /*a*/, Mat /*b*/, OfMatrix** set_from_options) {
  PetscFunctionBegin;
  *set_from_options = of_aijcusparse.products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those of the table, and those that are composed with a matrix.
PetscErrorCode set_all_functions(Mat a) {
  PetscFunctionBegin;
  PetscCall(set_functions(a, ours));
  for (const char* const name : products_with)
    PetscCall(compose(a, name, ProductsBy<multiply_dense, products_of_aijcusparse, true>::set_from_options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's sets the functions of a matrix anew: AIJ's while it is bound, AIJCUSPARSE's afterwards.
PetscErrorCode bind_to_cpu(Mat a, PetscBool bind) {
  PetscFunctionBegin;
  PetscCall(of_aijcusparse.bind_to_cpu(a, bind));
  if (bind == PETSC_FALSE) PetscCall(set_all_functions(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicate(Mat a, MatDuplicateOption option, Mat* copy) {
  PetscFunctionBegin;
  PetscCall(of_aijcusparse.duplicate(a, option, copy));
  PetscCall(take_over_seq(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_gpu_seq(Mat a, MatType /*type*/, MatReuse reuse, Mat* converted) {
  Mat b = *converted;
  PetscFunctionBegin;
  PetscCall(matrix_to_change_of(MATSEQAIJCUSPARSE, a, reuse, &b));
  PetscCall(take_over_seq(b));
  *converted = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_gpu_seq(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATSEQAIJCUSPARSE));
  PetscCall(take_over_seq(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What made a matrix of type MATSEQAIJCUSPARSE, and MATMPIAIJCUSPARSE, before -mat_spmvpack_aijcusparse.
PetscErrorCode (*create_aijcusparse)(Mat) = nullptr;
PetscErrorCode (*create_mpiaijcusparse)(Mat) = nullptr;

PetscErrorCode create_every_seq(Mat a) {
  PetscFunctionBegin;
  PetscCall(create_aijcusparse(a));
  PetscCall(take_over_seq(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode create_every_mpi(Mat a) {
  PetscFunctionBegin;
  PetscCall(create_mpiaijcusparse(a));
  PetscCall(convert_to_gpu_mpi(a, gpu_mpi_type, MAT_INPLACE_MATRIX, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode current_stream(CUstream_st** stream) {
  PetscDeviceContext context = nullptr;
  PetscDeviceType type = PETSC_DEVICE_HOST;
  void* handle = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDeviceType(context, &type));
  PetscCheck(type == PETSC_DEVICE_CUDA, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "spmvpack: PETSc's current device context is not one of CUDA");
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  *stream = *static_cast<gpu_loader::Stream*>(handle);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_over_seq(Mat a) {
  const auto object = reinterpret_cast<PetscObject>(a);
  State* state = nullptr;
  Mult* of_matrix = nullptr;
  MatFactorType factor = MAT_FACTOR_NONE;
  PetscBool bound = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetFactorType(a, &factor));
  PetscCall(get_operation(a, MATOP_MULT, &of_matrix));
  if (factor != MAT_FACTOR_NONE || of_matrix == ours.mult) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBoundToCPU(a, &bound));
  if (bound != PETSC_FALSE) PetscCall(MatBindToCPU(a, PETSC_FALSE));
  if (of_aijcusparse.bind_to_cpu == nullptr) {
    PetscCall(get_functions(a, &of_aijcusparse.functions));
    PetscCall(get_operation(a, MATOP_DUPLICATE, &of_aijcusparse.duplicate));
    PetscCall(get_operation(a, MATOP_BIND_TO_CPU, &of_aijcusparse.bind_to_cpu));
    PetscCall(query(a, products_with[0], &of_aijcusparse.products));
  }
  PetscCall(state_of(a, &state));
  PetscCall(set_all_functions(a));
  PetscCall(set_operation(a, MATOP_BIND_TO_CPU, bind_to_cpu));
  PetscCall(set_operation(a, MATOP_DUPLICATE, duplicate));
  for (const char* const from : {"seqaij", "seqaijcusparse", "seqaijspmvpack"})
    PetscCall(PetscObjectComposeFunction(
        object, (std::string("MatConvert_") + from + "_" + gpu_seq_type + "_C").c_str(), convert_to_gpu_seq));
  if (bound != PETSC_FALSE) PetscCall(MatBindToCPU(a, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode register_gpu_types() {
  PetscBool every = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatRegister(gpu_seq_type, create_gpu_seq));
  PetscCall(MatRegister(gpu_mpi_type, create_gpu_mpi));
  PetscCall(MatRegisterRootName(gpu_root_type, gpu_seq_type, gpu_mpi_type));
  PetscCall(PetscRegisterFinalize(release_gpu_exchanges));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-mat_spmvpack_aijcusparse", &every, nullptr));
  if (every != PETSC_FALSE) {
    PetscCall(PetscFunctionListFind(MatList, MATSEQAIJCUSPARSE, &create_aijcusparse));
    PetscCall(PetscFunctionListFind(MatList, MATMPIAIJCUSPARSE, &create_mpiaijcusparse));
    PetscCall(MatRegister(MATSEQAIJCUSPARSE, create_every_seq));
    PetscCall(MatRegister(MATMPIAIJCUSPARSE, create_every_mpi));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
