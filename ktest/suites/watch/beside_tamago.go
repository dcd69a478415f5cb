//go:build tamago && !nolinux

package watch

import (
	"sync/atomic"
	"unsafe"

	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
)

func init() {
	suites.Add("watch/write_within_read_and_write", writeWithin)
	suites.Add("watch/from_one_watched_word_to_another", fromTo)
	suites.Add("watch/program_writes_above", programAbove)
	suites.Add("watch/program_write_within_read_and_write", programWithin)
}

// area is two words that are watched, and one above them.
var area struct{ from, to, above uint64 }

func copyWords(to, from unsafe.Pointer, n uintptr)

// writeWithin watches part of what another watchpoint watches; the two registers in either order.
func writeWithin(t *suites.T) {
	for _, outer := range []kwatch.Type{kwatch.ReadWrite, kwatch.Write} {
		var s, in seen
		first := on(t, wordAt(), 8, outer, s.hit)
		second := on(t, wordAt(), 4, kwatch.Write, in.hit)
		s.n.Store(0) // registering the second has read the word
		for range 100 {
			incWord()
			readWord()
		}
		off(t, first)
		off(t, second)
		want := int64(100)
		if outer == kwatch.ReadWrite {
			want = 200
		}
		if s.n.Load() != want || in.n.Load() != 100 {
			t.Errorf("%v: %d hits, %d of the write within; want %d and 100", outer, s.n.Load(), in.n.Load(), want)
		}
		for i, h := range in.hits[:min(100, in.n.Load())] {
			if uint32(h.New) != uint32(h.Old)+1 {
				t.Fatalf("%v, hit %d: %+v", outer, i, h)
			}
		}
	}
}

// fromTo: MOVS, repeated and not, loads from one watched word and stores to another.
func fromTo(t *suites.T) {
	for _, n := range []uintptr{1, 2} {
		var from, to seen
		first := on(t, uintptr(unsafe.Pointer(&area.from)), 8, kwatch.ReadWrite, from.hit)
		second := on(t, uintptr(unsafe.Pointer(&area.to)), 8, kwatch.Write, to.hit)
		for range 50 { // n is 2: above is written, too
			copyWords(unsafe.Pointer(&area.to), unsafe.Pointer(&area.from), n)
		}
		off(t, first)
		off(t, second)
		if from.n.Load() != 50 || to.n.Load() != 50 {
			t.Errorf("%d words: %d and %d hits, want 50 of both", n, from.n.Load(), to.n.Load())
		}
	}
}

// Code that the programs below execute.
var (
	// writeAbove stores 100 times to counter+0x13, and then twice the same to counter.
	writeAbove = []byte{
		0xb9, 100, 0, 0, 0, // MOVL $100, CX
		0xbf, 0x00, 0x20, 0x40, 0x00, // MOVL $counter, DI
		0x48, 0x89, 0x4f, 0x13, // MOVQ CX, 0x13(DI)
		0xff, 0xc9, // DECL CX
		0x75, 0xf8, // JNZ
		0x48, 0x89, 0x0f, // MOVQ CX, (DI)
		0x48, 0x89, 0x0f,
		0xb8, 0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05, // exit_group(0)
	}
)

// programAbove: at an unaligned store QEMU 7.2 looks at the whole page below it.
func programAbove(t *suites.T) {
	t.NeedPrograms()
	const path = "/above"
	defer vfs.Remove(path)
	suites.WriteProgram(t, path, writeAbove)
	var hits atomic.Int64
	var reg int
	status := run(t, path, func(p *proc.Process) {
		var err error
		reg, err = kwatch.RegisterKwatchUser(p, counter, 8, kwatch.Write, func(*kwatch.Hit, *proc.Thread) { hits.Add(1) })
		t.Must(err)
	})
	if off(t, reg); status != proc.Exited(0) || hits.Load() != 2 {
		t.Errorf("%v, %d hits, want 2", status, hits.Load())
	}
}

func programWithin(t *suites.T) {
	t.NeedPrograms()
	const path = "/counts"
	defer vfs.Remove(path)
	suites.WriteProgram(t, path, countUp)
	var outer, inner atomic.Int64
	var regs [2]int
	status := run(t, path, func(p *proc.Process) {
		for i, w := range []struct {
			length int
			typ    kwatch.Type
			n      *atomic.Int64
		}{{8, kwatch.ReadWrite, &outer}, {2, kwatch.Write, &inner}} {
			var err error
			regs[i], err = kwatch.RegisterKwatchUser(p, counter, w.length, w.typ, func(*kwatch.Hit, *proc.Thread) { w.n.Add(1) })
			t.Must(err)
		}
	})
	off(t, regs[0])
	off(t, regs[1])
	if status != proc.Exited(0) || outer.Load() != 2*rounds || inner.Load() != rounds {
		t.Errorf("%v, %d hits and %d of the write within; want %d, %d", status, outer.Load(), inner.Load(), 2*rounds, rounds)
	}
}
