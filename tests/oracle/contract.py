"""Families of sums of products: dot, ragged-dot, convolution."""
import numpy as np

from case import EXACT, SUM, Builder, coin, family, ints, pick, terms_bound
import elements as el

PRODUCTS = ("s8", "s32", "s64", "u8", "u32", "f32", "f64", "bf16", "f16", "c64", "c128", "pred", "s16",
            "f8e4m3fn", "f8e5m2", "s4")


def preferred(rng, t):
    wider = {"s8": ("s32",), "u8": ("u32", "s32"), "bf16": ("f32",), "f16": ("f32",), "f8e4m3fn": ("f32", "bf16"),
             "f8e5m2": ("f32", "f16"), "s4": ("s8", "s32")}
    return pick(rng, wider[t]) if t in wider and coin(rng) else t


def values(rng, t, dims, exact):
    return el.small_integers(rng, t, dims, -2, 2) if exact else el.normals(rng, t, dims)


def bounds(t, exact, terms):
    if exact or not (el.is_float(t) or el.is_complex(t)):
        return EXACT, SUM
    return (terms_bound(t, terms, 16),) * 2


@family("dot", 6)
def dot(rng):
    t = pick(rng, PRODUCTS)
    result = preferred(rng, t)
    exact = coin(rng)
    batch = [int(d) for d in rng.integers(1, 4, rng.integers(0, 3))]
    contract = [int(d) for d in rng.integers(1, 5, rng.integers(0, 3))]
    free = [[int(d) for d in rng.integers(1, 4, rng.integers(0, 3))] for _ in range(2)]
    sides = []
    for side in range(2):
        kinds = ([("b", i, n) for i, n in enumerate(batch)] + [("k", i, n) for i, n in enumerate(contract)] +
                 [("f", i, n) for i, n in enumerate(free[side])])
        sides.append([kinds[int(i)] for i in rng.permutation(len(kinds))])
    def where(side, kind, count):
        return [next(p for p, (k, i, _) in enumerate(sides[side]) if (k, i) == (kind, j)) for j in range(count)]
    b = Builder()
    operands = [b.input(t, values(rng, t, tuple(n for _, _, n in sides[s]), exact)) for s in range(2)]
    dims = batch + [n for side in sides for k, _, n in side if k == "f"]
    attributes = []
    for s, name in enumerate(("lhs", "rhs")):
        if batch:
            attributes.append(f"{name}_batch_dims={ints(where(s, 'b', len(batch)))}")
        if contract:
            attributes.append(f"{name}_contracting_dims={ints(where(s, 'k', len(contract)))}")
    r = b.op("dot", operands, result, dims, *attributes)
    return b.case("dot", [r], *bounds(result, exact, int(np.prod(contract, initial=1))), types=(t, result))


@family("ragged-dot", 2)
def ragged_dot(rng):
    t = pick(rng, ("f32", "f64", "bf16"))
    m, k, n, g = (int(v) for v in rng.integers(1, 6, 4))
    contracting = coin(rng, 3)
    sizes = rng.multinomial(k if contracting else m, np.ones(g) / g).astype(np.int32)
    b = Builder()
    lhs = b.input(t, values(rng, t, (m, k), True))
    rhs = b.input(t, values(rng, t, (k, n) if contracting else (g, k, n), True))
    group = b.input("s32", sizes)
    if contracting:
        r = b.op("ragged-dot", [lhs, rhs, group], t, (g, m, n), "lhs_contracting_dims={1}",
                 "rhs_contracting_dims={0}", "lhs_ragged_dims={1}")
    else:
        r = b.op("ragged-dot", [lhs, rhs, group], t, (m, n), "lhs_contracting_dims={1}",
                 "rhs_contracting_dims={1}", "lhs_ragged_dims={0}", "rhs_group_dims={0}")
    case = b.case("ragged-dot", [r], SUM, SUM)
    b.lines.pop()
    # Row (or term) i counts for group q where low[q] <= i < high[q]: a mask over a dense product.
    ragged = k if contracting else m
    ends = np.cumsum(sizes)
    high, low = (b.op("broadcast", [b.constant("s32", v.astype(np.int32))], "s32", (g, ragged), "dimensions={0}")
                 for v in (ends, ends - sizes))
    i = b.op("iota", [], "s32", (g, ragged), "iota_dimension=1")
    inside = b.op("and", [b.op("compare", [i, low], "pred", (g, ragged), "direction=GE"),
                          b.op("compare", [i, high], "pred", (g, ragged), "direction=LT")], "pred", (g, ragged))
    mask = b.op("convert", [inside], t, (g, ragged))
    spread = b.op("broadcast", [mask], t, (g, m, k), f"dimensions={{0,{2 if contracting else 1}}}")
    rows = b.op("multiply", [b.op("broadcast", [lhs], t, (g, m, k), "dimensions={1,2}"), spread], t, (g, m, k))
    if contracting:
        r = b.op("dot", [rows, rhs], t, (g, m, n), "lhs_contracting_dims={2}", "rhs_contracting_dims={0}")
    else:
        r = b.op("dot", [rows, rhs], t, (m, n), "lhs_contracting_dims={0,2}", "rhs_contracting_dims={0,1}")
    case.spelled_out = b.case("ragged-dot", [r]).text
    return case


def labels(rng, first, second, spatial):
    """Letters of one array in a random order, and where each went."""
    letters = [first, second] + [str(i) for i in range(spatial)]
    letters = [letters[int(i)] for i in rng.permutation(len(letters))]
    return "".join(letters)


def window_dim(rng, negative_padding):
    """One spatial dimension: (input, size, stride, low, high, base, window dilation, result)."""
    while True:
        n, size, stride = int(rng.integers(1, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        low, high = (int(v) for v in rng.integers(-1 if negative_padding else 0, 4, 2))
        base, dilation = pick(rng, (1, 1, 2, 3)), pick(rng, (1, 1, 2))
        span = low + (n - 1) * base + 1 + high
        taps = (size - 1) * dilation + 1
        if span >= taps:
            return n, size, stride, low, high, base, dilation, (span - taps) // stride + 1


def window_text(window, reversal=None):
    fields = ["size=" + "x".join(str(w[1]) for w in window), "stride=" + "x".join(str(w[2]) for w in window),
              "pad=" + "x".join(f"{w[3]}_{w[4]}" for w in window),
              "lhs_dilate=" + "x".join(str(w[5]) for w in window),
              "rhs_dilate=" + "x".join(str(w[6]) for w in window)]
    if reversal and any(reversal):
        fields.append("rhs_reversal=" + "x".join(str(int(r)) for r in reversal))
    return "window={" + " ".join(fields) + "}"


@family("convolution", 6)
def convolution(rng):
    t = pick(rng, ("f32", "f64", "bf16", "f16", "s8", "s32", "u8", "c64", "s64", "f32", "f8e4m3fn"))
    result = preferred(rng, t)
    spatial = int(rng.integers(0, 4))
    groups = pick(rng, (1, 1, 2, 3))
    batch_groups = pick(rng, (2, 3)) if groups == 1 and coin(rng, 3) else 1
    inputs, outputs = int(rng.integers(1, 3)), int(rng.integers(1, 3)) * groups * batch_groups
    batch = int(rng.integers(1, 3)) * batch_groups
    window = [window_dim(rng, True) for _ in range(spatial)]
    reversal = [coin(rng, 3) for _ in range(spatial)]
    names = [labels(rng, "b", "f", spatial), labels(rng, "i", "o", spatial), labels(rng, "b", "f", spatial)]
    sizes = [dict(b=batch, f=inputs * groups), dict(i=inputs, o=outputs), dict(b=batch // batch_groups, f=outputs)]
    for i, w in enumerate(window):
        for size, n in zip(sizes, (w[0], w[1], w[7])):
            size[str(i)] = n
    dims = [tuple(size[letter] for letter in name) for name, size in zip(names, sizes)]
    exact = coin(rng)
    b = Builder()
    operands = [b.input(t, values(rng, t, dims[i], exact)) for i in range(2)]
    r = b.op("convolution", operands, result, dims[2], window_text(window, reversal) if spatial else "",
             f"dim_labels={names[0]}_{names[1]}->{names[2]}",
             f"feature_group_count={groups}" if groups > 1 else "",
             f"batch_group_count={batch_groups}" if batch_groups > 1 else "")
    terms = inputs * int(np.prod([w[1] for w in window], initial=1))
    # The evaluator adds in the same order; dots it may see as products to reduce.
    return b.case("convolution", [r], EXACT, bounds(result, exact, terms)[1], types=(t, result))
