"""A launch of PTX through CUDA's driver interface: see run-ptx. Its functions and attributes are those of cuda.h."""
import ctypes
import os
import re

import launch

MAX_DYNAMIC_SHARED, COMPUTE_MAJOR, COMPUTE_MINOR = 8, 75, 76
DEFAULT_SHARED = 48 * 1024
MAP_BYTES, MAP_ALIGNMENT = 128, 64
UNSIGNED, SWIZZLES = {1: 0, 2: 1, 4: 2, 8: 4}, {0: 0, 32: 1, 64: 2, 128: 3}
# cuGetErrorName is asked for names of results; those of code that went wrong are an answer and not a lack of a device.
WENT_WRONG = {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_ILLEGAL_INSTRUCTION", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ASSERT",
              "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_LAUNCH_TIMEOUT",
              "CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_NOT_FOUND"}


class Driver:
    def __init__(self):
        try:
            self.functions = ctypes.CDLL(os.environ.get("TESSERA_CUDA_LIBRARY", "libcuda.so.1"))
        except OSError:
            launch.skip("no NVIDIA driver (libcuda.so.1) here, and no emulator of PTX that a package registry has: see ptx-check")

    def __call__(self, function, *arguments):
        result = getattr(self.functions, function)(*arguments)
        if result == 0:
            return
        name = ctypes.c_char_p()
        self.functions.cuGetErrorName(result, ctypes.byref(name))
        text = f"{function}: {(name.value or b'?').decode()}"
        if text.split()[-1] in WENT_WRONG:
            launch.wrong(f"different: {text}")
        launch.skip(text)


def wanted_capability(arch):
    match = re.fullmatch(r"sm_(\d+)(\d)(a?)", arch)
    if not match:
        launch.refuse(f"no architecture of NVIDIA's: {arch}")
    return int(match[1]), int(match[2]), bool(match[3])


def open_device(driver, arch):
    device, major, minor, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    driver("cuInit", 0)
    driver("cuDeviceGet", ctypes.byref(device), 0)
    driver("cuDeviceGetAttribute", ctypes.byref(major), COMPUTE_MAJOR, device)
    driver("cuDeviceGetAttribute", ctypes.byref(minor), COMPUTE_MINOR, device)
    asked, here, only = wanted_capability(arch), (major.value, minor.value), arch.endswith("a")
    if here < asked[:2] or (only and here != asked[:2]):
        launch.skip(f"the GPU is sm_{here[0]}{here[1]}, the code for {arch}")
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    driver("cuCtxSetCurrent", context)


def find_kernel(driver, asked):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(asked.code + b"\0"))
    driver("cuModuleGetFunction", ctypes.byref(function), module, asked.kernel.encode())
    if asked.shared_bytes > DEFAULT_SHARED:
        driver("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, asked.shared_bytes)
    return function


def map_of(driver, asked, address):
    """A CUtensorMap; a `c_char` of it keeps it alive."""
    rank = len(asked["dims"])
    room = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
    made = (ctypes.c_char * MAP_BYTES).from_buffer(room, -ctypes.addressof(room) % MAP_ALIGNMENT)
    words, numbers = ctypes.c_uint32 * rank, ctypes.c_uint64 * rank
    driver("cuTensorMapEncodeTiled", made, UNSIGNED[asked["element_bytes"]], rank, address, numbers(*asked["dims"]),
           numbers(*asked["strides"][1:]), words(*asked["box"]), words(*[1] * rank), 0, SWIZZLES[asked["swizzle"]], 0, 0)
    return made


def run(asked):
    """Runs a kernel; returns what the memory of each argument holds afterwards."""
    driver = Driver()
    open_device(driver, asked.arch)
    function = find_kernel(driver, asked)
    memory, values = {}, []
    for number, (kind, value) in enumerate(asked.arguments):
        if kind == "memory":
            memory[number] = ctypes.c_uint64()
            driver("cuMemAlloc_v2", ctypes.byref(memory[number]), ctypes.c_size_t(max(len(value), 1)))
            driver("cuMemcpyHtoD_v2", memory[number], value, ctypes.c_size_t(len(value)))
            values.append(memory[number])
        elif kind == "map":
            values.append(map_of(driver, value, memory[value["argument"]]))
        else:
            values.append(ctypes.create_string_buffer(value, len(value)))
    pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(v) for v in values))
    driver("cuLaunchKernel", function, asked.grid, 1, 1, asked.threads, 1, 1, asked.shared_bytes, None, pointers, None)
    driver("cuCtxSynchronize")
    contents = {}
    for number, address in memory.items():
        size = len(asked.arguments[number][1])
        content = ctypes.create_string_buffer(max(size, 1))
        driver("cuMemcpyDtoH_v2", content, address, ctypes.c_size_t(size))
        contents[number] = content.raw[:size]
    return contents
