//go:build tamago

package uprobes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/probe/glass"
	"sonde/uprobes"
)

// filmed is a program that goes round for ever: it calls a function, which makes a system call, and adds 1 to
// the word at ProgramData.
var filmed = []byte{
	0x6a, 0x2a, // PUSHQ $42
	0xe8, 10, 0, 0, 0, // CALL the function
	0x48, 0xff, 0x04, 0x25, 0x00, 0x20, 0x40, 0x00, // INCQ word
	0xeb, 0xf1, // JMP to the CALL
	0xb8, 39, 0, 0, 0, // the function: MOVL $getpid, AX
	0x0f, 0x05, // SYSCALL
	0xc3, // RET
}

// Where its instructions are.
const (
	filmedCall     = suites.ProgramAt + 2
	filmedInc      = suites.ProgramAt + 7
	filmedFunction = suites.ProgramAt + 17
	filmedSyscall  = suites.ProgramAt + 22
)

// What is special among the registers of a frame.
const ax, sp, ip, flags = 0, 4, glass.IP, glass.Flags

// A film is a camera in a process.
type film struct {
	t      *suites.T
	p      *proc.Process
	camera uprobes.Camera
	film   *glass.Film
	slot   uint64
}

// runFilmed starts the program.
func runFilmed(t *suites.T) *run {
	t.NeedPrograms()
	const path = "/filmed"
	suites.WriteProgram(t, path, filmed)
	defer vfs.Remove(path)
	return &run{p: suites.StartProgram(t, path, nil)}
}

// record puts a camera at an address of p.
func record(t *suites.T, p *proc.Process, addr, hit uint64, returns bool) *film {
	own, err := glass.New(hit, -1)
	t.Must(err)
	f := &film{t: t, p: p, film: own, camera: uprobes.Camera{Film: own, Blocks: !inTrap, Return: returns}}
	f.camera.RP.U.Pid, f.camera.RP.U.Vaddr = p.PID, addr
	if err := uprobes.RegisterCamera(&f.camera); err != nil {
		own.Close()
		t.Fatalf("%v", err)
	}
	f.slot = uprobes.SlotOf(p, addr)
	return f
}

// recorded records a hit, one that is handled in the trap if that is what the case is about: a few are not,
// and have the same stages.
func recorded(t *suites.T, p *proc.Process, addr uint64, returns bool, want ...glass.Stage) (frames []glass.Frame) {
	const tries = 10
	for range tries {
		frames = record(t, p, addr, 5, returns).ended(want...)
		if frames[0].Note[0] == glass.InTrap == inTrap {
			return frames
		}
	}
	t.Fatalf("no hit of %d was handled in the trap", tries)
	return nil
}

// ended waits until the hit is over, takes the camera away, and returns the frames, which must have these
// stages.
func (f *film) ended(want ...glass.Stage) []glass.Frame {
	f.t.Until("the recording is over", f.film.Done)
	frames := f.has(want...)
	f.close()
	return frames
}

// has returns the frames, which must have these stages.
func (f *film) has(want ...glass.Stage) []glass.Frame {
	frames, lost := f.film.Recorded()
	f.check(frames)
	if got := stages(frames); !slices.Equal(got, want) || lost != 0 {
		f.t.Fatalf("stages %v, want %v; %d lost", got, want, lost)
	}
	if frames[0].Note[0] == glass.InTrap && !inTrap {
		f.t.Errorf("it is handled in the trap")
	}
	return frames
}

// stages are those of frames.
func stages(frames []glass.Frame) (list []glass.Stage) {
	for i := range frames {
		list = append(list, frames[i].Stage)
	}
	return list
}

func (f *film) close() {
	uprobes.UnregisterCamera(&f.camera)
	f.film.Close()
}

// check says what is wrong with frames, by themselves and beside the process's memory.
func (f *film) check(frames []glass.Frame) {
	for i := range frames {
		now := &frames[i]
		if now.Stage == glass.Died {
			continue
		}
		var last *glass.Frame
		if i > 0 {
			last = &frames[i-1]
		}
		for _, why := range []string{f.bytes(now), sequence(now, &frames[0], last), f.follows(now, &frames[0], last)} {
			if why != "" {
				f.t.Errorf("frame %d of %d, stage %d: %s", i+1, len(frames), now.Stage, why)
			}
		}
	}
}

// bytes compares with the memory.
func (f *film) bytes(now *glass.Frame) string {
	var place, code [glass.CodeBytes]byte
	f.p.Memory().Peek(place[:], f.camera.RP.U.Vaddr)
	inSlot := now.Regs[ip]>>12 != f.camera.RP.U.Vaddr>>12
	early := inSlot && now.Code == [glass.CodeBytes]byte{} // the process did not have its page of slots yet
	switch n := f.p.Memory().Peek(code[:], now.Regs[ip]); {
	case now.Has&glass.HasText == 0 || now.Text != place:
		return fmt.Sprintf("the place is % x, not % x", now.Text, place)
	case place[0] != insn.OpInt3:
		return fmt.Sprintf("the place begins with %#x", place[0])
	case !early && (now.Has&glass.HasCode == 0 || n != len(code) || now.Code != code):
		return fmt.Sprintf("at IP %#x is % x, not % x", now.Regs[ip], now.Code, code)
	case now.Words == 0:
		return "there is no stack"
	}
	return ""
}

// sequence: all frames are of one thread and follow each other in time.
func sequence(now, first, last *glass.Frame) string {
	switch {
	case now.PID != first.PID || now.TID != first.TID:
		return fmt.Sprintf("it is of thread %d of process %d, not %d of %d", now.TID, now.PID, first.TID, first.PID)
	case last != nil && now.Time < last.Time:
		return "it is before the one before it"
	}
	return ""
}

// follows: IP and the other registers follow from the frame before.
func (f *film) follows(now, first, last *glass.Frame) string {
	addr := f.camera.RP.U.Vaddr
	want := now.Regs
	if last != nil {
		want = last.Regs
	}
	next := addr + uint64(f.inst().Len)
	switch now.Stage {
	case glass.Trapped:
		want[ip] = addr + 1
	case glass.ToSlot:
		want[ip] = f.slot
	case glass.ToStep:
		want[ip], want[flags] = f.slot, want[flags]|amd64.RFLAGS_TF
	case glass.PutBack:
		want = now.Regs // the instruction may do anything
		want[ip], want[flags] = next, want[flags]&^amd64.RFLAGS_TF
	case glass.Called:
		want = now.Regs
		want[ip] = next
	case glass.Emulated:
		return "" // the case looks at it
	case glass.Trampoline, glass.Exited:
		if last.Stage != glass.Emulates {
			want = now.Regs
			want[sp] = first.Regs[sp] + 8
		}
	case glass.GoesBack:
		if w := now.Stack; now.Regs[sp] == last.Regs[sp] && w != last.Stack {
			return "the stack changes"
		}
		want[ip] = now.Regs[ip]
	default:
		want[ip] = now.Regs[ip]
		if last.Stage == glass.Trapped {
			want[ip] = addr
		}
	}
	if want != now.Regs {
		return fmt.Sprintf("registers %#x, want %#x", now.Regs, want)
	}
	return ""
}

// inst is the probed instruction.
func (f *film) inst() insn.Inst {
	var code [15]byte
	n, err := f.p.Memory().Text(code[:], f.camera.RP.U.Vaddr)
	f.t.Must(err)
	in, err := insn.Decode(code[:n])
	f.t.Must(err)
	return in
}

// word reads a word of the process.
func word(t *suites.T, p *proc.Process, addr uint64) uint64 {
	var b [8]byte
	if p.Memory().Peek(b[:], addr) != len(b) {
		t.Errorf("%#x is not in memory", addr)
	}
	return binary.LittleEndian.Uint64(b[:])
}

// sameText reports whether the process's code is as it was.
func sameText(p *proc.Process, was []byte) bool {
	now := make([]byte, len(was))
	return p.Memory().Peek(now, suites.ProgramAt) == len(now) && bytes.Equal(now, was)
}
