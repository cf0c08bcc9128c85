/* dlpack_device.h - DLPack's numbers of kinds of devices (DLDeviceType of its dlpack.h), as far as
 * their memory is named by addresses that ours are. */
#ifndef TESSERA_BASE_DLPACK_DEVICE_H
#define TESSERA_BASE_DLPACK_DEVICE_H

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_ROCM = 10 };

#endif
