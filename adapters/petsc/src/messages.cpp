#include "messages.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "cuda_memory.hpp"
#include "gather.hpp"
#include "spmvpack/container/base/error.hpp"

namespace spmvpack::petsc {
namespace {

void require_mpi(int status, const char* doing) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(errc::internal, std::string(doing) + ": " + text);
}

std::size_t elements_of(const std::vector<Part>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const Part& part) { return sum + part.count; });
}

struct FreePinned {
  void operator()(void* p) const noexcept { cudaFreeHost(p); }
};
using Pinned = std::unique_ptr<double[], FreePinned>;

Pinned pinned_memory(std::size_t count) {
  return Pinned(allocated<double>([](void** p, std::size_t bytes) { return cudaMallocHost(p, bytes); }, count,
                                  "of pinned memory for messages"));
}

std::size_t rounded_up(std::size_t elements, std::size_t bytes) {
  const std::size_t unit = bytes / sizeof(double);
  return (elements + unit - 1) / unit * unit;
}
constexpr std::size_t alignment = 256;              // as cudaMalloc() has it
constexpr std::size_t page = std::size_t{1} << 21;  // what is opened to others is to be an allocation of its own

struct Event {
  cudaEvent_t event = nullptr;
  Event() { require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event); }
};

struct OwnStream {
  cudaStream_t stream = nullptr;
  // PETSc's stream may be the one for which others wait.
  OwnStream() { require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() { cudaStreamDestroy(stream); }
};

/// What a rank tells each one that sends to it: where in its memory, and how much from one buffer to the other.
struct Address {
  cudaIpcMemHandle_t handle;
  std::size_t offset, stride;
  int exported;
};

/// Another rank's buffers, as they are to be written to.
struct Target {
  double* base = nullptr;
  std::size_t offset = 0, stride = 0;
};

/// The buffers of Messages that are no more, until all that could write to them have said that they have closed them.
struct Kept {
  std::shared_ptr<const MPI_Comm> comm;
  std::vector<MPI_Request> requests;
  OnDevice<double> in;
};
auto* const kept = new std::vector<Kept>;  // never destroyed: MPI and CUDA may have ended then

/// Frees what others have closed; with `all`, the rest as well.
void free_kept(bool all) noexcept {
  std::erase_if(*kept, [&](Kept& k) {
    int done = 0;
    MPI_Testall(static_cast<int>(k.requests.size()), k.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0 && !all) return false;
    for (MPI_Request& request : k.requests) {
      if (done == 0) MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    return true;
  });
}

}  // namespace

struct Messages::Implementation {
  explicit Implementation(MessagePlan of)
      : plan(std::move(of)),
        elements_out(elements_of(plan.sent)),
        elements_in(elements_of(plan.received)),
        stride(rounded_up(elements_in, alignment)),
        indices(device_memory<int>(elements_out, "messages")),
        out(device_memory<double>(elements_out, "messages")),
        in(device_memory<double>(rounded_up(2 * stride, page), "messages")) {
    require(cudaMemcpy(indices.get(), plan.indices.data(), elements_out * sizeof(int), cudaMemcpyHostToDevice),
            "copying what is sent to the GPU");
    require(cudaStreamSynchronize(nullptr), "copying what is sent to the GPU");  // the copy may still be on its way
  }
  ~Implementation() {
    const bool open = !targets.empty() || way == Way::peer;
    close_targets();
    if (open) {
      // Others may still write to `in`: one more round of messages says who does not.
      try {
        kept->reserve(kept->size() + 1);
        MPI_Startall(static_cast<int>(requests.size()), requests.data());
        kept->push_back({comm, std::exchange(requests, {}), std::move(in)});
      } catch (const std::bad_alloc&) {
        static_cast<void>(in.release());  // rather lost than written to when it is another's
      }
    }
    for (MPI_Request& request : requests) MPI_Request_free(&request);
    free_kept(false);
  }

  /// Whether all ranks say so.
  [[nodiscard]] bool all(bool own) const { return most(own ? 0 : 1) == 0; }
  [[nodiscard]] int most(int own) const {
    int of_all = 0;
    require_mpi(MPI_Allreduce(&own, &of_all, 1, MPI_INT, MPI_MAX, *comm), "agreeing on a way");
    return of_all;
  }
  bool open_targets();
  void close_targets() noexcept {
    for (const Target& target : targets)
      if (target.base != nullptr) cudaIpcCloseMemHandle(target.base);
    targets.clear();
  }
  void make_requests();
  double* buffer(int k) const noexcept { return in.get() + (k != 0 ? stride : 0); }

  MessagePlan plan;
  std::size_t elements_out, elements_in, stride;
  OnDevice<int> indices;
  OnDevice<double> out, in;  ///< `in`: two buffers
  Pinned host_out, host_in;  ///< where they are needed
  OwnStream copies;
  Event gathered, sent, arrived;
  std::shared_ptr<const MPI_Comm> comm;
  int tag = 0;
  Way way = Way::staged;
  std::vector<Target> targets;  ///< of plan.sent
  std::vector<MPI_Request> requests;
  int current = 0;     ///< of the two
  bool begun = false;  ///< all that begin() does has been launched
};

/// Whether this rank can write to all that it sends to. Collective.
bool Messages::Implementation::open_targets() {
  const auto addresses_of = [](std::size_t count) { return std::vector<Address>(count); };
  std::vector<Address> own = addresses_of(plan.received.size()), others = addresses_of(plan.sent.size());
  std::vector<MPI_Request> waiting(own.size() + others.size(), MPI_REQUEST_NULL);
  cudaIpcMemHandle_t handle{};
  const bool exported = cudaIpcGetMemHandle(&handle, in.get()) == cudaSuccess;
  std::size_t offset = 0;
  constexpr int bytes = sizeof(Address);
  for (std::size_t k = 0; k < own.size(); ++k) {
    own[k] = {handle, offset, stride, exported ? 1 : 0};
    offset += plan.received[k].count;
    require_mpi(MPI_Isend(&own[k], bytes, MPI_BYTE, plan.received[k].rank, tag, *comm, &waiting[k]),
                "sending addresses");
  }
  for (std::size_t k = 0; k < others.size(); ++k)
    require_mpi(MPI_Irecv(&others[k], bytes, MPI_BYTE, plan.sent[k].rank, tag, *comm, &waiting[own.size() + k]),
                "receiving addresses");
  require_mpi(MPI_Waitall(static_cast<int>(waiting.size()), waiting.data(), MPI_STATUSES_IGNORE),
              "receiving addresses");
  bool opened = exported;
  for (const Address& other : others) {
    Target target{nullptr, other.offset, other.stride};
    void* base = nullptr;
    if (other.exported != 0 && cudaIpcOpenMemHandle(&base, other.handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess)
      target.base = static_cast<double*>(base);
    opened = opened && target.base != nullptr;
    targets.push_back(target);
  }
  if (!opened) static_cast<void>(cudaGetLastError());  // another way is no error
  return opened;
}

void Messages::Implementation::make_requests() {
  const auto neighbours = [&](bool receive, const std::vector<Part>& parts, double* from) {
    for (const Part& part : parts) {
      const int count = way == Way::peer ? 0 : static_cast<int>(part.count);
      MPI_Request request = MPI_REQUEST_NULL;
      require_mpi(receive ? MPI_Recv_init(from, count, MPI_DOUBLE, part.rank, tag, *comm, &request)
                          : MPI_Send_init(from, count, MPI_DOUBLE, part.rank, tag, *comm, &request),
                  "preparing messages");
      requests.push_back(request);
      if (from != nullptr) from += part.count;
    }
  };
  if (way == Way::peer) {
    // To and from all that are sent something or send something: who has sent has read what came before.
    std::vector<Part> all = plan.sent;
    all.insert(all.end(), plan.received.begin(), plan.received.end());
    const auto by_rank = [](const Part& a, const Part& b) { return a.rank < b.rank; };
    std::sort(all.begin(), all.end(), by_rank);
    all.erase(std::unique(all.begin(), all.end(), [](const Part& a, const Part& b) { return a.rank == b.rank; }),
              all.end());
    neighbours(true, all, nullptr);
    neighbours(false, all, nullptr);
  } else {
    const bool device = way == Way::device;
    neighbours(true, plan.received, device ? in.get() : host_in.get());
    neighbours(false, plan.sent, device ? out.get() : host_out.get());
  }
}

Messages::Messages(MessagePlan plan) : here_(std::make_unique<Implementation>(std::move(plan))) {}
Messages::~Messages() = default;

void Messages::connect(std::shared_ptr<const MPI_Comm> comm, int tag, Way wanted, Way otherwise) {
  Implementation& m = *here_;
  m.comm = std::move(comm);
  m.tag = tag;
  MPI_Comm host = MPI_COMM_NULL;
  int ranks = 0, of_host = 0;
  require_mpi(MPI_Comm_split_type(*m.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
              "finding the ranks of this host");
  require_mpi(MPI_Comm_size(host, &of_host), "finding the ranks of this host");
  require_mpi(MPI_Comm_free(&host), "finding the ranks of this host");
  require_mpi(MPI_Comm_size(*m.comm, &ranks), "finding the ranks of this host");
  auto way = static_cast<Way>(m.most(static_cast<int>(wanted)));
  otherwise = static_cast<Way>(m.most(static_cast<int>(otherwise)));
  if (way == Way::peer) {
    if (!m.all(of_host == ranks)) {
      way = otherwise;
    } else if (!m.all(m.open_targets())) {
      way = otherwise;
      m.close_targets();
      static_cast<void>(m.all(true));  // nobody frees what another has open
    }
  }
  // From here on what may fail on one rank alone.
  m.way = way;
  if (way == Way::staged) {
    m.host_out = pinned_memory(m.elements_out);
    m.host_in = pinned_memory(m.elements_in);
  }
  m.make_requests();
}

void Messages::release() noexcept {
  // Others come here, too, unless something has failed.
  const auto start = std::chrono::steady_clock::now();
  do {
    free_kept(false);
  } while (!kept->empty() && std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  free_kept(true);
}

Way Messages::way() const noexcept { return here_->way; }
const double* Messages::received(int which) const noexcept { return here_->buffer(which); }

void Messages::begin(const double* x, bool on_device, gpu_loader::Stream stream) {
  Implementation& m = *here_;
  const int next = m.way == Way::peer ? 1 - m.current : 0;
  if (on_device) {
    require(gather(x, m.indices.get(), m.elements_out, m.out.get(), stream), "gathering elements of x");
  } else {
    if (!m.host_out) m.host_out = pinned_memory(m.elements_out);
    for (std::size_t i = 0; i < m.elements_out; ++i) m.host_out[i] = x[m.plan.indices[i]];
    require(
        cudaMemcpyAsync(m.out.get(), m.host_out.get(), m.elements_out * sizeof(double), cudaMemcpyHostToDevice, stream),
        "copying elements of x");
  }
  require(cudaEventRecord(m.gathered.event, stream), "recording an event");
  if (m.way == Way::device) {
    m.begun = true;
    return;
  }
  require(cudaStreamWaitEvent(m.copies.stream, m.gathered.event, 0), "waiting for an event");
  if (m.way == Way::staged) {
    require(cudaMemcpyAsync(m.host_out.get(), m.out.get(), m.elements_out * sizeof(double), cudaMemcpyDeviceToHost,
                            m.copies.stream),
            "copying to the host");
  } else {
    const double* from = m.out.get();
    for (std::size_t k = 0; k < m.targets.size(); ++k) {
      const Target& target = m.targets[k];
      const std::size_t count = m.plan.sent[k].count;
      require(cudaMemcpyAsync(target.base + target.offset + (next != 0 ? target.stride : 0), from,
                              count * sizeof(double), cudaMemcpyDeviceToDevice, m.copies.stream),
              "copying to another GPU");
      from += count;
    }
  }
  require(cudaEventRecord(m.sent.event, m.copies.stream), "recording an event");
  m.begun = true;
}

int Messages::end(gpu_loader::Stream stream) {
  Implementation& m = *here_;
  // Others change buffers whether begin() has come to its end here or not.
  m.current = m.way == Way::peer ? 1 - m.current : 0;
  cudaError_t ready = cudaSuccess;
  if (m.begun) {
    ready = cudaEventSynchronize(m.way == Way::device ? m.gathered.event : m.sent.event);
  } else {  // without its events, what has read the buffers before is waited for
    static_cast<void>(cudaStreamSynchronize(stream));
    static_cast<void>(cudaStreamSynchronize(m.copies.stream));
  }
  m.begun = false;
  const auto count = static_cast<int>(m.requests.size());
  require_mpi(MPI_Startall(count, m.requests.data()), "sending");
  require_mpi(MPI_Waitall(count, m.requests.data(), MPI_STATUSES_IGNORE), "receiving");
  require(ready, "sending elements of x");
  if (m.way == Way::staged) {
    require(cudaMemcpyAsync(m.buffer(m.current), m.host_in.get(), m.elements_in * sizeof(double),
                            cudaMemcpyHostToDevice, m.copies.stream),
            "copying to the GPU");
    require(cudaEventRecord(m.arrived.event, m.copies.stream), "recording an event");
    require(cudaStreamWaitEvent(stream, m.arrived.event, 0), "waiting for an event");
  }
  return m.current;
}

}  // namespace spmvpack::petsc
