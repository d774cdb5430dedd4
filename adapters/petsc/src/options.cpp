// The options -mat_spmvpack_..., with the prefix of a matrix.

#include "errors.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "state.hpp"

namespace spmvpack::petsc {

PetscErrorCode read_options(Mat a, const Place& place, Options* options) {
  char layout[64] = "auto", target[PETSC_MAX_PATH_LEN] = "";
  std::string default_target;
  PetscInt threads = 0;
  constexpr const char* encoders[] = {"device", "host"};
  PetscInt encoder = 0;
  PetscReal at_most = 0;
  PetscBool has_at_most = PETSC_FALSE;
  PetscFunctionBegin;
  PetscObjectOptionsBegin(reinterpret_cast<PetscObject>(a));
  PetscCall(PetscOptionsString("-mat_spmvpack_layout", "Layout that encodes the matrix, auto for the fastest",
                               "spmvpack help layouts", layout, layout, sizeof layout, nullptr));
  PetscCall(PetscOptionsBool("-mat_spmvpack_tune", "Choose the layout by measured times, for about a second", "",
                             options->tune, &options->tune, nullptr));
  PetscCall(place.defaults(options, &default_target));
  PetscCall(PetscStrncpy(target, default_target.c_str(), sizeof target));
  threads = options->encoding.threads;
  at_most = options->encoding.at_most.value_or(EncodingOptions::default_at_most());
  PetscCall(PetscOptionsString("-mat_spmvpack_target", "Machine for which auto predicts times, or its profile's file",
                               "spmvpack encode --help", target, target, sizeof target, nullptr));
  PetscCall(PetscOptionsReal("-mat_spmvpack_at_most", "Share of csr's predicted time at which auto encodes", "",
                             at_most, &at_most, &has_at_most));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_after", "Multiplies by AIJ before a matrix is encoded", "",
                                   options->after, &options->after, nullptr, 0));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_min_nnz", "Fewest entries of a matrix that is encoded", "",
                                   options->min_nnz, &options->min_nnz, nullptr, 0));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_max_changes", "Changes of an encoded matrix before it stays on AIJ",
                                   "", options->max_changes, &options->max_changes, nullptr, 0));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_threads", "Threads that encode and multiply, 0 for all", "", threads,
                                   &threads, nullptr, 0));
  PetscCall(PetscOptionsBool("-mat_spmvpack_view", "Say what became of the matrix when it is destroyed", "",
                             options->view, &options->view, nullptr));
  if (place.encode != nullptr)
    PetscCall(PetscOptionsEList("-mat_spmvpack_encode", "Where a matrix on a GPU is encoded, if the GPU has the layout",
                                "", encoders, 2, encoders[0], &encoder, nullptr));
  PetscOptionsEnd();
  options->on_device = encoder == 0;
  options->encoding.threads = static_cast<int>(threads);
  if (has_at_most != PETSC_FALSE) options->encoding.at_most = at_most;
  PetscCall(guarded([&] {
    options->encoding.layout = layout;
    check_layout(options->encoding.layout);
    encoder::set_target(options->encoding.aim, target);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
