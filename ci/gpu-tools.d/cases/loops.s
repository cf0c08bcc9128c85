; Kernels of gfx942 whose hot loop is known: `chain` does four single and two packed multiply-adds a turn with two loads from shared
; memory and a barrier, within a loop that does none; `units` has a matrix instruction in its loop; `straight` has no loop.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text

.macro KERNEL name, vgprs, sgprs, lds
        .globl \name
        .p2align 8
        .type \name,@function
        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel \name
                .amdhsa_group_segment_fixed_size \lds
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_next_free_vgpr \vgprs
                .amdhsa_next_free_sgpr \sgprs
                .amdhsa_accum_offset 32
        .end_amdhsa_kernel
        .text
.endm

        KERNEL chain, 32, 16, 4096
chain:
        s_load_dword s4, s[0:1], 0x8
        s_mov_b32 s5, 0
        s_waitcnt lgkmcnt(0)
.Louter:
        s_mov_b32 s6, 0
        ds_write_b32 v0, v1
.Linner:
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b32 v2, v0
        ds_read2_b32 v[4:5], v0 offset1:8
        s_waitcnt lgkmcnt(0)
        v_fma_f32 v8, v2, v4, v8
        v_fmac_f32_e32 v9, v2, v5
        v_fmac_f32_e32 v10, v4, v5
        v_fmac_f32_e32 v11, v4, v8
        v_pk_fma_f32 v[12:13], v[4:5], v[8:9], v[12:13]
        v_pk_fma_f32 v[14:15], v[4:5], v[10:11], v[14:15]
        s_add_i32 s6, s6, 1
        s_cmp_lt_u32 s6, s4
        s_cbranch_scc1 .Linner
        s_add_i32 s5, s5, 1
        s_cmp_lt_u32 s5, s4
        s_cbranch_scc1 .Louter
        s_endpgm
.Lend0:
        .size chain, .Lend0-chain

        KERNEL units, 32, 16, 0
units:
        s_load_dword s4, s[0:1], 0x8
        s_mov_b32 s5, 0
        s_waitcnt lgkmcnt(0)
.Lturn:
        v_mfma_f32_16x16x4_f32 v[4:7], v0, v1, v[4:7]
        s_add_i32 s5, s5, 1
        s_cmp_lt_u32 s5, s4
        s_cbranch_scc1 .Lturn
        s_endpgm
.Lend1:
        .size units, .Lend1-units

        KERNEL straight, 32, 16, 0
straight:
        v_fma_f32 v0, v0, v0, v0
        s_endpgm
.Lend2:
        .size straight, .Lend2-straight

        .amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count: 0
    .group_segment_fixed_size: 4096
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 256
    .name: chain
    .private_segment_fixed_size: 0
    .sgpr_count: 16
    .sgpr_spill_count: 0
    .symbol: chain.kd
    .vgpr_count: 32
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count: 0
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .max_flat_workgroup_size: 256
    .name: units
    .private_segment_fixed_size: 20
    .sgpr_count: 16
    .sgpr_spill_count: 0
    .symbol: units.kd
    .vgpr_count: 32
    .vgpr_spill_count: 5
    .wavefront_size: 64
  - .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 256
    .name: straight
    .private_segment_fixed_size: 0
    .sgpr_count: 16
    .sgpr_spill_count: 0
    .symbol: straight.kd
    .vgpr_count: 32
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
        .end_amdgpu_metadata
