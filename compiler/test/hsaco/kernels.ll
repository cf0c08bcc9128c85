; Several kernels of one module: shared memory of both kinds, a barrier, and a table of constants that code finds relative to itself.
target triple = "amdgcn-amd-amdhsa"

@table = internal addrspace(4) constant [64 x i32] [
  i32 0, i32 1, i32 4, i32 9, i32 16, i32 25, i32 36, i32 49, i32 64, i32 81, i32 100, i32 121, i32 144, i32 169, i32 196, i32 225,
  i32 256, i32 289, i32 324, i32 361, i32 400, i32 441, i32 484, i32 529, i32 576, i32 625, i32 676, i32 729, i32 784, i32 841, i32 900, i32 961,
  i32 1024, i32 1089, i32 1156, i32 1225, i32 1296, i32 1369, i32 1444, i32 1521, i32 1600, i32 1681, i32 1764, i32 1849, i32 1936, i32 2025, i32 2116, i32 2209,
  i32 2304, i32 2401, i32 2500, i32 2601, i32 2704, i32 2809, i32 2916, i32 3025, i32 3136, i32 3249, i32 3364, i32 3481, i32 3600, i32 3721, i32 3844, i32 3969]
@dynamic = external addrspace(3) global [0 x float], align 16
@fixed = internal addrspace(3) global [128 x float] undef, align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare float @llvm.fma.f32(float, float, float)

define amdgpu_kernel void @squares(ptr addrspace(1) %out) #0 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr i32, ptr addrspace(4) @table, i32 %t
  %square = load i32, ptr addrspace(4) %from
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %square, ptr addrspace(1) %to
  ret void
}

define amdgpu_kernel void @neighbours(ptr addrspace(1) %in, ptr addrspace(1) %out) #1 {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %next = xor i32 %t, 1
  %from = getelementptr float, ptr addrspace(1) %in, i32 %t
  %x = load float, ptr addrspace(1) %from
  %mine = getelementptr float, ptr addrspace(3) @dynamic, i32 %t
  store float %x, ptr addrspace(3) %mine
  %kept = getelementptr float, ptr addrspace(3) @fixed, i32 %t
  store float %x, ptr addrspace(3) %kept
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %its = getelementptr float, ptr addrspace(3) @dynamic, i32 %next
  %y = load float, ptr addrspace(3) %its
  %other = getelementptr float, ptr addrspace(3) @fixed, i32 %next
  %z = load float, ptr addrspace(3) %other
  %r = call float @llvm.fma.f32(float %x, float %y, float %z)
  %to = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %r, ptr addrspace(1) %to
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
attributes #1 = { "amdgpu-flat-work-group-size"="128,128" } ; of one wave alone, the barrier would be left out
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
