# For gdb: backtraces go on from a handler of a probe, or of any other trap, to the code that was
# interrupted. The launcher prints the command that reads this file.
#
# To Go, the entries of traps are where a stack begins. What was interrupted is in the registers
# that they have saved, an amd64.Regs, which is above SP at their call of the handler:
#
#     LEAQ REGS(SP), AX; XORL BP, BP; CALL (DX) or CALL CX

import gdb
from gdb.unwinder import Unwinder

LEAQ, XORL, CALLS = b"\x48\x8d\x84\x24", b"\x31\xed", (b"\xff\x12", b"\xff\xd1")

# gdb's names for the fields of amd64.Regs, in order; "-" is none of its registers.
FIELDS = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi - - rip - eflags rsp -".split()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Traps(Unwinder):
    def __init__(self):
        super().__init__("sonde traps")

    def __call__(self, frame):
        memory = gdb.selected_inferior()
        pc, sp = frame.read_register("rip"), frame.read_register("rsp")
        try:
            code = bytes(memory.read_memory(int(pc) - 12, 12))
        except (gdb.MemoryError, OverflowError):
            return None
        if code[:4] != LEAQ or code[8:10] != XORL or code[10:] not in CALLS:
            return None
        regs = int(sp) + int.from_bytes(code[4:8], "little")
        info = frame.create_unwind_info(FrameId(sp, pc))
        for i, name in enumerate(FIELDS):
            if name != "-":
                like = frame.read_register(name)
                info.add_saved_register(name, gdb.Value(bytes(memory.read_memory(regs + 8 * i, like.type.sizeof)), like.type))
        return info


gdb.unwinder.register_unwinder(None, Traps(), replace=True)
