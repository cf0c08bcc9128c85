; Kernels for every GPU: THREAD, GROUP, BARRIER, KERNEL and ATTRIBUTES stand for what a target has in their place (test.py).
@shared = external addrspace(3) global [0 x float], align 16

declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.maximum.f32(float, float)

; out[i] = x[i] + y[i]; as many as threads
define KERNEL void @add(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %threads, ptr addrspace(1) %out) ATTRIBUTES {
  %t = THREAD
  %g = GROUP
  %first = mul i32 %g, %threads
  %i = add i32 %first, %t
  %px = getelementptr float, ptr addrspace(1) %x, i32 %i
  %py = getelementptr float, ptr addrspace(1) %y, i32 %i
  %po = getelementptr float, ptr addrspace(1) %out, i32 %i
  %a = load float, ptr addrspace(1) %px
  %b = load float, ptr addrspace(1) %py
  %r = fadd float %a, %b
  store float %r, ptr addrspace(1) %po
  ret void
}

; Each group's part of x the other way round, through shared memory.
define KERNEL void @reverse(ptr addrspace(1) %x, i32 %threads, ptr addrspace(1) %out) ATTRIBUTES {
  %t = THREAD
  %g = GROUP
  %first = mul i32 %g, %threads
  %i = add i32 %first, %t
  %px = getelementptr float, ptr addrspace(1) %x, i32 %i
  %a = load float, ptr addrspace(1) %px
  %mine = getelementptr float, ptr addrspace(3) @shared, i32 %t
  store float %a, ptr addrspace(3) %mine
  BARRIER
  %last = sub i32 %threads, 1
  %other = sub i32 %last, %t
  %its = getelementptr float, ptr addrspace(3) @shared, i32 %other
  %b = load float, ptr addrspace(3) %its
  %po = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %b, ptr addrspace(1) %po
  ret void
}

; a = y; n times: a = fma(x, a, y)
define KERNEL void @chain(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n, ptr addrspace(1) %out) ATTRIBUTES {
begin:
  %t = THREAD
  %px = getelementptr float, ptr addrspace(1) %x, i32 %t
  %py = getelementptr float, ptr addrspace(1) %y, i32 %t
  %b = load float, ptr addrspace(1) %px
  %c = load float, ptr addrspace(1) %py
  br label %turn
turn:
  %k = phi i64 [ 0, %begin ], [ %next, %turn ]
  %a = phi float [ %c, %begin ], [ %r, %turn ]
  %r = call float @llvm.fma.f32(float %b, float %a, float %c)
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %turn, label %end
end:
  %po = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %r, ptr addrspace(1) %po
  ret void
}

; Two results: x / y, and the square root of x.
define KERNEL void @divide(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %quotient, ptr addrspace(1) %root) ATTRIBUTES {
  %t = THREAD
  %px = getelementptr float, ptr addrspace(1) %x, i32 %t
  %py = getelementptr float, ptr addrspace(1) %y, i32 %t
  %a = load float, ptr addrspace(1) %px
  %b = load float, ptr addrspace(1) %py
  %q = fdiv float %a, %b
  %s = call float @llvm.sqrt.f32(float %a)
  %pq = getelementptr float, ptr addrspace(1) %quotient, i32 %t
  %ps = getelementptr float, ptr addrspace(1) %root, i32 %t
  store float %q, ptr addrspace(1) %pq
  store float %s, ptr addrspace(1) %ps
  ret void
}

; f16 to bf16, by way of f32 times two.
define KERNEL void @convert(ptr addrspace(1) %x, ptr addrspace(1) %out) ATTRIBUTES {
  %t = THREAD
  %px = getelementptr half, ptr addrspace(1) %x, i32 %t
  %h = load half, ptr addrspace(1) %px
  %a = fpext half %h to float
  %b = fmul float %a, 0x3FF4000000000000
  %r = fptrunc float %b to bfloat
  %po = getelementptr bfloat, ptr addrspace(1) %out, i32 %t
  store bfloat %r, ptr addrspace(1) %po
  ret void
}

; The greater of both, where -0 is less than 0, and 100 / i of integers of 64 bits.
define KERNEL void @pick(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(1) %greater, i64 %dividend, ptr addrspace(1) %quotient) ATTRIBUTES {
  %t = THREAD
  %px = getelementptr float, ptr addrspace(1) %x, i32 %t
  %py = getelementptr float, ptr addrspace(1) %y, i32 %t
  %a = load float, ptr addrspace(1) %px
  %b = load float, ptr addrspace(1) %py
  %m = call float @llvm.maximum.f32(float %a, float %b)
  %pm = getelementptr float, ptr addrspace(1) %greater, i32 %t
  store float %m, ptr addrspace(1) %pm
  %wide = sext i32 %t to i64
  %divisor = add i64 %wide, 1
  %q = sdiv i64 %dividend, %divisor
  %pq = getelementptr i64, ptr addrspace(1) %quotient, i32 %t
  store i64 %q, ptr addrspace(1) %pq
  ret void
}
