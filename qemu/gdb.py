# For gdb: backtraces go on from a handler of a probe, or of any other trap, to the code that was
# interrupted. The launcher prints the command that reads this file.
#
# To Go, the entries of traps are where a stack begins. What was interrupted is in the registers
# that they have saved, an amd64.Regs, which is above SP at their call of the handler:
#
#     LEAQ REGS(SP), AX; MOVQ R15, BX in some; XORL BP, BP; CALL (DX) or CALL CX
#
# A detour, to which the jump of an optimized probe leads, has no name. It and the functions below
# call by CX, DX or the CPU's state, which is at GS. Their LEAQ is further up, and into AX or BX.

import re

import gdb
from gdb.unwinder import Unwinder

TRAP_CALL = re.compile(rb"\x48\x8d\x84\x24(.{4})(?:\x4c\x89\xfb)?\x31\xed\xff[\x12\xd1]\Z", re.DOTALL)
SOFT_CALL = re.compile(rb"(?:\xff[\x12\xd1]|\x65\xff\x14\x25.{4})\Z", re.DOTALL)
DETOUR_LEAQ = re.compile(rb"\x48\x8d[\x84\x9c]\x24(..\x00\x00)", re.DOTALL)
SOFT, FAR = ("sonde/kprobes.late", "sonde/kprobes.trampoline"), 256

# gdb's names for the fields of amd64.Regs, in order; "-" is none of its registers.
FIELDS = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi - - rip - eflags rsp -".split()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def regs_of_trap(memory, pc):
    """Where the registers are, above SP, behind the call of an entry; None if pc is not there."""
    found = TRAP_CALL.search(bytes(memory.read_memory(pc - 15, 15)))
    return int.from_bytes(found[1], "little") if found else None


def regs_of_detour(memory, pc):
    """The same behind a call of a detour, and of what returns from probed functions."""
    if not SOFT_CALL.search(bytes(memory.read_memory(pc - 8, 8))):
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


class Goroutines(gdb.Command):
    """List all goroutines: their state, the first function outside of the runtime, and the name of the kernel's thread."""

    def __init__(self):
        super().__init__("info goroutines", gdb.COMMAND_STACK, gdb.COMPLETE_NONE)

    def invoke(self, _arg, _from_tty):
        names = {}
        for status in SliceValue(gdb.parse_and_eval("'sonde/kernel/kthread.table'")["tasks"]):
            names[int(status["Task"]["g"])] = text(status["Task"]["Name"])
        for g in SliceValue(gdb.parse_and_eval("'runtime.allgs'")):
            state = int(g["atomicstatus"]["value"]) & ~G_SCAN
            if state in (G_DEAD, G_DEADEXTRA):
                continue
            # Where a goroutine that runs was when it waited last says nothing.
            where = "" if state == G_RUNNING else outside(int(g["sched"]["pc"]), int(g["sched"]["bp"]))
            name = "[%s]" % names[int(g)] if int(g) in names else ""
            print(("%s %s %-8s %s %s" % ("*" if g["m"] else " ", g["goid"], sts.get(state, state), where, name)).rstrip())


def text(string):
    """A string of Go."""
    return bytes(gdb.selected_inferior().read_memory(int(string["str"]), int(string["len"]))).decode() if string["len"] else ""


def outside(pc, bp):
    """The first function that is not the runtime's, from pc on along the frame pointers; or the outermost of it."""
    last = ""
    for _ in range(64):
        block = gdb.block_for_pc(pc)
        while block and not block.function:
            block = block.superblock
        name = block.function.name if block else "?"
        if not name.startswith(("runtime.", "internal/runtime/", "sync.runtime_", "time.Sleep")):
            return name
        last = name if name != "runtime.goexit" else last
        try:
            frame = bytes(gdb.selected_inferior().read_memory(bp, 16))
        except (gdb.MemoryError, OverflowError):
            break
        bp, pc = int.from_bytes(frame[:8], "little"), int.from_bytes(frame[8:], "little")
    return last


class Registers:
    """Prints an amd64.Regs in hexadecimal."""

    def __init__(self, regs):
        self.regs = regs

    def to_string(self):
        return "{%s}" % ", ".join("%s = %#x" % (f.name, int(self.regs[f.name])) for f in self.regs.type.fields())


Goroutines()
gdb.pretty_printers.append(lambda v: Registers(v) if v.type.strip_typedefs().name == "sonde/arch/amd64.Regs" else None)
