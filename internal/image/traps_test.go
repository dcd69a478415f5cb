package image

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"sonde/kallsyms"
)

// TestTrapCodeIsChecked puts a call of what no trap may call into the code of a hit, or
// a frame that is too large, as it is linked: such a kernel is not built.
func TestTrapCodeIsChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	path, err := Build(BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	const grow = "\x48\x81\xec\x00\x20\x00\x00" // SUBQ $0x2000, SP
	for _, c := range []struct{ calls, code, rule string }{
		{"", "", ""},
		{"runtime.mallocgc", "", "allocates memory"},
		{"runtime.growslice", "", "allocates memory"},
		{"", grow, "may grow its stack"},
		{"sync.(*Mutex).Lock", "", "takes a lock"},
		{"runtime.lock2", "", "takes a lock"},
		{"runtime.mapaccess2_faststr", "", "a map"},
		{"runtime.chansend1", "", "uses a channel"},
		{"runtime.gcWriteBarrier2", "", "stores a pointer that the collector must see"},
		{"", "\xff\xd0", "has an indirect call"}, // CALL AX
	} {
		err := finishedWith(t, raw, "sonde/kprobes.reenter", c.calls, c.code)
		switch {
		case c.rule == "" && err != nil:
			t.Errorf("as it is: %v", err)
		case c.rule != "" && (!errors.Is(err, ErrTrap) || !strings.Contains(err.Error(), c.rule) || !strings.Contains(err.Error(), "kprobes.reenter")):
			t.Errorf("%s% x: %v, want %q", c.calls, c.code, err, c.rule)
		}
	}
}

// TestShortCallsAreChecked does the same with the code of a short system call.
func TestShortCallsAreChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	path, err := Build(BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ calls, code, rule string }{
		{"", "\x0f\x57\xc0", "may write SSE registers"}, // XORPS X0, X0
		{"", "\xff\xd0", "calls with unknown targets"},  // CALL AX
		{"runtime.mallocgc", "", "allocates memory"},
		{"sync.(*Mutex).Lock", "", "takes a lock"},
		{"runtime.morestack_noctxt.abi0", "", "grows the stack"},
	} {
		err := finishedWith(t, raw, "sonde/linux/syscall.getpid", c.calls, c.code)
		if !errors.Is(err, ErrTrap) || !strings.Contains(err.Error(), c.rule) || !strings.Contains(err.Error(), "syscall.getpid") {
			t.Errorf("%s% x: %v, want %q", c.calls, c.code, err, c.rule)
		}
	}
}

// finishedWith finishes raw with code at the beginning of a function, or a call.
func finishedWith(t *testing.T, raw []byte, function, calls, code string) error {
	t.Helper()
	_, err := finish(changed(t, raw, function, calls, code), Options{}.withDefaults())
	return err
}

// changed is a kernel with a call, or other code, at the beginning of a function.
func changed(t *testing.T, raw []byte, function, calls, code string) []byte {
	t.Helper()
	f, err := open(raw)
	if err != nil {
		t.Fatal(err)
	}
	syms, err := kallsyms.Load(kallsyms.Encode(f.kernelSymbols()))
	if err != nil {
		t.Fatal(err)
	}
	at, err := syms.Addr(function)
	if err != nil {
		t.Fatal(err)
	}
	if calls != "" {
		to, err := syms.Addr(calls)
		if err != nil {
			t.Fatal(err)
		}
		code = string(binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32(to.Addr-at.Addr-5)))
	}
	raw = slices.Clone(raw)
	text := f.view.Section(".text")
	copy(raw[at.Addr-text.Addr+text.Offset:], code)
	return raw
}

// TestProofOfHitsIsNoted: the image says that hits leave X0-X14 alone, unless one of them does not.
func TestProofOfHitsIsNoted(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	f := linked(t, BuildOptions{})
	s, err := f.symbol(leanVar)
	if err != nil {
		t.Fatal(err)
	}
	sec := f.view.Sections[s.Section]
	for code, want := range map[string]byte{"": 1, "\x0f\x57\xc0": 0} { // XORPS X0, X0
		done, err := finish(changed(t, f.data, "sonde/kprobes.reenter", "", code), Options{}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		if got := done[s.Value-sec.Addr+sec.Offset+8]; got != want {
			t.Errorf("with code % x in a hit, the image says %d, want %d", code, got, want)
		}
	}
}
