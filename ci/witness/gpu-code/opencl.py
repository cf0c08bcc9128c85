"""A launch of SPIR-V of OpenCL's flavour through the OpenCL loader: see run-spirv. Functions and numbers are those of CL/cl.h.

A driver that takes SPIR-V (cl_khr_il_program) gets it as it is. PoCL of Debian 12 takes LLVM's bitcode: there llvm-spirv, Khronos' own
translator, stands between."""
import ctypes
import os
import shutil
import subprocess
import tempfile

import launch

# PoCL 3.1's usual way, threads one after the other in loops, makes wrong code of barriers; with a copy of the code for each thread ("repl") most of
# it is right, and tiles that are turned in the workgroup's memory are not (docs/devices.md).
os.environ.setdefault("POCL_WORK_GROUP_METHOD", "repl")

DEVICE_ALL, PLATFORM_NAME, DEVICE_IL_VERSION, COPY_HOST, READ_WRITE, BUILD_LOG, TRUE = 0xFFFFFFFF, 0x0902, 0x105B, 1 << 5, 1, 0x1183, 1
TRANSLATOR = "llvm-spirv-15"
WRONG = {-5: "CL_OUT_OF_RESOURCES", -11: "CL_BUILD_PROGRAM_FAILURE", -46: "CL_INVALID_KERNEL_NAME", -54: "CL_INVALID_WORK_GROUP_SIZE"}


class Driver:
    def __init__(self):
        try:
            self.functions = ctypes.CDLL(os.environ.get("TESSERA_OPENCL_LIBRARY", "libOpenCL.so.1"))
        except OSError:
            launch.skip("no OpenCL loader (libOpenCL.so.1) here")

    def check(self, function, code):
        if code in WRONG:
            launch.wrong(f"different: {function}: {WRONG[code]}")
        if code != 0:
            launch.skip(f"{function}: {code}")

    def __call__(self, function, *arguments):
        self.check(function, getattr(self.functions, function)(*arguments))

    def make(self, function, *arguments):
        code = ctypes.c_int()
        call = getattr(self.functions, function)
        call.restype = ctypes.c_void_p
        made = call(*arguments, ctypes.byref(code))
        self.check(function, code.value)
        return ctypes.c_void_p(made)

    def text(self, function, owner, what):
        size = ctypes.c_size_t()
        if getattr(self.functions, function)(owner, what, ctypes.c_size_t(0), None, ctypes.byref(size)) != 0:
            return ""
        words = ctypes.create_string_buffer(max(size.value, 1))
        getattr(self.functions, function)(owner, what, size, words, None)
        return words.value.decode()


def open_device(driver):
    platform, device, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint()
    if driver.functions.clGetPlatformIDs(1, ctypes.byref(platform), ctypes.byref(count)) != 0 or count.value == 0:
        launch.skip("no OpenCL device here (Debian: pocl-opencl-icd)")
    driver("clGetDeviceIDs", platform, ctypes.c_ulong(DEVICE_ALL), 1, ctypes.byref(device), None)
    context = driver.make("clCreateContext", None, 1, ctypes.byref(device), None, None)
    return platform, device, context, driver.make("clCreateCommandQueue", context, device, ctypes.c_ulong(0))


def as_bitcode(code):
    if not shutil.which(TRANSLATOR):
        launch.skip(f"the driver takes no SPIR-V, and {TRANSLATOR} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/code.spv", "wb") as out:
            out.write(code)
        done = subprocess.run([TRANSLATOR, "-r", "--spirv-target-env=CL1.2", f"{folder}/code.spv", "-o", f"{folder}/code.bc"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            launch.wrong(f"different: {TRANSLATOR} refuses it: {(done.stderr or '?').strip().splitlines()[0]}")
        with open(f"{folder}/code.bc", "rb") as made:
            return made.read()


def build(driver, device, context, code):
    takes_spirv = "SPIR-V" in driver.text("clGetDeviceInfo", device, DEVICE_IL_VERSION)
    if takes_spirv:
        program = driver.make("clCreateProgramWithIL", context, ctypes.c_char_p(code), ctypes.c_size_t(len(code)))
    else:
        code = as_bitcode(code)
        program = driver.make("clCreateProgramWithBinary", context, 1, ctypes.byref(device), (ctypes.c_size_t * 1)(len(code)),
                              (ctypes.c_char_p * 1)(code), None)
    options = b"" if takes_spirv else b"-x spir -spir-std=1.2"
    if driver.functions.clBuildProgram(program, 1, ctypes.byref(device), options, None, None) != 0:
        size = ctypes.c_size_t()
        driver.functions.clGetProgramBuildInfo(program, device, BUILD_LOG, ctypes.c_size_t(0), None, ctypes.byref(size))
        log = ctypes.create_string_buffer(max(size.value, 1))
        driver.functions.clGetProgramBuildInfo(program, device, BUILD_LOG, size, log, None)
        launch.wrong(f"different: clBuildProgram: {log.value.decode(errors='replace').strip()}")
    return program


def run(asked):
    """Runs a kernel; returns what the memory of each argument holds afterwards."""
    driver = Driver()
    _, device, context, queue = open_device(driver)
    program = build(driver, device, context, asked.code)
    kernel = driver.make("clCreateKernel", program, asked.kernel.encode())
    memory = {}
    for number, (kind, value) in enumerate(asked.arguments):
        if kind != "memory":
            launch.refuse("code of OpenCL's flavour takes memory alone")
        memory[number] = driver.make("clCreateBuffer", context, ctypes.c_ulong(READ_WRITE | COPY_HOST), ctypes.c_size_t(max(len(value), 1)),
                                     ctypes.create_string_buffer(value, max(len(value), 1)))
        driver("clSetKernelArg", kernel, number, ctypes.c_size_t(ctypes.sizeof(ctypes.c_void_p)), ctypes.byref(memory[number]))
    driver("clEnqueueNDRangeKernel", queue, kernel, 1, None, (ctypes.c_size_t * 1)(asked.grid * asked.threads),
           (ctypes.c_size_t * 1)(asked.threads), 0, None, None)
    driver("clFinish", queue)
    contents = {}
    for number, buffer in memory.items():
        size = len(asked.arguments[number][1])
        content = ctypes.create_string_buffer(max(size, 1))
        if size:
            driver("clEnqueueReadBuffer", queue, buffer, TRUE, ctypes.c_size_t(0), ctypes.c_size_t(size), content, 0, None, None)
        contents[number] = content.raw[:size]
    return contents
