"""ONNX Runtime on the CPU as an implementation of ci/peers.d/kernels.tsr: a graph of its operators for each kernel and shape."""
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))
OPSET = 17
EPSILON = 1e-5
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int8): TensorProto.INT8}
made = {}


def constant(name, value):
    return helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.float32(value), name))


def session_of(nodes, inputs, out):
    def value(name, array):
        return helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape)

    graph = helper.make_graph(nodes, "kernel", [value(n, a) for n, a in inputs.items()], [value("out", out)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(kernel, nodes, out, **inputs):
    """`nodes` make `out` of the inputs; what it writes is the array that was given."""
    if any(a.dtype not in TYPES for a in inputs.values()):
        raise NotImplementedError("not of this type")
    key = (kernel, *(a.shape for a in inputs.values()))
    if key not in made:
        made[key] = session_of(nodes, inputs, out)
    bound = made[key].io_binding()
    for name, array in inputs.items():
        bound.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    bound.bind_output("out", "cpu", 0, out.dtype, out.shape, out.ctypes.data)
    made[key].run_with_iobinding(bound)


def matmul_f32(x, y, out):
    run("matmul", [helper.make_node("MatMul", ["x", "y"], ["out"])], out, x=x, y=y)


def matmul_i8(x, y, out):
    run("matmul_i8", [helper.make_node("MatMulInteger", ["x", "y"], ["out"])], out, x=x, y=y)


def linear_f32(x, w, out):
    run("linear", [helper.make_node("Gemm", ["x", "w"], ["out"], transB=1)], out, x=x, w=w)


def softmax_f32(x, out):
    run("softmax", [helper.make_node("Softmax", ["x"], ["out"], axis=1)], out, x=x)


def layernorm_f32(x, gain, bias, out):
    node = helper.make_node("LayerNormalization", ["x", "gain", "bias"], ["out"], axis=1, epsilon=EPSILON)
    run("layernorm", [node], out, x=x, gain=gain, bias=bias)


def saxpy_f32(x, y, out):
    nodes = [constant("a", 0.5), helper.make_node("Mul", ["x", "a"], ["ax"]), helper.make_node("Add", ["ax", "y"], ["out"])]
    run("saxpy", nodes, out, x=x, y=y)


def chain_f32(x, y, z, out):
    nodes = [
        constant("one", 1),
        helper.make_node("Mul", ["x", "y"], ["xy"]),
        helper.make_node("Add", ["xy", "z"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Abs", ["z"], ["az"]),
        helper.make_node("Add", ["one", "az"], ["d"]),
        helper.make_node("Div", ["r", "d"], ["out"]),
    ]
    run("chain", nodes, out, x=x, y=y, z=z)


def transpose_f32(x, out):
    run("transpose", [helper.make_node("Transpose", ["x"], ["out"], perm=[1, 0])], out, x=x)


def sum_rows_f32(x, out):
    axes = helper.make_node("Constant", [], ["axes"], value=onnx.numpy_helper.from_array(np.array([1]), "axes"))
    run("sum_rows", [axes, helper.make_node("ReduceSum", ["x", "axes"], ["out"], keepdims=0)], out, x=x)


def sum_columns_f32(x, out):
    axes = helper.make_node("Constant", [], ["axes"], value=onnx.numpy_helper.from_array(np.array([0]), "axes"))
    run("sum_columns", [axes, helper.make_node("ReduceSum", ["x", "axes"], ["out"], keepdims=0)], out, x=x)


def attention_f32(q, k, v, out):
    nodes = [
        constant("scale", q.shape[-1] ** -0.5),
        helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Mul", ["s", "scale"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["out"]),
    ]
    run("attention", nodes, out, q=q, k=k, v=v)
