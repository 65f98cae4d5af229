"""Families of linear algebra, Fourier transforms, batch normalisation and random bits."""
import math

import numpy as np

from case import EXACT, Bound, Builder, coin, family, ints, pick, random_dims, terms_bound
import elements as el

LINEAR = ("f32", "f64", "c64", "c128")


def eps(t):
    return float(el.info(el.part(t) if el.is_complex(t) else t).eps)


@family("cholesky", 2)
def cholesky(rng):
    t = pick(rng, LINEAR)
    n = int(rng.integers(1, 6))
    a = el.normals(rng, t, random_dims(rng, 0, 2, 2) + (n, n))
    a = a @ np.conj(np.swapaxes(a, -1, -2)) + n * np.eye(n)
    b = Builder()
    x = b.input(t, a.astype(el.NUMPY[t]))
    r = b.op("cholesky", [x], t, x.dims, f"lower={pick(rng, ('true', 'false'))}")
    return b.case("cholesky", [r], *[Bound(0, 64 * eps(t) * float(np.abs(a).max()))] * 2)


@family("triangular-solve", 3)
def triangular_solve(rng):
    t = pick(rng, LINEAR)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    batch = random_dims(rng, 0, 2, 2)
    a = el.normals(rng, t, batch + (n, n)) + 3 * np.eye(n)
    left = coin(rng)
    b = Builder()
    operands = [b.input(t, a.astype(el.NUMPY[t])),
                b.input(t, el.normals(rng, t, batch + ((n, m) if left else (m, n))))]
    transpose = pick(rng, ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    unit = coin(rng)
    r = b.op("triangular-solve", operands, t, operands[1].dims, f"left_side={str(left).lower()}",
             f"lower={pick(rng, ('true', 'false'))}", f"unit_diagonal={str(unit).lower()}",
             f"transpose_a={transpose}")
    growth = float((1 + np.abs(a).max()) ** n) if unit else 64.0
    return b.case("triangular-solve", [r], *[Bound(64, 64 * eps(t) * growth)] * 2)


@family("fft", 3)
def fft(rng):
    kind = pick(rng, ("FFT", "IFFT", "RFFT", "IRFFT"))
    real = pick(rng, ("f32", "f64"))
    compound = {"f32": "c64", "f64": "c128"}[real]
    lengths = [int(v) for v in rng.integers(1, 9, rng.integers(1, 4))]
    batch = random_dims(rng, 0, 2, 3)
    half = tuple(lengths[:-1] + [lengths[-1] // 2 + 1])
    full = tuple(lengths)
    t_in = real if kind == "RFFT" else compound
    t_out = real if kind == "IRFFT" else compound
    b = Builder()
    data = el.normals(rng, t_in, batch + (half if kind == "IRFFT" else full))
    if kind == "IRFFT":  # a spectrum that no real signal has is read differently
        data = np.fft.rfftn(el.normals(rng, real, batch + full), axes=tuple(range(-len(full), 0)))
    x = b.input(t_in, np.asarray(data).astype(el.NUMPY[t_in]))
    r = b.op("fft", [x], t_out, batch + (half if kind == "RFFT" else full), f"fft_type={kind}",
             f"fft_length={ints(lengths)}")
    bound = terms_bound(t_out, math.prod(lengths), 8)
    return b.case("fft", [r], bound, bound, (t_in,))


@family("batch-norm", 3)
def batch_norm(rng):
    t = pick(rng, ("f32", "f64"))
    dims = random_dims(rng, 1, 3, 5, 1)
    f = int(rng.integers(0, len(dims)))
    vector = (dims[f],)
    op = pick(rng, ("batch-norm-training", "batch-norm-inference", "batch-norm-grad"))
    attributes = ("epsilon=0.5", f"feature_index={f}")
    b = Builder()
    x = b.input(t, el.normals(rng, t, dims))
    bound = Bound(16, 64 * eps(t) * max(4, math.prod(dims)))
    v = [b.input(t, np.abs(el.normals(rng, t, vector))) for _ in range(4)]
    if op == "batch-norm-training":
        results = b.tuple_op(op, [x] + v[:2], [(t, dims), (t, vector), (t, vector)], *attributes)
    elif op == "batch-norm-inference":
        results = [b.op(op, [x] + v, t, dims, *attributes)]
    else:
        dy = b.input(t, el.normals(rng, t, dims))
        results = b.tuple_op(op, [x] + v[:3] + [dy], [(t, dims), (t, vector), (t, vector)], *attributes)
    return b.case(op, results, bound, bound)


@family("rng-bit-generator", 3)
def rng_bit_generator(rng):
    t = pick(rng, el.UNSIGNED)  # StableHLO turns signed bits into unsigned ones
    algorithm = pick(rng, ("rng_default", "rng_philox", "rng_three_fry"))
    size = 2 if algorithm == "rng_three_fry" else pick(rng, (2, 3))
    state = rng.integers(0, 2 ** 64 - 1, size, dtype=np.uint64, endpoint=True)
    if coin(rng, 3):
        state[1:] = 2 ** 64 - 1  # the counter carries
    b = Builder()
    x = b.input("u64", state)
    dims = random_dims(rng, 0, 3, 7)
    return b.case("rng-bit-generator", b.tuple_op("rng-bit-generator", [x], [("u64", (size,)), (t, dims)],
                                                  f"algorithm={algorithm}"))


@family("sizes")
def sizes(rng):
    b = Builder()
    dims = random_dims(rng, 1, 3, 5)
    x = b.input("f32", el.small_integers(rng, "f32", dims))
    d = int(rng.integers(0, len(dims)))
    return b.case("get-dimension-size", [b.op("get-dimension-size", [x], "s32", (), f"dimensions={{{d}}}")],
                  EXACT, EXACT, ("f32",))
