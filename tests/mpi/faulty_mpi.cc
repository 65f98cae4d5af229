// A rank with a fault, for tests: loaded before the MPI library and the C library, it does what
// HV_FAULT=KIND@RANK says on that rank, or on every rank for KIND@all.
//   kill, stop: the signal;  leave: exit without a word;  finish: the end of MPI before the
//   others'.
//     In the middle of a run: at the HV_FAULT_AT-th time that the rank calls MPI for its data or its
//     agreement, or gives way while it waits for others (through shared memory it waits without MPI),
//     the first time being the start of MPI; at the latest kLatest after that;
//   flip: a bit of every large message;  reduce: one element of every reduction of data;
//   delay: sleeps now and then where it gives way or calls MPI.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace {

constexpr int kSmall = 1024;   // bytes, counts: what programs say to each other about themselves
constexpr int kFaultAt = 100;  // unless HV_FAULT_AT is set; the start of a job has fewer such times
constexpr std::chrono::seconds kLatest(2);  // on a busy machine few such times may come
constexpr int kDelayEvery = 40, kLongestDelay = 3000;  // on average; microseconds

bool IsFault(std::string_view kind) {
  const char* fault = std::getenv("HV_FAULT");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (fault == nullptr || rank == nullptr) return false;
  return fault == std::string(kind) + "@" + rank || fault == std::string(kind) + "@all";
}

// Is this code of the program, not of a library?
bool IsOfProgram(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 &&
         std::string_view(info.dli_fname).find(".so") == std::string::npos;
}

void Delay() {
  static const bool delays = IsFault("delay");
  static std::mt19937 random(static_cast<unsigned>(getpid()));
  if (delays && random() % kDelayEvery == 0)
    usleep(static_cast<unsigned>(random() % kLongestDelay));
}

// A time at which a rank may fail or come late.
void Moment() {
  static const char* const wanted = std::getenv("HV_FAULT_AT");
  static const int fault_at = wanted != nullptr ? std::atoi(wanted) : kFaultAt;
  static int moments = 0;
  static const auto begin = std::chrono::steady_clock::now();
  Delay();
  if (++moments < fault_at && std::chrono::steady_clock::now() - begin < kLatest) return;
  if (IsFault("kill")) raise(SIGKILL);
  if (IsFault("stop")) raise(SIGSTOP);
  if (IsFault("finish")) MPI_Finalize();
  if (IsFault("leave") || IsFault("finish")) _exit(0);
}

void* largest_message = nullptr;

}  // namespace

extern "C" {

int sched_yield() noexcept {
  static const auto real = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "sched_yield"));
  if (IsOfProgram(__builtin_return_address(0))) Moment();
  return real();
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  Moment();
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Allgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm communicator) {
  Moment();
  return PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, communicator);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator) {
  Moment();
  const int code = PMPI_Allreduce(from, to, count, type, operation, communicator);
  if (count > kSmall && IsFault("reduce")) static_cast<unsigned*>(to)[count / 2] += 1;
  return code;
}

int MPI_Irecv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  Moment();
  if (count > kSmall) largest_message = to;
  return PMPI_Irecv(to, count, type, source, tag, communicator, request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Moment();
  const int code = PMPI_Waitall(count, requests, statuses);
  if (largest_message != nullptr && IsFault("flip")) static_cast<char*>(largest_message)[77] ^= 4;
  largest_message = nullptr;
  return code;
}

}  // extern "C"
