"""Listings of NVIDIA's machine code, as nvdisasm prints it: shared by ci/ptx-check and ci/witness/flash-attention."""
import re

import listing

CLASSES = tuple((name, re.compile(expression)) for name, expression in (
    ("FFMA", r"FFMA"),
    ("DFMA", r"DFMA"),
    ("HFMA2", r"HFMA2"),
    ("HMMA", r"[HQIDB]MMA"),
    ("WGMMA", r"[HQIB]GMMA"),
    ("FADD_FMUL", r"FADD|FMUL"),
    ("LDSM", r"LDSM"),
    ("LDS", r"LDS\b"),
    ("STS", r"STS\b"),
    ("LDGSTS", r"LDGSTS|UTMALDG|UBLKCP"),
    ("LDG", r"LDG\b|LD\b"),
    ("STG", r"STG\b|ST\b"),
    ("LOCAL", r"LDL\b|STL\b"),
    ("CONSTANT", r"U?LDCU?\b"),
    ("BAR", r"BAR\b|SYNCS\b"),
    ("WAIT", r"LDGDEPBAR|DEPBAR|WARPSYNC|NANOSLEEP"),
    ("SHFL", r"SHFL"),
    ("MUFU", r"MUFU"),
    ("IMAD", r"U?IMAD|U?LEA\b|XMAD"),
    ("IADD", r"V?U?IADD|U?IADD3|VIADD"),
    ("INTEGER", r"U?(LOP|SHF|SHL|SHR|ISETP|IMNMX|SEL|PRMT|PLOP|BMSK|SGXT|FLO|POPC)"),
    ("FLOAT", r"FSETP|FSEL|FMNMX|FSET|F2F|F2I|I2F|FRND|DADD|DMUL|DSETP|HADD2|HMUL2|F2FP"),
    ("MOVE", r"U?MOV|S2R|S2UR|CS2R|R2UR|R2P|P2R"),
    ("BRANCH", r"BRA|BRX|JMP|EXIT|RET|CALL|BSSY|BSYNC|BREAK|WARPSYNC|YIELD"),
))
MACHINE = listing.Machine(
    classes=CLASSES,
    fmas=lambda text: 1 if text.startswith("FFMA") else 0,
    padding=re.compile(r"NOP"),
    idle=frozenset(),
    uniform=re.compile(r"U(?!TMA|BLKCP)[A-Z]"),
)
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?(\S[^;]*?)\s*;")
LABEL = re.compile(r"(\.L\w+):")
TARGET = re.compile(r"`\((\.L\w+)\)")


def code_of(disassembly):
    """Code by kernel, from what nvdisasm prints."""
    found = {}
    for part in re.split(r"^\s*\.section\s+\.text\.", disassembly, flags=re.M)[1:]:
        kernel = re.match(r"[^,\s]+", part)[0]
        lines, labels, next_labels = [], {}, []
        for line in part.splitlines():
            if label := LABEL.match(line):
                next_labels.append(label[1])
            elif instruction := INSTRUCTION.match(line):
                address = int(instruction[1], 16)
                labels.update((name, address) for name in next_labels)
                next_labels = []
                lines.append((address, instruction[2]))
        found[kernel] = [listing.Instruction(address, text, target_of(text, labels)) for address, text in lines]
    return found


def target_of(text, labels):
    name = TARGET.search(text)
    return labels.get(name[1]) if name and text.startswith("BRA") else None
