"""Compares two results element by element, as bits or within a bound."""
import numpy as np

from case import Bound
import elements as el


def _real_differs(got, want, t, bound: Bound):
    """Mask of elements that differ: NaN is one class, -0 is not +0, infinities must agree."""
    g, w = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (np.isnan(g) & np.isnan(w)) | ((g == w) & ((np.signbit(g) == np.signbit(w)) | (not bound.zero_sign)))
        f = el.info(t)
        if t in ("f32", "f64", "bf16"):  # XLA flushes subnormal numbers, here they are kept
            same |= (np.abs(g) < float(f.tiny)) & (np.abs(w) < float(f.tiny))
        if bound.ulps or bound.absolute:
            spacing = np.maximum(np.abs(w), float(f.tiny)) * float(f.eps)
            near = np.abs(g - w) <= bound.ulps * spacing + bound.absolute
            same |= near
    return ~same


def differs(got, want, t, bound: Bound):
    """Index of the first difference, or None."""
    if got.shape != want.shape:
        return "shape"
    if el.is_complex(t):
        f = el.info(el.part(t))
        parts = [_real_differs(g, w, el.part(t), bound) for g, w in ((got.real, want.real), (got.imag, want.imag))]
        mask = parts[0] | parts[1]
        if bound.ulps:  # an error in one part is measured by the whole number
            with np.errstate(all="ignore"):
                size = np.abs(want.astype(np.complex128))
                mask &= ~(np.abs(got.astype(np.complex128) - want) <=
                          bound.ulps * float(f.eps) * np.maximum(size, float(f.tiny)) + bound.absolute)
    elif el.is_float(t):
        mask = _real_differs(got, want, t, bound)
    else:
        mask = got != want
    if not mask.any():
        return None
    return tuple(int(i) for i in np.argwhere(mask)[0])
