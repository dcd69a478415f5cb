//go:build tamago

package stop

import (
	"bytes"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/mm"
	"sonde/kernel/smp"
	"sonde/kernel/text"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("stop/code_is_replaced_while_it_runs", replaceRunning)
	suites.Add("stop/code_at_any_alignment", anyAlignment)
	suites.Add("stop/code_across_pages", acrossPages)
	suites.Add("stop/code_that_is_not_as_expected_stays", mismatch)
	suites.Add("stop/patches_that_overlap_are_undone", overlap)
	suites.Add("stop/patches_that_are_none", badPatches)
	suites.Add("stop/pokes_are_not_lost", pokes)
}

// unchanged checks that all code is as before the tests.
func unchanged(t *suites.T) {
	if n := suites.TextChanged(); n != 0 {
		t.Errorf("%d bytes of text are not as they were", n)
	}
}

// codeAt returns a copy of n bytes of code.
func codeAt(addr, n uintptr) []byte { return bytes.Clone(text.Bytes(addr, n)) }

// replaceRunning puts a jump into a function and takes it out again while every
// CPU calls it: when Replace has returned, no CPU gets the old answer.
func replaceRunning(t *suites.T) {
	const rounds = 100
	_, at, other, _ := addresses()
	b, _ := insn.Jump(uint64(at), uint64(other))
	jump := b[:]
	there := text.Patch{Addr: at, Old: codeAt(at, 5), New: jump}
	back := text.Patch{Addr: at, Old: jump, New: there.Old}
	var stop atomic.Bool
	var settled atomic.Uint64 // round<<2 | answer, between changes
	t.Go(func() {
		defer stop.Store(true)
		for n := range uint64(rounds) {
			for i, p := range []text.Patch{there, back} {
				settled.Store(0)
				_, err := text.Replace(p)
				t.Must(err)
				settled.Store(n<<2 | uint64(2-i))
				for range 20 {
					if got := answer(); got != uint64(2-i) {
						t.Errorf("answer %d, want %d", got, 2-i)
					}
				}
			}
		}
	})
	t.Together(func(int) {
		var loops atomic.Uint64
		for ; !stop.Load(); count(&loops) {
			before := settled.Load()
			got := answer()
			if after := settled.Load(); before == after && before != 0 && got != before&3 || got != 1 && got != 2 {
				t.Errorf("answer %d, want %d", got, before&3)
			}
		}
	})
	t.Wait()
	unchanged(t)
}

// anyAlignment writes 1 to 16 bytes at every place in a word.
func anyAlignment(t *suites.T) {
	t.OneProcessor()
	_, _, _, sled := addresses()
	const size = 48
	before := codeAt(sled, size)
	for off := uintptr(8); off < 16; off++ {
		for n := uintptr(1); n <= 16; n++ {
			change := bytes.Repeat([]byte{0xa5}, int(n))
			want := bytes.Clone(before)
			copy(want[off:], change)
			_, err := text.Replace(text.Patch{Addr: sled + off, Old: before[off : off+n], New: change})
			t.Must(err)
			if got := codeAt(sled, size); !bytes.Equal(got, want) {
				t.Fatalf("%d bytes at %d: %x, want %x", n, off, got, want)
			}
			_, err = text.Replace(text.Patch{Addr: sled + off, Old: change, New: before[off : off+n]})
			t.Must(err)
		}
	}
	unchanged(t)
}

// acrossPages changes the bytes on both sides of each page boundary, and restores them in the same
// stop: no CPU executes them meanwhile.
func acrossPages(t *suites.T) {
	var there, back text.Batch
	for page := mm.Text.Start&^4095 + 4096; page < mm.Text.End-8; page += 4096 {
		if !harmless(uint64(page)) {
			continue
		}
		at := page - 4 + uintptr(len(there.Patches))%4
		old, new := codeAt(at, 5), bytes.Repeat([]byte{0x5a}, 5)
		there.Patches = append(there.Patches, text.Patch{Addr: at, Old: old, New: new})
		back.Patches = append(back.Patches, text.Patch{Addr: at, Old: new, New: old})
	}
	took, err := smp.StopMachine(func([]*amd64.Regs) error {
		if err := there.Commit(); err != nil {
			return err
		}
		return back.Commit()
	})
	t.Must(err)
	t.Logf("%d page boundaries there and back in %v", len(there.Patches), took)
	if len(there.Patches) < 10 {
		t.Errorf("only %d page boundaries", len(there.Patches))
	}
	unchanged(t)
}

// harmless reports whether a stop does not use the code at addr.
func harmless(addr uint64) bool {
	name := nameAt(addr)
	for _, p := range []string{"fmt.", "strconv.", "reflect.", "sonde/shell", "sort.", "io", "strings.", "unicode"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// mismatch expects something else in the last of three places.
func mismatch(t *suites.T) {
	_, _, _, sled := addresses()
	good := func(off uintptr) text.Patch {
		return text.Patch{Addr: sled + off, Old: codeAt(sled+off, 5), New: []byte{1, 2, 3, 4, 5}}
	}
	bad := good(30)
	bad.Old[4] ^= 1
	_, err := text.Replace(good(1), good(11), bad)
	var m *text.Mismatch
	if !errors.Is(err, syscall.EILSEQ) || !errors.As(err, &m) {
		t.Fatalf("got %v", err)
	}
	t.Logf("%v", err)
	if s := err.Error(); !strings.Contains(s, ": found 1e1f202122, not 1e1f202123") || strings.Contains(s, syscall.EILSEQ.Error()) {
		t.Errorf("it says %q", s)
	}
	unchanged(t)
}

func overlap(t *suites.T) {
	_, _, _, sled := addresses()
	a := text.Patch{Addr: sled + 3, Old: codeAt(sled+3, 8), New: bytes.Repeat([]byte{0xaa}, 8)}
	b := text.Patch{Addr: sled + 10, Old: codeAt(sled+10, 8), New: bytes.Repeat([]byte{0xbb}, 8)}
	if _, err := text.Replace(a, b); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	unchanged(t)
}

func badPatches(t *suites.T) {
	_, _, _, sled := addresses()
	five := codeAt(sled, 5)
	end := text.Patch{Addr: mm.Text.End - 4, Old: five, New: five}
	for _, c := range []struct {
		p    text.Patch
		want syscall.Errno
	}{
		{text.Patch{Addr: sled, Old: five, New: five[:4]}, syscall.EINVAL},
		{text.Patch{Addr: sled}, syscall.EINVAL},
		{text.Patch{Addr: mm.Data.Start, Old: five, New: five}, syscall.EFAULT},
		{text.Patch{Addr: ^uintptr(0) - 1, Old: five, New: five}, syscall.EFAULT},
		{end, syscall.EFAULT},
	} {
		if _, err := text.Replace(c.p); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.p, err, c.want)
		}
	}
	b := text.Batch{Patches: []text.Patch{{Addr: sled, Old: five, New: five}}}
	if err := b.Commit(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("with the machine running: %v", err)
	}
	unchanged(t)
}

// pokes makes goroutines write bytes next to each other, and stops in between.
func pokes(t *suites.T) {
	_, _, _, sled := addresses()
	var left atomic.Int32
	for i := range uintptr(4) {
		left.Add(1)
		t.Go(func() {
			defer left.Add(-1)
			at := sled + 12 + i
			old := codeAt(at, 1)[0]
			for range 500 {
				t.Must(text.Poke(at, old, ^old))
				t.Must(text.Poke(at, ^old, old))
			}
		})
	}
	for n := byte(0); left.Load() > 0; n++ {
		old := codeAt(sled+16, 5)
		_, err := text.Replace(text.Patch{Addr: sled + 16, Old: old, New: []byte{n, n, n, n, n}})
		t.Must(err)
		_, err = text.Replace(text.Patch{Addr: sled + 16, Old: []byte{n, n, n, n, n}, New: old})
		t.Must(err)
	}
	t.Wait()
	unchanged(t)
}
