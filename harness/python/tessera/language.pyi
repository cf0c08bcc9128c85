"""The kernel language (docs/language.md, docs/tiles.md) for editors and type checkers: what `from tessera import *` brings into a .tsr file.

A kernel's text is compiled, never run by Python; outside of one these names stand in annotations and decorators alone.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

from tessera import _tessera
from tessera._types import ElementType

_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R")

inf: float
nan: float
INF: float

# ---- what a parameter is ----

class Tensor(_tessera.Tensor):
    """Tensor["M", "N", f32]: a dense, row-major tensor; Tensor[f32] is a scalar."""

    def __class_getitem__(cls, parts: Any) -> Any: ...
    @property
    def T(self) -> Tensor:
        """the last two axes swapped"""
    @property
    def shape(self) -> tuple[Any, ...]: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def ndim(self) -> int: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __add__(self, other: Any) -> Tensor: ...
    def __radd__(self, other: Any) -> Tensor: ...
    def __sub__(self, other: Any) -> Tensor: ...
    def __rsub__(self, other: Any) -> Tensor: ...
    def __mul__(self, other: Any) -> Tensor: ...
    def __rmul__(self, other: Any) -> Tensor: ...
    def __truediv__(self, other: Any) -> Tensor: ...
    def __rtruediv__(self, other: Any) -> Tensor: ...
    def __matmul__(self, other: Any) -> Tensor: ...
    def __pow__(self, other: Any) -> Tensor: ...
    def __rpow__(self, other: Any) -> Tensor: ...
    def __and__(self, other: Any) -> Tensor: ...
    def __rand__(self, other: Any) -> Tensor: ...
    def __or__(self, other: Any) -> Tensor: ...
    def __ror__(self, other: Any) -> Tensor: ...
    def __xor__(self, other: Any) -> Tensor: ...
    def __rxor__(self, other: Any) -> Tensor: ...
    def __floordiv__(self, other: Any) -> Tensor: ...
    def __mod__(self, other: Any) -> Tensor: ...
    def __lshift__(self, other: Any) -> Tensor: ...
    def __rshift__(self, other: Any) -> Tensor: ...
    def __rfloordiv__(self, other: Any) -> Tensor: ...
    def __rmod__(self, other: Any) -> Tensor: ...
    def __rlshift__(self, other: Any) -> Tensor: ...
    def __rrshift__(self, other: Any) -> Tensor: ...
    def __lt__(self, other: Any) -> Tensor: ...
    def __le__(self, other: Any) -> Tensor: ...
    def __gt__(self, other: Any) -> Tensor: ...
    def __ge__(self, other: Any) -> Tensor: ...
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]

# A parameter or a result of a helper: what a kernel has loaded or computed.
Tile = Tensor

class KTile(Tensor):
    """KTile["M", "N", f32]: a tensor in memory, of which tile.load() takes tiles; with `@ out` behind it a result for tile.store()"""

    def __class_getitem__(cls, parts: Any) -> Any: ...

class KVCache:
    """Keys and values: a state, KVCache["B", "H", "S_max", "D_h", f32]; beside a KTile two tensors in memory"""

    K: Tensor
    V: Tensor
    length: Tensor
    def __init__(self, **fields: Any) -> None: ...
    def __class_getitem__(cls, parts: Any) -> Any: ...
    def append(self, k: Any, v: Any) -> KVCache:
        """with the keys and values of so many places more"""
    def prune(self, places: Any) -> KVCache:
        """without the oldest places"""
    def mask(self, queries: Any) -> Tensor:
        """True where one of the last so many places sees one of the cache"""
    def keys(self) -> Tensor:
        """K"""
    def values(self) -> Tensor:
        """V"""

class PagedKVCache:
    """Keys and values in pages that rows share: a state, PagedKVCache["B", "H", "R", "pages", "P", "D_h", f32]"""

    key_pages: Tensor
    value_pages: Tensor
    table: Tensor
    lengths: Tensor
    def __init__(self, **fields: Any) -> None: ...
    def __class_getitem__(cls, parts: Any) -> Any: ...
    def append(self, k: Any, v: Any) -> PagedKVCache:
        """with the keys and values of so many places more of each row"""
    def mask(self, queries: Any) -> Tensor:
        """True where one of the last so many places of a row sees one of it: [B, 1, queries, R * P]"""
    def keys(self) -> Tensor:
        """the keys of each row in the order of its places: [B, H, R * P, D_h]"""
    def values(self) -> Tensor:
        """the values likewise"""

class ScaleState:
    """ScaleState["H"]: the scale of the next tensor in f8e4m3fn, by the magnitudes of the last H ones"""

    history: Tensor
    scale: Tensor
    step: Tensor
    def __init__(self, **fields: Any) -> None: ...
    def __class_getitem__(cls, parts: Any) -> Any: ...
    def quantize(self, x: Any) -> Any:
        """x / scale in f8e4m3fn, that scale, and the state behind it"""

class OptimizerState:
    """OptimizerState[w] @ fp32_master: what an optimiser keeps of a parameter"""

    m: Any
    v: Any
    step: Tensor
    fp32_master: Any
    def __init__(self, **fields: Any) -> None: ...
    def __class_getitem__(cls, parts: Any) -> Any: ...
    def adamw(self, p: Any, g: Any, lr: Any = 1e-3, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8, wd: Any = 0.0) -> Any:
        """the parameter and the state behind one more step"""

class Like:
    """Like["P", f32]: the annotation P with another element type"""

    def __class_getitem__(cls, parts: Any) -> Any: ...

class Generic:
    """class Pair(Generic["M", "T"]): parameters of a record"""

    def __class_getitem__(cls, parts: Any) -> Any: ...

class _Debug:
    def check(self, x: Any, message: str = "", finite: bool = False) -> None:
        """makes a launch fail where an element of the condition is False, or with `finite` an infinity or a NaN"""

debug: _Debug

class _Operations:
    """op.matmul(x, y): the function of the language or of tessera.stdlib, also where the file has one of that name"""

    def __getattr__(self, name: str) -> Any: ...

op: _Operations
ops: _Operations
rolling_window: Policy
fp32_master: Policy

class Param:
    """NAME = Param["V", "D", f32]: weights, which functions name and the kernel takes"""

    def __class_getitem__(cls, parts: Any) -> Any: ...

class Block:
    """so many places of an axis"""

    start: Any
    size: Any
    number: Any

class Policy:
    """f32 @ saturate: what is said of an element type"""

    def __rmatmul__(self, element: Any) -> Any: ...

class Distribution:
    """what a case draws an input from"""

out: Policy

# ---- decorators ----

class _Case: ...

def case(name: str, **values: Any) -> _Case:
    """a case of a kernel: a number for each dimension, an element type for each type variable, and distributions of inputs"""

def cases(*cases: _Case) -> Callable[[_F], _F]:
    """what a kernel is run on"""

def record(fields: type[_R]) -> type[_R]:
    """a class of tensors: its fields are annotated like parameters"""

def state(fields: type[_R]) -> type[_R]:
    """a record that a program takes, changes and gives back"""

def replace(record: _R, **fields: Any) -> _R:
    """the record with other fields"""

def bounded(condition: Any, turns: Any) -> bool:
    """while bounded(condition, 100): as long as it holds, and for at most so many turns"""

def constants(**values: Any) -> Callable[[_F], _F]:
    """values of the parameters after a bare `*`"""

def math(functions: str) -> Callable[[_F], _F]:
    """math("correct"): functions are correctly rounded"""

def ste(function: _F) -> _F:
    """derivatives go through the function as they are"""

def specialize(*, when: dict[str, Any], use: dict[str, Any]) -> Callable[[_F], _F]:
    """tiles or a schedule for some targets"""

def independent(*dimensions: str) -> Callable[[_F], _F]:
    """the dimensions that are batches, of a kernel without a formula"""

def graph(text: str) -> Callable[[_F], _F]:
    """the kernel's formula as Graph IR"""

def same_as(kernel: str) -> Callable[[_F], _F]:
    """the kernel of this file whose formula the results are held to"""

class Schedule:
    """tiles of a kernel, for @kernel.schedule: Schedule(block=(64, 32), warps=8)"""

    def __init__(self, **words: Any) -> None: ...
    def __getattr__(self, word: str) -> Callable[..., Schedule]: ...

def block(*sizes: Any, **named: Any) -> Schedule:
    """block(m=64, n=32).k(32).warps(4): a Schedule in a chain"""

# ---- around statements ----

cpu: Any
gpu: Any

class device:
    """with device(gpu): code for no other device is made; behind an annotation, `@ device(gpu)`, of the whole function"""

    def __init__(self, name: Any) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *failure: Any) -> None: ...
    def __rmatmul__(self, annotation: Any) -> Any: ...

class prefetch:
    """with prefetch(x, into="smem", overlap="compute"): contractions that read x get it there; into "smem", "l1" or "l2", overlap "none", too"""

    def __init__(self, x: Any, into: str, overlap: str = ...) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *failure: Any) -> None: ...

# ---- from the compiler's tables ----

# <!-- tsr-opt --pyi -->
f64: ElementType
f32: ElementType
tf32: ElementType
f16: ElementType
bf16: ElementType
f8e4m3fn: ElementType
f8e5m2: ElementType
i64: ElementType
i32: ElementType
i16: ElementType
i8: ElementType
i4: ElementType
u64: ElementType
u32: ElementType
u16: ElementType
u8: ElementType
def accum(value: Any) -> Policy:
    """takes an element type"""
saturate: Policy
def stochastic_round(value: Any) -> Policy:
    """takes a seed: an integer from 0 on"""
def loss_scale(value: Any) -> Policy:
    """takes a power of two from 2 on, such as 1024"""
@overload
def normal(mean: Any = 0, stddev: Any = 1) -> Distribution:
    """what a case draws an input from"""
@overload
def normal(shape: Any, mean: Any = 0, stddev: Any = 1, seed: Any = 0, step: Any = 0) -> Tensor:
    """f32 of the normal distribution, likewise"""
@overload
def uniform(lo: Any, hi: Any) -> Distribution:
    """what a case draws an input from"""
@overload
def uniform(shape: Any, lo: Any = 0, hi: Any = 1, seed: Any = 0, step: Any = 0) -> Tensor:
    """f32 from lo to hi, drawn for the place of each element"""
def integers(lo: Any, hi: Any) -> Distribution:
    """what a case draws an input from"""
def constant(value: Any) -> Distribution:
    """what a case draws an input from"""
@overload
def zeros() -> Distribution:
    """what a case draws an input from"""
@overload
def zeros(shape: Any, dtype: Any) -> Tensor:
    """a tensor of zeros"""
@overload
def ones() -> Distribution:
    """what a case draws an input from"""
@overload
def ones(shape: Any, dtype: Any) -> Tensor:
    """a tensor of ones"""
def special() -> Distribution:
    """what a case draws an input from"""
def schedule(*base: Any, tile: Any = ..., block: Any = ..., unroll: Any = ..., strip: Any = ..., stage: Any = ..., depth: Any = ..., loader: Any = ..., warps: Any = ..., chain: Any = ..., prefetch: Any = ..., group: Any = ..., pack: Any = ..., vector: Any = ..., columns: Any = ..., lines: Any = ..., rows: Any = ..., stream: Any = ..., side: Any = ..., ahead: Any = ..., lanes: Any = ..., steps: Any = ..., trip: Any = ..., abreast: Any = ...) -> Any:
    """how a kernel is computed: a decorator, or a constant of the file"""
def sum(x: Any, axis: Any = None, keepdims: Any = False, order: Any = "lanes64") -> Tensor:
    """the sum over one axis, a tuple of axes, or all; floats in the order lanes64, exact, or a written one"""
def max(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """the greatest element over one axis, a tuple of axes, or all; of two values: maximum(x, y)"""
def min(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """the least element over one axis, a tuple of axes, or all; of two values: minimum(x, y)"""
def prod(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """the product over one axis, a tuple of axes, or all; floats in the order lanes64"""
def all(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """bool: do all elements hold, over one axis, a tuple of axes, or all?"""
def any(x: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    """bool: does any element hold, over one axis, a tuple of axes, or all?"""
def mean(x: Any, axis: Any = -1, keepdims: Any = False, order: Any = "lanes64") -> Tensor:
    """the mean over one axis, by a sum in the order lanes64 or exact"""
def logsumexp(x: Any, axis: Any = -1, keepdims: Any = False) -> Tensor:
    """log of the sum of exponentials over one axis"""
def argmax(x: Any, axis: Any = -1, keepdims: Any = False) -> Tensor:
    """i32: the first position of the greatest element along one axis, of the first NaN where there is one"""
def argmin(x: Any, axis: Any = -1, keepdims: Any = False) -> Tensor:
    """i32: the first position of the least element along one axis, of the first NaN where there is one"""
def cumsum(x: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """running sums along one axis: element i is the sum of the elements 0 to i; in reverse, of the last down to i"""
def cumprod(x: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """running products, likewise"""
def cummax(x: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """the greatest so far, likewise"""
def cummin(x: Any, axis: Any = -1, reverse: Any = False) -> Tensor:
    """the least so far, likewise"""
def argsort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor:
    """i32: the positions of the elements along one axis, in order; equal ones as they stand, a NaN above all others"""
def sort(x: Any, axis: Any = -1, descending: Any = False) -> Tensor:
    """the elements along one axis, in order"""
def topk(x: Any, k: Any) -> tuple[Tensor, Tensor]:
    """the k greatest elements along the last axis, the greatest first, and their positions"""
def where(condition: Any, x: Any, y: Any) -> Tensor:
    """x where the condition holds, else y"""
def clip(x: Any, lo: Any, hi: Any) -> Tensor:
    """minimum(maximum(x, lo), hi)"""
def sign(x: Any) -> Tensor:
    """1, -1, or x itself where it is a zero or a NaN"""
def isnan(x: Any) -> Tensor:
    """bool: is the element a NaN?"""
def isfinite(x: Any) -> Tensor:
    """bool: is the element neither a NaN nor an infinity?"""
def cast(x: Any, to: Any) -> Tensor:
    """conversion to an element type with one rounding; policies of the type say more"""
def bitcast(x: Any, to: Any) -> Tensor:
    """the same bits as another type of that size: i32 and f32, i64 and f64"""
def reshape(x: Any, shape: Any) -> Tensor:
    """the same elements in row-major order; one entry of the shape may be -1"""
def transpose(x: Any, permutation: Any = None) -> Tensor:
    """result axis i is axis permutation[i] of x; a matrix needs none"""
def broadcast_to(x: Any, shape: Any) -> Tensor:
    """repeats axes of length 1 and adds leading ones"""
def concat(xs: Any, axis: Any = 0) -> Tensor:
    """joins a list of tensors along an axis"""
def stack(xs: Any, axis: Any = 0) -> Tensor:
    """joins a list of tensors along a new axis of the result"""
def split(x: Any, parts: Any, axis: Any = 0) -> tuple[Tensor, ...]:
    """so many equal parts, or, with a tuple, parts of these lengths"""
def pad(x: Any, widths: Any, value: Any = 0) -> Tensor:
    """value around x; widths has (before, after) for each axis"""
def einsum(indices: Any, x: Any, y: Any = None) -> Tensor:
    """a sum of products by the names of the axes: einsum("bqhd,bkhd->bhqk", q, k)"""
def iota(shape: Any, axis: Any = 0) -> Tensor:
    """i32 positions along an axis"""
def arange(n: Any) -> Tensor:
    """i32: 0, 1, ... n - 1"""
def full(shape: Any, value: Any, dtype: Any) -> Tensor:
    """a tensor of one value"""
def scan(f: Any, carry: Any, xs: Any = None, length: Any = None, reverse: Any = False) -> tuple[Any, Any]:
    """f(carry, x) for each part x of xs along its first axis, in order, gives the next carry and a part y: the last carry, and all y stacked"""
def map(f: Any, xs: Any) -> Any:
    """f(x) for each part x of xs along its first axis, stacked"""
def reduce(f: Any, x: Any, init: Any, axis: Any = -1) -> Any:
    """f(so_far, element) along one axis, from init on, in order; f is by element"""
def dynamic_slice(x: Any, starts: Any, sizes: Any) -> Tensor:
    """a part of x of these sizes, from one i32 for each axis on, which are clamped so that it lies inside"""
def dynamic_update(x: Any, update: Any, starts: Any) -> Tensor:
    """x with a part in place of its own, from one i32 for each axis on, which are clamped so that it lies inside"""
def scatter(x: Any, indices: Any, updates: Any, mode: Any = "set", axis: Any = 0) -> Tensor:
    """x with updates at i32 indices along an axis, one after the other: in place of the elements, or, by "add", "max", "min" or "mul", combined with them"""
def grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> Any:
    """a function: the derivative of f, which gives one float, by an argument or several, by number or name; has_aux: f gives a pair, of which the second part comes out as it is"""
def value_and_grad(f: Any, argnums: Any = 0, has_aux: Any = False) -> Any:
    """a function: what f gives, and its derivative"""
def vjp(f: Any, primals: Any) -> tuple[Any, Any]:
    """f(*primals), and a function that makes cotangents of the primals of those of the result"""
def jvp(f: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """f(*primals), and its tangent for tangents of the primals"""
def hvp(f: Any, primals: Any, tangents: Any) -> Any:
    """the tangent of the gradient of f, which gives one float: the Hessian by a vector"""
def jacfwd(f: Any, argnums: Any = 0) -> Any:
    """a function: all derivatives of the result by one argument, forward"""
def jacrev(f: Any, argnums: Any = 0) -> Any:
    """a function: the same in reverse"""
def vmap(f: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """a function: f of each part along an axis of its arguments (None: of none), stacked"""
def pmap(f: Any, axis_name: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """the same, and f may hold collectives over the axis of this name, whose shards may lie on several ranks"""
def shard_map(f: Any, mesh: Any, in_specs: Any, out_specs: Any) -> Any:
    """a function: f of the shards of its arguments, which lie along the axes of the mesh as their specs say; its results are put together by theirs"""
def mesh(shape: Any, names: Any) -> Any:
    """a mesh of shards: so many along each axis, and the axes' names"""
def PartitionSpec(a: Any = None, b: Any = None, c: Any = None, d: Any = None, e: Any = None, f: Any = None) -> Any:
    """the axes of a mesh that each dimension is cut along, or None"""
def sharding(mesh: Any, a: Any = None, b: Any = None, c: Any = None, d: Any = None, e: Any = None, f: Any = None) -> Any:
    """how a value lies on a mesh: the axes that each dimension is cut along, or None; of an input or output as Tensor[...] @ sharding(...), of a value by reshard()"""
def reshard(x: Any, sharding: Any) -> Tensor:
    """x, of which each rank has the part that the sharding says"""
def all_reduce(x: Any, axis: Any, op: Any = "sum", order: Any = "tree") -> Tensor:
    """the sum (or mean, max, min, prod) over the shards along an axis of the mesh, or several; a sum in the order tree, or exact"""
def all_gather(x: Any, axis: Any, dim: Any = 0) -> Tensor:
    """what all shards have, one behind the other along a dimension"""
def reduce_scatter(x: Any, axis: Any, dim: Any = 0, order: Any = "tree") -> Tensor:
    """this shard's part along a dimension of the sum over the shards"""
def shard_slice(x: Any, axis: Any, dim: Any = 0) -> Tensor:
    """this shard's part along a dimension of what all shards have alike"""
def all_to_all(x: Any, axis: Any, split: Any = 0, concat: Any = 0) -> Tensor:
    """a part along a dimension for each shard; what comes stands one behind the other along another"""
def permute(x: Any, axis: Any, pairs: Any) -> Tensor:
    """x of the shard that this one is paired with: (from, to); zeros where it is `to` of none"""
def broadcast(x: Any, axis: Any, root: Any = 0) -> Tensor:
    """x of one shard"""
def axis_index(axis: Any) -> Tensor:
    """i32: the number of this shard along an axis"""
def axis_size(axis: Any) -> Tensor:
    """the number of shards along an axis"""
def checkpoint(f: Any, keep: Any = "nothing", budget: Any = 0) -> Any:
    """a function: f, whose derivative computes its values again, but for what it keeps ("nothing", "dots" or "everything"); budget: or for as much as leaves the room of the whole program within so many bytes"""
def dropout(x: Any, p: Any, seed: Any = 0, step: Any = 0) -> Tensor:
    """0 with the chance p, a constant, else x / (1 - p), drawn for the place of each element"""
def bernoulli(shape: Any, p: Any = 0.5, seed: Any = 0, step: Any = 0) -> Tensor:
    """bool: True with the chance p, a number or a tensor, likewise"""
def categorical(logits: Any, axis: Any = -1, seed: Any = 0, step: Any = 0) -> Tensor:
    """i32: a position along one axis, drawn with the chance softmax(logits)"""
def fold_in(step: Any, i: Any) -> Tensor:
    """i32: another step, made of a step and a number: those of one step and all i differ"""
def neg(x: Any) -> Tensor:
    """-x"""
def abs(x: Any) -> Tensor:
    """magnitude"""
def sqrt(x: Any) -> Tensor:
    """correctly rounded square root"""
def floor(x: Any) -> Tensor:
    """greatest integer that is not above x"""
def ceil(x: Any) -> Tensor:
    """least integer that is not below x"""
def round(x: Any) -> Tensor:
    """nearest integer, of two the even one"""
def trunc(x: Any) -> Tensor:
    """the integer part of x"""
def rsqrt(x: Any) -> Tensor:
    """specified 1/sqrt(x)"""
def exp(x: Any) -> Tensor:
    """specified e^x"""
def exp2(x: Any) -> Tensor:
    """specified 2^x"""
def expm1(x: Any) -> Tensor:
    """specified e^x - 1"""
def log(x: Any) -> Tensor:
    """specified natural logarithm"""
def log2(x: Any) -> Tensor:
    """specified binary logarithm"""
def log1p(x: Any) -> Tensor:
    """specified log(1 + x)"""
def tanh(x: Any) -> Tensor:
    """specified hyperbolic tangent"""
def erf(x: Any) -> Tensor:
    """specified error function"""
def logistic(x: Any) -> Tensor:
    """specified 1/(1+e^-x)"""
def sin(x: Any) -> Tensor:
    """specified sine"""
def cos(x: Any) -> Tensor:
    """specified cosine"""
def pow(x: Any, y: Any) -> Tensor:
    """specified x^y"""
def atan2(y: Any, x: Any) -> Tensor:
    """specified angle of the point (x, y)"""
def add(x: Any, y: Any) -> Tensor:
    """x + y"""
def sub(x: Any, y: Any) -> Tensor:
    """x - y"""
def mul(x: Any, y: Any) -> Tensor:
    """x * y"""
def div(x: Any, y: Any) -> Tensor:
    """x / y; integers: toward zero, x/0 = 0"""
def maximum(x: Any, y: Any) -> Tensor:
    """IEEE 754-2019 maximum"""
def minimum(x: Any, y: Any) -> Tensor:
    """IEEE 754-2019 minimum"""
def xor(x: Any, y: Any) -> Tensor:
    """logical or bitwise exclusive or"""
def left_shift(x: Any, y: Any) -> Tensor:
    """x moved by y bits, zeros from below; 0 where y is no number of a bit of x"""
def right_shift(x: Any, y: Any) -> Tensor:
    """x moved down by y bits, its sign from above; the sign alone where y is no number of a bit of x"""
def fma(x: Any, y: Any, z: Any) -> Tensor:
    """x*y + z with one rounding"""
def window(x: Any, axis: Any, size: Any, stride: Any = 1) -> Tensor:
    """windows along an axis, `stride` apart: the axis becomes the number of the window, a new last axis the place in it"""
def gather(x: Any, indices: Any, axis: Any = 0, batch_dims: Any = 0) -> Tensor:
    """x taken at i32 indices along an axis; an index is clamped"""
def dot(x: Any, y: Any, x_contract: Any, y_contract: Any, x_batch: Any = (), y_batch: Any = (), out: Any = None, order: Any = "chunk512", *, k_count: Any = None) -> Tensor:
    """contraction: batch axes, then x's free axes, then y's"""
def matmul(x: Any, y: Any, out: Any = None, order: Any = "chunk512") -> Tensor:
    """x @ y over the last two axes, leading axes broadcast"""
def softmax(x: Any, axis: Any = -1) -> Tensor:
    """exp(x - max) / sum"""
def layernorm(x: Any, gain: Any, bias: Any, eps: Any = 1e-5) -> Tensor:
    """((x - mean) * rsqrt(var + eps)) * gain + bias over the last axis"""
def rmsnorm(x: Any, gain: Any, eps: Any = 1e-6) -> Tensor:
    """(x * rsqrt(mean(x*x) + eps)) * gain over the last axis"""
def relu(x: Any) -> Tensor:
    """maximum(x, 0)"""
def gelu(x: Any, approximate: Any = "tanh") -> Tensor:
    """gelu by tanh or ("none") by erf"""
def silu(x: Any) -> Tensor:
    """x * logistic(x)"""
def linear(x: Any, w: Any, bias: Any = None, activation: Any = "none", order: Any = "chunk512") -> Tensor:
    """activation(x @ w + bias): none, relu, gelu, gelu_erf, silu"""
def conv2d(x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, activation: Any = "none", order: Any = "chunk512") -> Tensor:
    """activation of the convolution of x [N, H, W, C] by w [KH, KW, C, O] + bias: contracted over kh, kw, c in this order, where places outside of x take no part"""
def scaled_matmul(x: Any, y: Any, x_scale: Any, y_scale: Any) -> Tensor:
    """(f32(x @ y) * x_scale) * y_scale: i8 and i4 products, exact, or those of 8-bit floats, an f32 scale for each row of x and each column of y"""
def dequantize(x: Any, scale: Any, axis: Any = -1) -> Tensor:
    """f32(x) * scale, a scale for each position along the axis"""
def attention(q: Any, k: Any, v: Any, causal: Any = False) -> Tensor:
    """softmax(q kT / sqrt(D)) v over the last two axes"""
def cross_entropy(x: Any, target: Any) -> Tensor:
    """mean over the rows along the last axis of logsumexp(x) - x[target]"""
def rope(x: Any, cos: Any, sin: Any) -> Tensor:
    """rotates the pairs (i, i + D/2) of the last axis"""
def adam(p: Any, g: Any, m: Any, v: Any, c1: Any, c2: Any, lr: Any = 1e-3, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8, wd: Any = 0) -> tuple[Tensor, Tensor, Tensor]:
    """one Adam (AdamW where wd > 0) step: new p, m, v"""
def stop_gradient(x: Any) -> Tensor:
    """x, through which no derivative goes"""
def placed(x: Any, sharding: Any) -> Tensor:
    """x, of which a rank keeps the part that the text says (ops/sharding.h)"""
def take(x: Any, indices: Any, axis: Any = 0, batch_dims: Any = 0) -> Tensor:
    """x taken at i32 indices along an axis; an index is clamped"""
def sigmoid(x: Any) -> Tensor:
    """specified 1/(1+e^-x)"""
def dropout_in_kernel(x: Any, p: Any, seed: Any = 0, step: Any = 0) -> Tensor:
    """0 with the chance p, a constant, else x / (1 - p), drawn for the place of each element"""
def remat(f: Any, keep: Any = "nothing", budget: Any = 0) -> Any:
    """a function: f, whose derivative computes its values again, but for what it keeps ("nothing", "dots" or "everything"); budget: or for as much as leaves the room of the whole program within so many bytes"""

class Context:
    """tile.context(): sizes of tiles, and the blocks of this instance"""

    m: int
    n: int
    k: int
    d: int
    stages: int
    vector: int
    warps: int
    rows: Block
    cols: Block
    batch: Block

class _Tile:
    """functions of kernels of tiles; those of tensors are here, too"""

    @staticmethod
    def context() -> Context:
        """the program instance: sizes of tiles, and the blocks that are its own"""
    @staticmethod
    def load(x: Any, rows: Any = None, cols: Any = None, at: Any = None, shift: Any = None, other: Any = 0, vector: Any = None, prefetch: Any = None, stages: Any = None, swizzle: Any = None, space: Any = None) -> Tensor:
        """a tile of the last two axes of x (of the only one): at a block, or all of the axis"""
    @staticmethod
    def zeros(shape: Any, dtype: Any = f32) -> Tensor:
        """a tile of zeros"""
    @staticmethod
    def full(shape: Any, value: Any, dtype: Any = f32) -> Tensor:
        """a tile of one number"""
    @staticmethod
    def dot(x: Any, y: Any) -> Tensor:
        """x @ y; products of narrow floats are f32"""
    @staticmethod
    def mma(x: Any, y: Any, acc: Any) -> Tensor:
        """acc + x @ y"""
    @staticmethod
    def transpose(x: Any) -> Tensor:
        """the last two axes swapped"""
    @staticmethod
    def broadcast(x: Any, shape: Any) -> Tensor:
        """repeats axes of length 1 and adds leading ones"""
    @staticmethod
    def cast(x: Any, to: Any) -> Tensor:
        """conversion to an element type with one rounding"""
    @staticmethod
    def reduce(x: Any, kind: Any, axis: Any = -1, keepdims: Any = False) -> Tensor:
        """over an axis: "sum", "max" or "min", as kind says"""
    @staticmethod
    def rsqrt(x: Any) -> Tensor:
        """1 / sqrt(x), also of a number or a dimension"""
    @staticmethod
    def sqrt(x: Any) -> Tensor:
        """the square root, also of a number or a dimension"""
    @staticmethod
    def row_index(block: Any = None) -> Tensor:
        """i32: the places of a block, of T.rows if none is given"""
    @staticmethod
    def col_index(block: Any = None) -> Tensor:
        """i32: the places of a block, of T.cols if none is given"""
    @staticmethod
    def range(extent: Any, size: Any, prefetch: Any = None, stages: Any = None, stop: Any = None, start: Any = None) -> Iterator[Block]:
        """blocks of so many places of a length, those that begin at `start` or behind it, before `stop`"""
    @staticmethod
    def range_n(shape: Any, size: Any, prefetch: Any = None, stages: Any = None, stop: Any = None, start: Any = None) -> Iterator[Block]:
        """blocks of the last axis but one of a shape, as rows of keys"""
    @staticmethod
    def range_k(shape: Any, size: Any, prefetch: Any = None, stages: Any = None, stop: Any = None, start: Any = None) -> Iterator[Block]:
        """blocks of the last axis of a shape, as steps of a product"""
    @staticmethod
    def softmax_online(s: Any) -> tuple[Tensor, Tensor, Tensor]:
        """p, m, l of a block of scores"""
    @staticmethod
    def softmax_accumulate(acc: Any, m: Any, l: Any, p: Any, v: Any, m_c: Any, l_c: Any) -> tuple[Tensor, Tensor, Tensor]:
        """acc, m, l with one block more"""
    @staticmethod
    def mask_causal(s: Any, rows: Any, cols: Any) -> Tensor:
        """-inf where the column is greater than the row"""
    @staticmethod
    def barrier() -> None:
        """nothing: statements of an instance happen in their order"""
    @staticmethod
    def store(out: Any, value: Any, rows: Any = None, cols: Any = None) -> None:
        """gives this instance's part of a result"""
    @staticmethod
    def group(x: Any, size: Any, axis: Any = -1) -> Tensor:
        """an axis as groups of so many places: [.., groups, size, ..]"""
    @staticmethod
    def ungroup(x: Any, axis: Any = -1) -> Tensor:
        """the places of two axes side by side again"""
    @staticmethod
    def dropout(x: Any, p: Any, seed: Any = 0, step: Any = 0, rows: Any = None, cols: Any = None) -> Tensor:
        """0 with the chance p, else x / (1 - p), drawn for the places of x in the tensors that it was made from"""
    @staticmethod
    def uniform(shape: Any, lo: Any = 0, hi: Any = 1, seed: Any = 0, step: Any = 0, rows: Any = None, cols: Any = None) -> Tensor:
        """f32 from lo to hi, drawn for the places rows and cols"""
    @staticmethod
    def normal(shape: Any, mean: Any = 0, stddev: Any = 1, seed: Any = 0, step: Any = 0, rows: Any = None, cols: Any = None) -> Tensor:
        """f32 of the normal distribution, likewise"""
    @staticmethod
    def bernoulli(shape: Any, p: Any = 0.5, seed: Any = 0, step: Any = 0, rows: Any = None, cols: Any = None) -> Tensor:
        """bool: True with the chance p, likewise"""
    def __getattr__(self, name: str) -> Any: ...

tile: _Tile
# <!-- end of the table -->
