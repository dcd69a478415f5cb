//go:build tamago

package text

// Replacing several bytes, in several places at once, while no other CPU can
// execute them.
//
// The other CPUs stand in smp.standStill, which must not change, and leave it
// by a serializing instruction. An NMI there runs handlers that are not probed.
// The caller has to look at what they were about to execute: a CPU whose saved IP
// lies inside a place would continue in the middle of the new bytes (see
// smp.StopMachine).
//
// Refresh is not needed here. The stale translation that it drops comes about
// when QEMU, for one CPU, has read code for translation and not yet noted that
// the page holds code, while another CPU writes there. That window is closed
// before the CPU executes anything that comes later; a CPU that has reached
// standStill has left it, and what it translates there is standStill itself.
//
// A write to a page with code makes QEMU drop the translations of that page, so
// bytes are written in as few aligned words of 8 as they touch. No such word
// crosses a page, and on a processor each is one store. A CPU that fetched
// code meanwhile could see half of a place written; none does.

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kernel/refusal"
	"sonde/kernel/smp"
	"sonde/kernel/tape"
)

// A Batch is written all or not at all.
type Batch struct {
	Patches []Patch
	wrong   Mismatch
}

// maxFound is how many of the bytes found a Mismatch keeps.
const maxFound = 16

// A Mismatch is what was found where something else should have been.
type Mismatch struct {
	addr  uintptr
	n     int
	found [maxFound]byte
	want  [maxFound]byte
	errno syscall.Errno
}

func (m *Mismatch) Error() string {
	when := ""
	if m.errno == syscall.EIO {
		when = " afterwards"
	}
	return fmt.Sprintf("text: write %#x: found%s %s, not %s",
		m.addr, when, hex.EncodeToString(m.found[:m.n]), hex.EncodeToString(m.want[:m.n]))
}

// Unwrap returns the errno.
func (m *Mismatch) Unwrap() error { return m.errno }

// Made beforehand: Commit cannot allocate.
var (
	errRunning = refusal.New(syscall.EBUSY, "text: commit: the machine is not stopped")
	errPlace   = refusal.New(syscall.EFAULT, "text: commit: not kernel text")
	errLength  = refusal.New(syscall.EINVAL, "text: commit: old and new bytes differ in number")
)

// Replace stops the machine and writes patches. took is how long it stood.
//
// Errors: those of smp.StopMachine and of Commit.
func Replace(patches ...Patch) (took time.Duration, err error) {
	b := &Batch{Patches: patches}
	return smp.StopMachine(func([]*amd64.Regs) error { return b.Commit() })
}

// Commit writes all of b if the code is as expected everywhere, and then checks what
// it has written; on any error the code is as it was.
//
// Context: a fn of smp.StopMachine.
// Errors: EBUSY elsewhere; EFAULT not code; EINVAL Old and New differ in length;
// EILSEQ other bytes than Old (*Mismatch, good until the next Commit of b); EIO
// New is not what can be read afterwards (*Mismatch): patches overlap.
func (b *Batch) Commit() error {
	if !smp.Stopped() {
		return errRunning
	}
	for i := range b.Patches {
		if err := b.Patches[i].check(); err != nil {
			return err
		}
	}
	for i := range b.Patches {
		if p := &b.Patches[i]; b.differs(i, p.Old, syscall.EILSEQ) {
			return &b.wrong
		}
	}
	for i := range b.Patches {
		write(b.Patches[i].Addr, b.Patches[i].New)
	}
	for i := range b.Patches {
		if p := &b.Patches[i]; b.differs(i, p.New, syscall.EIO) {
			b.undo()
			return &b.wrong
		}
	}
	if tape.On() {
		b.note()
	}
	return nil
}

// note notes what has been written, eight bytes of each patch at most.
func (b *Batch) note() {
	for i := range b.Patches {
		p, now := &b.Patches[i], uint64(0)
		for j := range min(len(p.New), 8) {
			now |= uint64(p.New[j]) << (8 * j)
		}
		tape.Note(cpu.Rdtsc(), cpu.ID(), tape.Written, uint64(p.Addr), now)
	}
}

// check refuses patches that are not code, or of two lengths.
func (p *Patch) check() error {
	n := uintptr(len(p.New))
	switch {
	case n == 0 || len(p.Old) != len(p.New):
		return errLength
	case !mm.Text.Contains(p.Addr) || n > mm.Text.End-p.Addr:
		return errPlace
	}
	return nil
}

// differs looks for want at patch i, and notes what is there instead.
func (b *Batch) differs(i int, want []byte, errno syscall.Errno) bool {
	addr := b.Patches[i].Addr
	// Safe because: check has seen that it is code. Not bytes.Equal: its code may
	// just have been changed.
	have := unsafe.Slice((*byte)(unsafe.Pointer(addr)), len(want))
	for j := range want {
		if have[j] == want[j] {
			continue
		}
		w := &b.wrong
		w.addr, w.errno, w.n = addr, errno, min(len(want), maxFound)
		for k := range w.n {
			w.found[k], w.want[k] = have[k], want[k]
		}
		return true
	}
	return false
}

// undo puts Old back everywhere, last first.
func (b *Batch) undo() {
	for i := len(b.Patches) - 1; i >= 0; i-- {
		write(b.Patches[i].Addr, b.Patches[i].Old)
	}
}

// write stores code at addr, one aligned word at a time.
func write(addr uintptr, code []byte) {
	for len(code) > 0 {
		at := addr % 8
		n := min(8-at, uintptr(len(code)))
		// Safe because: an aligned word lies in one page, and the page is code's.
		word := (*uint64)(unsafe.Pointer(alias(addr - at)))
		if n == 8 {
			*word = binary.LittleEndian.Uint64(code)
		} else {
			v := *word
			for i := range n {
				shift := (at + i) * 8
				v = v&^(0xff<<shift) | uint64(code[i])<<shift
			}
			*word = v
		}
		addr, code = addr+n, code[n:]
	}
}
