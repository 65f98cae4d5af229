// Eigen with the vectors of this machine, which it picks when it is compiled. Its names are kept
// apart from those of the Eigen the libraries use, compiled for any machine.
#define Eigen EigenOfThisMachine
#include <Eigen/Core>
#include <cstdint>

namespace hv {
namespace {

template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> x(a, m, k), y(b, k, n);
  Eigen::Map<Matrix>(c, m, n).noalias() = x * y;
}

}  // namespace

void EigenProduct(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
void EigenProduct(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);

void EigenProduct(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  Multiply(m, n, k, a, b, c);
}
void EigenProduct(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  Multiply(m, n, k, a, b, c);
}

}  // namespace hv
