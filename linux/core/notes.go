package core

import (
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
)

// Thread is what a core file says about a thread.
type Thread struct {
	TID              int
	Regs             amd64.Regs
	Call             uint64 // the system call that it is in; ^0: none
	FS, GS           uint64 // bases of the segments
	FP               []byte // an FXSAVE image, or an XSAVE image
	Pending, Blocked uint64
	Used             [4]time.Duration // by the program and by the kernel for it; the same of children
}

// Kinds of notes.
const (
	noteStatus  = 1 // NT_PRSTATUS
	noteFP      = 2 // NT_PRFPREG
	noteProcess = 3 // NT_PRPSINFO
	noteAuxv    = 6 // NT_AUXV
	noteXState  = 0x202
	noteSiginfo = 0x53494749
	noteFiles   = 0x46494c45
)

// notes are in the order of Linux: debuggers take those of the first thread for the process's.
func (d *Dump) notes() (b []byte) {
	for i := range d.Threads {
		t := &d.Threads[i]
		b = note(b, "CORE", noteStatus, d.status(t))
		if i == 0 {
			b = note(b, "CORE", noteProcess, d.process())
			b = note(b, "CORE", noteSiginfo, abi.Bytes(&d.Signal))
			b = note(b, "CORE", noteAuxv, d.Auxv)
			if files := d.files(); files != nil {
				b = note(b, "CORE", noteFiles, files)
			}
		}
		b = note(b, "CORE", noteFP, t.FP[:abi.FPSize])
		if len(t.FP) > abi.FPSize {
			b = note(b, "LINUX", noteXState, xstate(t.FP))
		}
	}
	return b
}

func note(b []byte, name string, kind uint32, desc []byte) []byte {
	b = words32(b, uint32(len(name)+1), uint32(len(desc)), kind)
	b = padded(append(b, name+"\x00"...))
	return padded(append(b, desc...))
}

func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }

// status is struct elf_prstatus.
func (d *Dump) status(t *Thread) (b []byte) {
	b = words32(b, uint32(d.Signal.Signo), uint32(d.Signal.Code), uint32(d.Signal.Errno), uint32(d.Signal.Signo))
	b = words64(b, t.Pending, t.Blocked)
	b = words32(b, uint32(t.TID), uint32(d.Parent), uint32(d.Group), uint32(d.Session))
	for _, u := range t.Used {
		b = words64(b, uint64(u/time.Second), uint64(u%time.Second/time.Microsecond))
	}
	r := &t.Regs
	b = words64(b, r.R15, r.R14, r.R13, r.R12, r.BP, r.BX, r.R11, r.R10, r.R9, r.R8, r.AX, r.CX, r.DX, r.SI, r.DI)
	b = words64(b, t.Call, r.IP, r.CS, r.Flags, r.SP, r.SS, t.FS, t.GS, 0, 0, 0, 0)
	const hasFP = 1
	return words32(b, hasFP, 0)
}

// process is struct elf_prpsinfo.
func (d *Dump) process() (b []byte) {
	b = append(b, 0, 'R', 0, byte(d.Nice), 0, 0, 0, 0)
	b = words64(b, 0)
	b = words32(b, 0, 0, uint32(d.PID), uint32(d.Parent), uint32(d.Group), uint32(d.Session))
	b = fixed(b, d.Name, 16)
	return fixed(b, d.Args, 80)
}

// fixed appends a string in n bytes, the last of which is 0.
func fixed(b []byte, s string, n int) []byte {
	s = s[:min(len(s), n-1)]
	return append(append(b, s...), make([]byte, n-len(s))...)
}

// mostFiles bounds the note about files, as in Linux; a larger one is left out.
const mostFiles = 4 << 20

// files is the note of which files are mapped where; nil: none are, or too many.
func (d *Dump) files() []byte {
	var at []byte
	var names []byte
	n := uint64(0)
	for i := range d.Areas {
		a := &d.Areas[i]
		if a.Ident.Inode == 0 {
			continue
		}
		n++
		at = words64(at, a.Start, a.End, a.Offset/page)
		names = append(names, a.Ident.Name+"\x00"...)
		if len(at)+len(names) > mostFiles {
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	return append(append(words64(nil, n, page), at...), names...)
}

// xstate is an XSAVE image that says which parts it has, in bytes that are software's.
func xstate(image []byte) []byte {
	const featuresAt = 464
	b := append(make([]byte, 0, len(image)), image...)
	copy(b[featuresAt:], words64(nil, abi.XCR0))
	return b
}
