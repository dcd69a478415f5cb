package optprobe

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"sonde/arch/amd64/insn"
)

// code turns hexadecimal digits, with blanks and comments in brackets, into bytes.
func code(t testing.TB, s string) []byte {
	t.Helper()
	var digits strings.Builder
	comment := false
	for _, c := range s {
		switch {
		case c == '[' || c == ']':
			comment = c == '['
		case !comment && c != ' ':
			digits.WriteRune(c)
		}
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

const (
	funcAddr  = 0x40_0000
	tableAddr = 0x50_0000
)

// regions are functions at funcAddr. A call or jump E8/E9 00 00 10 00 leads
// out of them.
var regions = []struct {
	name    string
	code    string
	off     int
	entries []uint64 // offsets
	table   []uint64 // offsets that the words at tableAddr lead to
	size    int      // of the region, or
	want    Obstacle
}{
	{name: "three instructions", code: "90 90 [add] 4801d8 c3", size: 5},
	{name: "five nops", code: "90 90 90 90 90 c3", size: 5},
	{name: "long instruction", code: "48b8 1122334455667788 c3", size: 10},
	{name: "small prologue", code: "[cmp] 493b6610 [jls] 7606 55 5d c3 909090 [morestack] e800001000 ebed", size: 6},
	{name: "medium prologue", code: "[lea] 4c8d642480 [cmp] 4d3b6610 [jls] 7601 c3 e800001000 ebed", size: 5},
	{name: "jcc rel8", code: "4885c0 7403 90 90 90 c3", size: 5},
	{name: "jcc rel32", code: "0f8400001000 c3", size: 6},
	{name: "jmp rel8, then nobody's code", code: "eb03 90 90 90 c3", size: 5},
	{name: "loop", code: "[1:] 90 e2fd 90 90 c3", size: 5},
	{name: "RIP-relative", code: "[mov] 488b0500001000 c3", size: 7},
	{name: "push and pop of flags", code: "9c 9d 9c 9d 90 c3", size: 5},
	{name: "rep movsb", code: "f3a4 90 90 90 c3", size: 5},
	{name: "ret in the region", code: "c3 0f1f4000", size: 5},
	{name: "ret imm16 and on", code: "31c0 c20800", size: 5},
	{name: "indirect call last", code: "55 4889e5 ffd0 c3", size: 6},

	{name: "call last", code: "90 e800001000 c3", size: 6},
	{name: "call alone", code: "e800001000 c3", size: 5},
	{name: "call in the middle", code: "ffd0 90 90 90 c3", want: Obstacle{Reason: Return, Off: 2}},
	{name: "call before", code: "e800001000 90 90 90 90 90 c3", off: 5, size: 5},
	{name: "call of its own interior", code: "90 90 90 90 90 e8f7ffffff c3", want: Obstacle{Reason: Branch, Off: 1}},
	{name: "call through RSP", code: "90 90 90 ffd4 c3", want: Obstacle{Reason: CallStack, Off: 3}},

	{name: "branch to +0", code: "[1:] 90 90 90 90 90 ebf9 c3", size: 5},
	{name: "branch to +1", code: "90 [1:] 90 90 90 90 ebfa c3", want: Obstacle{Reason: Branch, Off: 1}},
	{name: "branch to +4", code: "90 90 90 90 [1:] 90 ebfd c3", want: Obstacle{Reason: Branch, Off: 4}},
	{name: "branch to +5", code: "90 90 90 90 90 [1:] ebfe c3", size: 5},
	{name: "branch behind a long region", code: "90 90 [mov] b811223344 [1:] ebfe c3", size: 7},
	{name: "jcc within the region", code: "7400 90 90 90 c3", want: Obstacle{Reason: Branch, Off: 2}},
	{name: "branch out of the function", code: "90 90 90 90 90 e900001000", size: 5},
	{name: "branch into an instruction", code: "b811223344 ebfa c3", want: Obstacle{Reason: Overlap, Off: 1}},
	{name: "address taken", code: "90 90 90 90 90 [lea] 488d05f6ffffff c3", want: Obstacle{Reason: Address, Off: 2}},

	{name: "recover goes on inside", code: "90 90 90 90 90 c3", entries: []uint64{3}, want: Obstacle{Reason: Entry, Off: 3}},
	{name: "recover goes on at +0", code: "90 90 90 90 90 c3", entries: []uint64{0}, size: 5},
	{name: "entry of another function", code: "90 90 90 90 90 c3", entries: []uint64{500}, size: 5},
	{name: "entry into an instruction", code: "b811223344 c3", entries: []uint64{3}, want: Obstacle{Reason: Overlap, Off: 3}},

	{name: "jump table leads inside", code: "90 90 90 90 90 [lea] 488d0df4ff0f00 [jmp] ff24d1 c3", table: []uint64{15, 2, 1 << 20},
		want: Obstacle{Reason: TableEntry, Off: 2}},
	{name: "jump table leads elsewhere", code: "90 90 90 90 90 [lea] 488d0df4ff0f00 90 ff24d1 c3", table: []uint64{16, 0, 5, 1 << 20}, size: 5},
	{name: "R13 as base", code: "90 90 90 90 90 [lea] 4c8d2df4ff0f00 [jmp] 41ff64fd00 c3", table: []uint64{17}, size: 5},
	{name: "jump table without entries", code: "90 90 90 90 90 [lea] 488d0df4ff0f00 [jmp] ff24d1 c3", table: []uint64{1 << 20},
		want: Obstacle{Reason: BadTable, Off: 12}},
	{name: "jump table not readable", code: "90 90 90 90 90 [lea] 488d0df4ff0f00 [jmp] ff24d1 c3", want: Obstacle{Reason: BadTable, Off: 12}},
	{name: "jump table too short", code: "[cmp] 4883fa02 [ja] 770b 90 [lea] 488d0df2ff0f00 [jmp] ff24d1 c3", table: []uint64{17, 0, 1 << 20},
		want: Obstacle{Reason: BadTable, Off: 14}},
	{name: "jump table as long as compared", code: "[cmp] 4883fa02 [ja] 770b 90 [lea] 488d0df2ff0f00 [jmp] ff24d1 c3", table: []uint64{17, 0, 0, 1 << 20},
		size: 6},
	{name: "jump table too short for the mask", code: "90 [and] 83e203 90 [lea] 488d0df4ff0f00 [jmp] ff24d1 c3", table: []uint64{0, 0, 0, 1 << 20},
		want: Obstacle{Reason: BadTable, Off: 12}},
	{name: "branch between LEA and jump", code: "90 90 90 [lea] 488d0df6ff0f00 [1:] ff24d1 ebfb c3", table: []uint64{0},
		want: Obstacle{Reason: JumpAway, Off: 10}},
	{name: "table leads between LEA and jump", code: "90 90 90 90 90 [lea] 488d0df4ff0f00 [jmp] ff24d1 c3", table: []uint64{12},
		want: Obstacle{Reason: JumpAway, Off: 12}},
	{name: "jump through a register", code: "90 90 90 90 90 ffe0", want: Obstacle{Reason: JumpAway, Off: 5}},
	{name: "jump through memory", code: "90 90 90 90 90 ff6008", want: Obstacle{Reason: JumpAway, Off: 5}},

	{name: "function end", code: "90 90 90 c3", want: Obstacle{Reason: FuncEnd, Off: 4}},
	{name: "last instruction", code: "90 90 90 90 90 c3", off: 5, want: Obstacle{Reason: FuncEnd, Off: 6}},
	{name: "up to the function's end", code: "90 90 90 90 c3", size: 5},
	{name: "inside an instruction", code: "b811223344 c3", off: 2, want: Obstacle{Reason: NotStart, Off: 2}},
	{name: "behind the function", code: "c3", off: 1, want: Obstacle{Reason: Outside, Off: 1}},
	{name: "before the function", code: "c3", off: -1, want: Obstacle{Reason: Outside, Off: -1}},
	{name: "no function", code: "", want: Obstacle{Reason: Outside}},

	{name: "hlt", code: "90 90 f4 90 90 c3", want: Obstacle{Unmovable, 2, insn.IdleWait}},
	{name: "int3 of the program", code: "90 cc 90 90 90 c3", want: Obstacle{Unmovable, 1, insn.Breakpoint}},
	{name: "iretq", code: "90 90 90 48cf 90", want: Obstacle{Unmovable, 3, insn.Iretq}},
	{name: "syscall", code: "0f05 90 90 90 c3", want: Obstacle{Unmovable, 0, insn.SystemCall}},
	{name: "sti", code: "fb 90 90 90 90 c3", want: Obstacle{Unmovable, 0, insn.InShadow}},
	{name: "ud2", code: "90 90 90 0f0b", want: Obstacle{Unmovable, 3, insn.Undefined}},
	{name: "hlt elsewhere", code: "90 90 90 90 90 f4 c3", size: 5},
	{name: "data in text", code: "90 90 90 90 90 c3 06 07", want: Obstacle{Reason: NoDecode, Off: 6}},
	{name: "cut off", code: "90 90 90 90 90 48b8 11", want: Obstacle{Reason: NoDecode, Off: 5}},
}

func TestRegions(t *testing.T) {
	var s Scan
	for _, c := range regions {
		t.Run(c.name, func(t *testing.T) {
			fn := Function{Addr: funcAddr, Code: code(t, c.code), Word: words(c.table)}
			for _, e := range c.entries {
				fn.Entries = append(fn.Entries, funcAddr+e)
			}
			s.Read(fn)
			size, got := s.Check(c.off)
			if size != c.size || got != c.want {
				t.Fatalf("region of %d bytes, %q; want %d, %q", size, got, c.size, c.want)
			}
			if got.Reason == Fine {
				relocateAt(t, &s, c.off)
			}
		})
	}
}

// words is read-only data that holds a jump table at tableAddr.
func words(table []uint64) func(uint64) (uint64, bool) {
	var b []byte
	for _, off := range table {
		b = binary.LittleEndian.AppendUint64(b, funcAddr+off)
	}
	return func(addr uint64) (uint64, bool) {
		off := addr - tableAddr
		if off >= uint64(len(b)) || uint64(len(b))-off < 8 {
			return 0, false
		}
		return binary.LittleEndian.Uint64(b[off:]), true
	}
}

func TestExplainGivesAllReasons(t *testing.T) {
	var s Scan
	s.Read(Function{Addr: funcAddr, Code: code(t, "90 [1: call] ffd0 [hlt] f4 90 [jmp 1b] ebfa c3"), Entries: []uint64{funcAddr + 1}})
	_, all := s.Explain(nil, 0)
	var got []string
	for _, o := range all {
		got = append(got, o.String())
	}
	want := []string{
		"a branch of the function ends at +0x1",
		"other code, or recover, enters the function at +0x1",
		"a call returns to the code at +0x3",
		"an instruction cannot be moved at +0x3: the CPU may sleep in it",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestReasonsHaveText(t *testing.T) {
	for r := Fine; r < reasons; r++ {
		if r.String() == "" {
			t.Errorf("reason %d has none", r)
		}
	}
	if got := reasons.String(); got != "unknown reason" {
		t.Error(got)
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	fn := Function{Addr: funcAddr, Code: code(t, regions[3].code)}
	var s Scan
	s.Read(fn)
	if n := testing.AllocsPerRun(100, func() {
		s.Read(fn)
		s.Check(0)
		Relocate(fn.Code[:6], funcAddr, funcAddr+0x1000)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzScan looks for panics, and for regions that Check allows and Relocate
// does not, or writes wrongly.
func FuzzScan(f *testing.F) {
	for _, c := range regions {
		f.Add(code(f, c.code), uint64(3))
	}
	var s Scan
	f.Fuzz(func(t *testing.T, b []byte, entry uint64) {
		fn := Function{Addr: funcAddr, Code: b, Entries: []uint64{funcAddr + entry}, Word: words([]uint64{1, 2, 3})}
		s.Read(fn)
		for off := -1; off <= len(b); off++ {
			size, first := s.Check(off)
			if first.Reason == Fine {
				c, o := Relocate(b[off:off+size], funcAddr+uint64(off), detourAddr)
				if o.Reason == Fine {
					sameMeaning(t, &c, b[off:off+size])
				} else if o.Reason != TooFar && o.Reason != CallStack { // at the ends of disp32
					t.Fatalf("% x: allowed, but %v", b[off:off+size], o)
				}
			}
			if _, all := s.Explain(nil, off); len(all) > maxObstacles || size > insn.MaxLen+JumpSize-1 {
				t.Fatalf("% x+%d: %d bytes, %d reasons", b, off, size, len(all))
			}
		}
		Relocate(b, funcAddr, 1<<33) // only must not panic
	})
}
