"""Families of reductions, windows, orderings and scans."""
import numpy as np

from case import EXACT, NOT_FOLDED, SUM, Builder, coin, family, ints, pick, random_dims, terms_bound
from contract import window_dim, window_text
import elements as el

REDUCED = ("s32", "s64", "u8", "u32", "s8", "u16", "s16", "u64", "f32", "f64", "bf16", "f16", "f8e5m2", "c64",
           "pred")
IDENTITY = {"add": 0, "multiply": 1, "or": 0, "xor": 0, "and": -1}


def reducer(rng, t):
    if t == "pred":
        return pick(rng, ("and", "or", "xor"))
    if el.is_complex(t):
        return pick(rng, ("add", "multiply"))
    return pick(rng, ("add", "multiply", "maximum", "minimum") +
                (("and", "or", "xor") if el.is_int(t) else ()))


def init_value(op, t):
    if op in ("maximum", "minimum"):
        if el.is_float(t):
            v = -np.inf if op == "maximum" else np.inf
        else:
            v = el.info(t).min if op == "maximum" else el.info(t).max
        return np.array(v, el.NUMPY[t])
    if op == "and":
        return np.array(True if t == "pred" else (el.info(t).max if t[0] == "u" else -1), el.NUMPY[t])
    return np.array(IDENTITY[op], el.NUMPY[t])


@family("reduce", 5)
def reduce(rng):
    t = pick(rng, REDUCED)
    op = reducer(rng, t)
    dims = random_dims(rng, 1, 4, 5)
    if coin(rng, 6):
        dims = (int(rng.integers(500, 1600)),)
    away = sorted(int(d) for d in rng.permutation(len(dims))[:int(rng.integers(1, len(dims) + 1))])
    exact = coin(rng) or op == "multiply"
    b = Builder()
    data = el.small_integers(rng, t, dims, -1, 1) if exact else el.normals(rng, t, dims)
    x = b.input(t, data)
    init = b.input(t, init_value(op, t))
    r = b.op("reduce", [x, init], t, [n for d, n in enumerate(dims) if d not in away],
             f"dimensions={ints(away)}", f"to_apply={b.fold(op, t)}")
    floating = el.is_float(t) or el.is_complex(t)
    compiled = SUM if exact or not floating or op in ("maximum", "minimum") else terms_bound(
        t, int(np.prod([dims[d] for d in away])), 4)
    # The evaluator keeps complex and narrow sums in other ways; only plain floats agree in all bits.
    return b.case("reduce", [r], EXACT, compiled)


@family("reduce variadic", 2)
def reduce_variadic(rng):
    """Largest value and where it was: two operands, one comparison."""
    t = pick(rng, ("s32", "f32", "u8", "s64", "bf16"))
    dims = random_dims(rng, 1, 3, 5)
    d = int(rng.integers(0, len(dims)))
    b = Builder()
    x = b.input(t, el.small_integers(rng, t, dims, -9, 9))
    i = b.op("iota", [], "s32", dims, f"iota_dimension={d}")
    low = b.constant(t, init_value("maximum", t))
    zero = b.constant("s32", np.array(0x7FFFFFFF, np.int32))
    body = b.computation(f"""  a = {t}[] parameter(0)
  i = s32[] parameter(1)
  b = {t}[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  same = pred[] compare(a, b), direction=EQ
  first = pred[] compare(i, j), direction=LE
  tie = pred[] and(same, first)
  left = pred[] or(more, tie)
  v = {t}[] select(left, a, b)
  k = s32[] select(left, i, j)
  ROOT r = ({t}[], s32[]) tuple(v, k)
""")
    kept = dims[:d] + dims[d + 1:]
    return b.case("reduce", b.tuple_op("reduce", [x, i, low, zero], [(t, kept), ("s32", kept)],
                                       f"dimensions={{{d}}}", f"to_apply={body}"), NOT_FOLDED)


@family("reduce-window", 4)
def reduce_window(rng):
    t = pick(rng, REDUCED)
    op = reducer(rng, t)
    window = [window_dim(rng, True) for _ in range(int(rng.integers(1, 4)))]
    b = Builder()
    x = b.input(t, el.small_integers(rng, t, tuple(w[0] for w in window), -1, 1))
    init = b.input(t, init_value(op, t))
    r = b.op("reduce-window", [x, init], t, [w[7] for w in window], window_text(window),
             f"to_apply={b.fold(op, t)}")
    return b.case("reduce-window", [r], EXACT, SUM)


@family("select-and-scatter", 3)
def select_and_scatter(rng):
    t = pick(rng, ("s32", "f32", "f64", "s64", "bf16", "u8"))
    window = []
    for _ in range(int(rng.integers(1, 4))):
        w = window_dim(rng, False)
        while w[5] != 1 or w[6] != 1 or w[3] >= w[1] or w[4] >= w[1]:
            w = window_dim(rng, False)
        window.append(w)
    fields = ["size=" + "x".join(str(w[1]) for w in window), "stride=" + "x".join(str(w[2]) for w in window),
              "pad=" + "x".join(f"{w[3]}_{w[4]}" for w in window)]
    b = Builder()
    x = b.input(t, el.small_integers(rng, t, tuple(w[0] for w in window), -5, 5))
    source = b.input(t, el.small_integers(rng, t, tuple(w[7] for w in window)))
    init = b.input(t, np.array(0, el.NUMPY[t]))
    select = b.computation(f"  a = {t}[] parameter(0)\n  b = {t}[] parameter(1)\n"
                           f"  ROOT r = pred[] compare(a, b), direction={pick(rng, ('GE', 'LE'))}\n")
    scatter = b.fold("add", t)
    r = b.op("select-and-scatter", [x, source, init], t, x.dims, "window={" + " ".join(fields) + "}",
             f"select={select}", f"scatter={scatter}")
    return b.case("select-and-scatter", [r])


@family("sort", 4)
def sort(rng):
    count = int(rng.integers(1, 4))
    types = [pick(rng, ("s32", "u8", "f32", "s64", "bf16", "f64", "s8", "u32", "f16")) for _ in range(count)]
    dims = random_dims(rng, 1, 3, 5)
    if coin(rng, 4):
        dims = (int(rng.integers(10, 60)),)
    d = int(rng.integers(0, len(dims)))
    b = Builder()
    operands = [b.input(t, el.small_integers(rng, t, dims, -4, 4)) for t in types]
    lines = []
    for i, t in enumerate(types):
        lines += [f"  a{i} = {t}[] parameter({2 * i})\n", f"  b{i} = {t}[] parameter({2 * i + 1})\n"]
    direction = pick(rng, ("LT", "GT"))
    total = ", type=TOTALORDER" if el.is_float(types[0]) else ""
    if count > 1 and coin(rng):  # by two keys
        total1 = ", type=TOTALORDER" if el.is_float(types[1]) else ""
        lines += [f"  first = pred[] compare(a0, b0), direction={direction}{total}\n",
                  f"  tie = pred[] compare(a0, b0), direction=EQ{total}\n",
                  f"  second = pred[] compare(a1, b1), direction=LT{total1}\n",
                  "  both = pred[] and(tie, second)\n", "  ROOT r = pred[] or(first, both)\n"]
    else:
        lines.append(f"  ROOT r = pred[] compare(a0, b0), direction={direction}{total}\n")
    attributes = (f"dimensions={{{d}}}", "is_stable=true", f"to_apply={b.computation(''.join(lines))}")
    if count == 1:
        return b.case("sort", [b.op("sort", operands, types[0], dims, *attributes)])
    return b.case("sort", b.tuple_op("sort", operands, [(t, dims) for t in types], *attributes), NOT_FOLDED)


@family("topk", 2)
def topk(rng):
    t = pick(rng, ("f32", "bf16", "f64", "s32", "u8", "s64", "f16"))
    dims = random_dims(rng, 1, 3, 8)
    k = int(rng.integers(0, dims[-1] + 1))
    values = el.small_integers(rng, t, dims, -4, 4)
    if el.is_float(t):
        values = el.specials(rng, t, dims)
        values = np.where(np.isnan(values), np.asarray(1, values.dtype), values)
    b = Builder()
    x = b.input(t, values)
    kept = dims[:-1] + (k,)
    return b.case("topk", b.tuple_op("topk", [x], [(t, kept), ("s32", kept)], f"k={k}",
                                     f"largest={pick(rng, ('true', 'false'))}"))
