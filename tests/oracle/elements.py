"""Element types: their numpy form, random values, JSON and HLO text of literals."""
import json
import math

import ml_dtypes
import numpy as np

NUMPY = {
    "pred": np.bool_, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
    "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f8e3m4": ml_dtypes.float8_e3m4, "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
SIGNED = ("s8", "s16", "s32", "s64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
TINY_INTEGERS = ("s4", "u4")
F8 = ("f8e3m4", "f8e4m3", "f8e4m3fn", "f8e4m3fnuz", "f8e4m3b11fnuz", "f8e5m2", "f8e5m2fnuz")
HALVES = ("bf16", "f16")
FLOATS = ("f32", "f64") + HALVES
COMPLEX = ("c64", "c128")
BITS = {t: 1 if t == "pred" else int("".join(c for c in t[1:3] if c.isdigit())) if t[0] in "su"
        else {"bf16": 16, "c64": 64, "c128": 128}.get(t) or
        (8 if t[:2] == "f8" else 4 if t[:2] == "f4" else int(t[1:])) for t in NUMPY}


def is_float(t): return t[0] == "f" or t == "bf16"
def is_complex(t): return t[0] == "c"
def is_int(t): return t[0] in "su"
def part(t): return {"c64": "f32", "c128": "f64"}[t]


def info(t):
    return ml_dtypes.finfo(NUMPY[t]) if is_float(t) else ml_dtypes.iinfo(NUMPY[t])


def small_integers(rng, t, dims, low=-3, high=3):
    """Values whose sums and products stay exact in every type."""
    if t == "pred":
        return rng.integers(0, 2, dims).astype(bool)
    if is_complex(t):
        return (rng.integers(low, high + 1, dims) + 1j * rng.integers(low, high + 1, dims)).astype(NUMPY[t])
    if t[0] == "u":
        low = 0
    return rng.integers(low, high + 1, dims).astype(NUMPY[t])


def normals(rng, t, dims):
    if not (is_float(t) or is_complex(t)):
        return small_integers(rng, t, dims)
    x = rng.standard_normal(dims)
    if is_complex(t):
        x = x + 1j * rng.standard_normal(dims)
    return np.asarray(x).astype(NUMPY[t])


def _special_floats(rng, t, dims):
    f = info(t)
    flat = np.empty(math.prod(dims), NUMPY[t])
    specials = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, float(f.max), float(f.min),
                float(f.tiny), float("inf"), float("-inf"), float("nan"), 0.3, -0.3, 2.5, -2.5]
    for i in range(flat.size):
        kind = rng.integers(0, 4)
        if kind == 0:
            flat[i] = specials[rng.integers(0, len(specials))]
        elif kind == 1:
            flat[i] = rng.standard_normal() * 10.0 ** rng.integers(-3, 4)
        elif kind == 2:
            flat[i] = float(rng.integers(-9, 10))
        else:
            flat[i] = rng.standard_normal()
    return flat.reshape(dims)


def specials(rng, t, dims):
    """Edges of the type among ordinary values; float subnormals are left out."""
    with np.errstate(all="ignore"):
        if t == "pred":
            return rng.integers(0, 2, dims).astype(bool)
        if is_float(t):
            return _special_floats(rng, t, dims)
        if is_complex(t):
            # Infinite and huge parts have no agreed meaning in complex arithmetic.
            return normals(rng, t, dims) * np.asarray(rng.choice([1, 1, 4, 0.25]), NUMPY[t])
        i = info(t)
        low, high = int(i.min), int(i.max)
        edges = [0, 1, 2, 3, high, high - 1, low, min(low + 1, high), -1 if low < 0 else 5, BITS[t]]
        values = [int(rng.integers(low, high, endpoint=True, dtype=np.uint64 if t == "u64" else np.int64))
                  if rng.integers(0, 2) else max(low, min(high, int(rng.choice(edges[:4])
                  if rng.integers(0, 2) else edges[rng.integers(0, len(edges))])))
                  for _ in range(math.prod(dims))]
        return np.array(values, dtype=np.uint64 if t == "u64" else np.int64).astype(NUMPY[t]).reshape(dims)


def element(x, t):
    """One element as a JSON value."""
    if t == "pred":
        return bool(x)
    if is_int(t):
        return int(x)
    if is_complex(t):
        return [element(x.real, part(t)), element(x.imag, part(t))]
    v = float(x)
    return "nan" if math.isnan(v) else "inf" if v == math.inf else "-inf" if v == -math.inf else v


def nested(array, t):
    if array.ndim == 0:
        return element(array[()], t)
    return [nested(array[i], t) for i in range(array.shape[0])]


def to_json(array, t):
    return json.dumps(nested(np.asarray(array), t))


def from_json(node, t, dims):
    flat = []

    def value(x):
        if isinstance(x, str):
            return float(x)
        return x

    def walk(x, depth):
        if depth == len(dims):
            flat.append(complex(value(x[0]), value(x[1])) if is_complex(t) else value(x))
        else:
            for y in x:
                walk(y, depth + 1)
    walk(node, 0)
    with np.errstate(all="ignore"):
        if t == "u64":
            return np.array(flat, np.uint64).reshape(dims)
        wide = np.array(flat, np.int64) if is_int(t) else np.array(flat)
        return wide.astype(NUMPY[t]).reshape(dims)


def hlo_text(array, t):
    """A literal as HLO text writes it."""
    array = np.asarray(array)
    if array.ndim == 0:
        x = array[()]
        if t == "pred":
            return "true" if x else "false"
        if is_int(t):
            return str(int(x))
        if is_complex(t):
            return f"({hlo_text(np.asarray(x.real), part(t))}, {hlo_text(np.asarray(x.imag), part(t))})"
        return repr(float(x))
    return "{" + ", ".join(hlo_text(a, t) for a in array) + "}"
