"""Families of the ops that move elements."""
import math

import numpy as np

from case import NOT_FOLDED, Builder, coin, family, ints, pick, random_dims
import elements as el

TYPES = el.INTEGERS + el.TINY_INTEGERS + el.FLOATS + el.F8 + el.COMPLEX + ("pred",)


def operand(b, rng, dims, t=None):
    t = t or pick(rng, TYPES)
    return b.input(t, el.small_integers(rng, t, dims))


@family("broadcast")
def broadcast(rng):
    result = random_dims(rng, 0, 4, 4)
    kept = [int(d) for d in rng.permutation(len(result))[:int(rng.integers(0, len(result) + 1))]]
    b = Builder()
    x = operand(b, rng, tuple(result[d] for d in kept))
    return b.case("broadcast", [b.op("broadcast", [x], x.type, result, f"dimensions={ints(kept)}")])


@family("iota")
def iota(rng):
    t = pick(rng, el.INTEGERS + el.FLOATS + el.F8 + el.COMPLEX)
    dims = random_dims(rng, 1, 3, 20)
    b = Builder()
    d = int(rng.integers(0, len(dims)))
    return b.case("iota", [b.op("iota", [], t, dims, f"iota_dimension={d}")])


@family("reshape")
def reshape(rng):
    dims = random_dims(rng, 0, 4, 4)
    total, result = math.prod(dims), []
    while total > 1 and len(result) < 4:
        d = pick(rng, [k for k in range(1, total + 1) if total % k == 0])
        result.append(d)
        total //= d
    b = Builder()
    x = operand(b, rng, dims)
    return b.case("reshape", [b.op("reshape", [x], x.type, result + ([total] if total > 1 else []))])


@family("transpose")
def transpose(rng):
    dims = random_dims(rng, 0, 4, 4)
    perm = rng.permutation(len(dims))
    b = Builder()
    x = operand(b, rng, dims)
    return b.case("transpose", [b.op("transpose", [x], x.type, [dims[p] for p in perm],
                                     f"dimensions={ints(perm)}")])


@family("slice")
def slice_(rng):
    dims = random_dims(rng, 1, 3, 6)
    ranges, result = [], []
    for n in dims:
        low, high = sorted(int(v) for v in rng.integers(0, n + 1, 2))
        stride = int(rng.integers(1, 4))
        ranges.append(f"[{low}:{high}:{stride}]")
        result.append(-(-(high - low) // stride))
    b = Builder()
    x = operand(b, rng, dims)
    return b.case("slice", [b.op("slice", [x], x.type, result, "slice={" + ", ".join(ranges) + "}")])


@family("pad", 2)
def pad(rng):
    dims = random_dims(rng, 1, 3, 4)
    config, result = [], []
    for n in dims:
        interior = int(rng.integers(0, 3))
        whole = n + (n - 1) * interior
        low, high = int(rng.integers(-2, 4)), int(rng.integers(-2, 4))
        if low + high + whole < 0:
            low, high = 1, 0
        config.append(f"{low}_{high}_{interior}")
        result.append(low + high + whole)
    b = Builder()
    x = operand(b, rng, dims)
    value = operand(b, rng, (), x.type)
    return b.case("pad", [b.op("pad", [x, value], x.type, result, f"padding={'x'.join(config)}")])


@family("concatenate")
def concatenate(rng):
    dims = random_dims(rng, 1, 3, 4)
    d = int(rng.integers(0, len(dims)))
    t = pick(rng, TYPES)
    b = Builder()
    sizes = [int(s) for s in rng.integers(0, 4, rng.integers(1, 5))]
    operands = [operand(b, rng, dims[:d] + (s,) + dims[d + 1:], t) for s in sizes]
    return b.case("concatenate", [b.op("concatenate", operands, t, dims[:d] + (sum(sizes),) + dims[d + 1:],
                                       f"dimensions={{{d}}}")])


@family("reverse")
def reverse(rng):
    dims = random_dims(rng, 1, 4, 4)
    some = sorted(int(d) for d in rng.permutation(len(dims))[:int(rng.integers(0, len(dims) + 1))])
    b = Builder()
    x = operand(b, rng, dims)
    return b.case("reverse", [b.op("reverse", [x], x.type, dims, f"dimensions={ints(some)}")])


def starts(b, rng, rank):
    t = pick(rng, ("s32", "s64", "u32", "s8", "u8", "s16"))
    return [b.input(t, np.array(rng.integers(0 if t[0] == "u" else -3, 8)).astype(el.NUMPY[t]))
            for _ in range(rank)]


@family("dynamic-slice", 2)
def dynamic_slice(rng):
    dims = random_dims(rng, 0, 3, 6)
    sizes = tuple(int(rng.integers(0, n + 1)) for n in dims)
    b = Builder()
    x = operand(b, rng, dims)
    return b.case("dynamic-slice", [b.op("dynamic-slice", [x] + starts(b, rng, len(dims)), x.type, sizes,
                                         f"dynamic_slice_sizes={ints(sizes)}")])


@family("dynamic-update-slice", 2)
def dynamic_update_slice(rng):
    dims = random_dims(rng, 0, 3, 6)
    sizes = tuple(int(rng.integers(0, n + 1)) for n in dims)
    b = Builder()
    x = operand(b, rng, dims)
    update = operand(b, rng, sizes, x.type)
    return b.case("dynamic-update-slice", [b.op("dynamic-update-slice",
                                                [x, update] + starts(b, rng, len(dims)), x.type, dims)])


def indexing(rng):
    """Dimension numbers that gather and scatter share, and the shapes that go with them."""
    rank = int(rng.integers(1, 5))
    dims = [int(d) for d in rng.integers(1, 5, rank)]
    order = [int(d) for d in rng.permutation(rank)]
    batching = sorted(order[:int(rng.integers(0, min(2, rank) + 1))] if coin(rng) else [])
    rest = [d for d in order if d not in batching]
    indexed = rest[:int(rng.integers(0 if batching else 1, len(rest) + 1))]
    collapsed = sorted(d for d in rest if coin(rng, 3))
    window = [1 if d in collapsed or d in batching else int(rng.integers(1, dims[d] + 1))
              for d in range(rank)]
    free = [int(d) for d in rng.integers(1, 4, rng.integers(0, 3))]
    # Batch dims of the indices: some stand for operand batching dims.
    batch = [("free", n) for n in free] + [("operand", d) for d in batching]
    batch = [batch[int(i)] for i in rng.permutation(len(batch))]
    index_dims = [n if kind == "free" else dims[n] for kind, n in batch]
    batch_of = [next(i for i, (kind, n) in enumerate(batch) if kind == "operand" and n == d)
                for d in batching]
    vector = int(rng.integers(0, len(batch) + 1))
    if len(indexed) == 1 and coin(rng):
        vector, shape, shifted = len(batch), tuple(index_dims), batch_of
    else:
        shape = tuple(index_dims[:vector] + [len(indexed)] + index_dims[vector:])
        shifted = [i + (i >= vector) for i in batch_of]
    kept = [d for d in range(rank) if d not in collapsed and d not in batching]
    total = len(batch) + len(kept)
    offset = sorted(int(d) for d in rng.permutation(total)[:len(kept)])
    windows, batches = iter(window[d] for d in kept), iter(index_dims)
    result = tuple(next(windows) if d in offset else next(batches) for d in range(total))
    return dict(dims=tuple(dims), batching=batching, index_map=indexed, collapsed=collapsed, window=window,
                shape=shape, index_batching=shifted, vector=vector, offset=offset, result=result)


def index_values(rng, n, t):
    """In range mostly, but also outside on both sides; unique ones are not promised."""
    low = 0 if t[0] == "u" else -2
    return rng.integers(low, 7, n["shape"]).astype(el.NUMPY[t])


@family("gather", 5)
def gather(rng):
    n = indexing(rng)
    b = Builder()
    x = operand(b, rng, n["dims"])
    t = pick(rng, ("s32", "s64", "u32", "s8", "u8"))
    i = b.input(t, index_values(rng, n, t))
    r = b.op("gather", [x, i], x.type, n["result"], f"offset_dims={ints(n['offset'])}",
             f"collapsed_slice_dims={ints(n['collapsed'])}", f"start_index_map={ints(n['index_map'])}",
             f"operand_batching_dims={ints(n['batching'])}" if n["batching"] else "",
             f"start_indices_batching_dims={ints(n['index_batching'])}" if n["batching"] else "",
             f"index_vector_dim={n['vector']}", f"slice_sizes={ints(n['window'])}")
    return b.case("gather", [r])


@family("scatter", 5)
def scatter(rng):
    n = indexing(rng)
    b = Builder()
    count = pick(rng, (1, 1, 1, 2, 3))
    types = [pick(rng, ("s32", "u8", "s64", "f32", "f64", "bf16", "u16", "s8")) for _ in range(count)]
    floats = [t for t in types if el.is_float(t)]
    types = [floats[0] if el.is_float(t) else t for t in types]  # XLA wants one precision
    data = [operand(b, rng, n["dims"], t) for t in types]
    index_type = pick(rng, ("s32", "s64", "u32", "s8"))
    indices = b.input(index_type, index_values(rng, n, index_type))
    updates = [operand(b, rng, n["result"], t) for t in types]
    lines = [f"  a{i} = {t}[] parameter({i})\n" for i, t in enumerate(types)]
    lines += [f"  new{i} = {t}[] parameter({i + count})\n" for i, t in enumerate(types)]
    for i, t in enumerate(types):
        op = pick(rng, ("add", "maximum", "minimum", "multiply"))
        lines.append(f"  r{i} = {t}[] {op}(a{i}, new{i})\n")
    if count == 1:
        lines[-1] = "  ROOT" + lines[-1][1:]
    else:
        shape = ", ".join(f"{t}[]" for t in types)
        lines.append(f"  ROOT t = ({shape}) tuple({', '.join(f'r{i}' for i in range(count))})\n")
    attributes = (f"update_window_dims={ints(n['offset'])}", f"inserted_window_dims={ints(n['collapsed'])}",
                  f"scatter_dims_to_operand_dims={ints(n['index_map'])}",
                  f"input_batching_dims={ints(n['batching'])}" if n["batching"] else "",
                  f"scatter_indices_batching_dims={ints(n['index_batching'])}" if n["batching"] else "",
                  f"index_vector_dim={n['vector']}", f"to_apply={b.computation(''.join(lines))}")
    operands = data + [indices] + updates
    if count == 1:
        return b.case("scatter", [b.op("scatter", operands, types[0], n["dims"], *attributes)])
    return b.case("scatter", b.tuple_op("scatter", operands, [(t, n["dims"]) for t in types], *attributes),
                  NOT_FOLDED)
