# For gdb: backtraces go on from a handler of a probe, or of any other trap, to the code that was
# interrupted. The launcher prints the command that reads this file.
#
# To Go, the entries of traps are where a stack begins. What was interrupted is in the registers
# that they have saved, an amd64.Regs, which is above SP at their call of the handler:
#
#     LEAQ REGS(SP), AX; XORL BP, BP; CALL (DX) or CALL CX
#
# A detour, to which the jump of an optimized probe leads, has no name, and calls by CX; so do
# the functions below. Their LEAQ is further up, and into AX or BX.

import re

import gdb
from gdb.unwinder import Unwinder

LEAQ, XORL, CALL_CX, CALLS = b"\x48\x8d\x84\x24", b"\x31\xed", b"\xff\xd1", (b"\xff\x12", b"\xff\xd1")
DETOUR_LEAQ = re.compile(rb"\x48\x8d[\x84\x9c]\x24(..\x00\x00)", re.DOTALL)
SOFT, FAR = ("sonde/kprobes.late", "sonde/kprobes.trampoline"), 256

# gdb's names for the fields of amd64.Regs, in order; "-" is none of its registers.
FIELDS = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi - - rip - eflags rsp -".split()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def regs_of_trap(memory, pc):
    """Where the registers are, above SP, behind the call of an entry; None if pc is not there."""
    code = bytes(memory.read_memory(pc - 12, 12))
    if code[:4] == LEAQ and code[8:10] == XORL and code[10:] in CALLS:
        return int.from_bytes(code[4:8], "little")


def regs_of_detour(memory, pc):
    """The same behind a call of a detour, and of what returns from probed functions."""
    if bytes(memory.read_memory(pc - 2, 2)) != CALL_CX:
        return None
    block = gdb.block_for_pc(pc)
    if block and block.function and block.function.name not in SOFT:
        return None
    found = DETOUR_LEAQ.findall(bytes(memory.read_memory(pc - FAR, FAR)))
    return int.from_bytes(found[-1], "little") if found else None


class Traps(Unwinder):
    def __init__(self):
        super().__init__("sonde traps")

    def __call__(self, frame):
        memory = gdb.selected_inferior()
        pc, sp = frame.read_register("rip"), frame.read_register("rsp")
        try:
            off = regs_of_trap(memory, int(pc)) or regs_of_detour(memory, int(pc))
        except (gdb.MemoryError, OverflowError):
            return None
        if not off:
            return None
        regs = int(sp) + off
        info = frame.create_unwind_info(FrameId(sp, pc))
        for i, name in enumerate(FIELDS):
            if name != "-":
                like = frame.read_register(name)
                info.add_saved_register(name, gdb.Value(bytes(memory.read_memory(regs + 8 * i, like.type.sizeof)), like.type))
        return info


gdb.unwinder.register_unwinder(None, Traps(), replace=True)
