// An MPI library with a fault, for tests: loaded before the real one, it does what
// HV_FAULT=KIND@RANK says on that rank, at its tenth collective call where KIND is a way to fail:
//   kill, stop: the signal;  leave: exit without a word;
//   flip: a bit of every large message;  reduce: one element of every reduction of data.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace {

constexpr int kSmall = 1024;  // bytes, counts: what programs say to each other about themselves

bool IsFault(std::string_view kind) {
  const char* fault = std::getenv("HV_FAULT");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return fault != nullptr && rank != nullptr && fault == std::string(kind) + "@" + rank;
}

void CountCollective() {
  static int calls = 0;
  if (++calls != 10) return;
  if (IsFault("kill")) raise(SIGKILL);
  if (IsFault("stop")) raise(SIGSTOP);
  if (IsFault("leave")) _exit(0);
}

void* largest_message = nullptr;

}  // namespace

extern "C" {

int MPI_Allgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm communicator) {
  CountCollective();
  return PMPI_Allgather(from, from_count, from_type, to, to_count, to_type, communicator);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator) {
  CountCollective();
  const int code = PMPI_Allreduce(from, to, count, type, operation, communicator);
  if (count > kSmall && IsFault("reduce")) static_cast<unsigned*>(to)[count / 2] += 1;
  return code;
}

int MPI_Irecv(void* to, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  if (count > kSmall) largest_message = to;
  return PMPI_Irecv(to, count, type, source, tag, communicator, request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int code = PMPI_Waitall(count, requests, statuses);
  if (largest_message != nullptr && IsFault("flip")) static_cast<char*>(largest_message)[77] ^= 4;
  largest_message = nullptr;
  return code;
}

}  // extern "C"
