/* tvm_ffi.cc - functions as libraries of the TVM FFI export them, for test_cli_tvm_ffi.sh: needs the package apache-tvm-ffi. */
#include <tvm/ffi/tvm_ffi.h>
namespace ffi = tvm::ffi;

void twice(ffi::TensorView x, ffi::TensorView y) {
    TVM_FFI_CHECK(x.ndim() == 2, ValueError) << "two axes, not " << x.ndim();
    DLDataType f32{kDLFloat, 32, 1};
    if (x.dtype().code != f32.code || x.dtype().bits != 32)
        TVM_FFI_THROW(NotImplementedError) << "f32 alone";
    const float *from = static_cast<const float *>(x.data_ptr());
    float *to = static_cast<float *>(y.data_ptr());
    for (int64_t i = 0; i < x.size(0) * x.size(1); i++)
        to[i] = 2 * from[i];
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice);

void refuses(ffi::TensorView x, ffi::TensorView y) {
    TVM_FFI_THROW(ValueError) << "no such luck";
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(refuses, refuses);

/* Returns its output, as exporters of tensor programs do. */
ffi::Tensor tensors(ffi::Tensor x, ffi::Tensor y) {
    const float *from = static_cast<const float *>(x.data_ptr());
    for (int64_t i = 0; i < x.numel(); i++)
        static_cast<float *>(y.data_ptr())[i] = 2 * from[i];
    return y;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(tensors, tensors);

int64_t counted(ffi::TensorView x, ffi::TensorView y) {
    twice(x, y);
    return x.numel();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(counted, counted);

void strided(ffi::TensorView x, ffi::TensorView y) {
    TVM_FFI_CHECK(x.stride(1) == 1 && x.stride(0) == x.size(1) && x.IsContiguous(), ValueError) << "strides";
    twice(x, y);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(strided, strided);
