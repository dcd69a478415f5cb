package optprobe

import (
	"encoding/hex"
	"testing"

	"sonde/arch/amd64/insn"
)

const detourAddr = 0x60_0000

// copies are golden: what stands at detourAddr for code at funcAddr.
var copies = []struct{ name, code, want string }{
	{"jcc rel8", "7403 909090", "0f84 ffffdfff [target +5] 909090 [back] e9 f7ffdfff"},
	{"jcc rel32", "0f8400001000", "0f8400 00f0ff [target 500006] e9 fbffdfff"},
	{"jmp rel8 first", "eb03 909090", "e9 00 00 e0 ff [target +5] 909090 [back] e9 f8ffdfff"},
	{"jmp rel32", "e900001000", "e9 0000f0ff"},
	{"RIP-relative", "488b0500001000", "488b05 0000f0ff e9 fbffdfff"},
	{"RIP-relative and an immediate", "c7050000100078563412", "c705 0000f0ff 78563412 e9 fbffdfff"},
	{"RIP-relative, VEX", "c5fa6f0500001000", "c5fa6f05 0000f0ff e9 fbffdfff"},
	{"loop", "e2fe 909090", "e202 eb05 e9 f7ffdfff [back to +0] 909090 e9 f4ffdfff"},
	{"jecxz", "67e300 9090", "67e302 eb05 e9 f9ffdfff 9090 e9 f4ffdfff"},
	{"call", "e800001000", "[push] 6805004000 [jmp] e9 fbffefff"},
	{"nop, call", "90 e800001000", "90 [push] 6806004000 [jmp] e9 fbffefff"},
	{"call through a register", "4d31c0 ffd0", "4d31c0 6805004000 ffe0"},
	{"call through a high register", "4d31c0 41ffd3", "4d31c0 6806004000 41ffe3"},
	{"call through memory", "4d31c0 ff5018", "4d31c0 6806004000 ff6018"},
	{"call through (RSP)", "4d31c0 ff1424", "4d31c0 6806004000 ffa424 08000000"},
	{"call through 78(RSP)", "4d31c0 ff54247f", "4d31c0 6807004000 ffa424 87000000"},
	{"call through -8(RSP)(RCX*8)", "4d31c0 ff54ccf8", "4d31c0 6807004000 ffa4cc 00000000"},
	{"call through (R12)", "4d31c0 41ff1424", "4d31c0 6807004000 41ff2424"},
	{"call through memory, RIP-relative", "ff1500001000", "6806004000 ff25 fbffefff"},
	{"ret", "4d31c0 90 c3", "4d31c0 90 c3"},
	{"jmp through a table", "4d31c0 ff24c1", "4d31c0 ff24c1"},
	{"rep movsb", "f3a4 909090", "f3a4 909090 e9 fbffdfff"},
}

func TestRelocate(t *testing.T) {
	for _, c := range copies {
		t.Run(c.name, func(t *testing.T) {
			b := code(t, c.code)
			got, o := Relocate(b, funcAddr, detourAddr)
			if o.Reason != Fine {
				t.Fatal(o)
			}
			sameMeaning(t, &got, b)
			if want := code(t, c.want); hex.EncodeToString(got.Bytes()) != hex.EncodeToString(want) {
				t.Errorf("got  % x\nwant % x", got.Bytes(), want)
			}
		})
	}
}

func TestRelocateRefuses(t *testing.T) {
	const far = 1 << 33
	for _, c := range []struct {
		name, code string
		from, to   uint64
		want       Obstacle
	}{
		{"jump back too far", "9090909090", funcAddr, far, Obstacle{Reason: TooFar, Off: 5}},
		{"branch too far", "7400 909090", funcAddr, far, Obstacle{Reason: TooFar}},
		{"operand too far", "90 488b0500000000", funcAddr, far, Obstacle{Reason: TooFar, Off: 1}},
		{"operand just too far", "488b05ffffff7f", detourAddr, funcAddr, Obstacle{Reason: TooFar}},
		{"return address above 2 GB", "e800000000", 1 << 31, 1<<31 + 4096, Obstacle{Reason: TooHigh}},
		{"return address above 2 GB, indirect", "9090 90 ffd0", 1 << 31, 1<<31 + 4096, Obstacle{Reason: TooHigh, Off: 3}},
		{"call in the middle", "ffd0 90 90 90", funcAddr, detourAddr, Obstacle{Reason: Return, Off: 2}},
		{"call through RSP", "909090 ffd4", funcAddr, detourAddr, Obstacle{Reason: CallStack, Off: 3}},
		{"call through memory near the end of disp32", "ff9424ffffff7f", funcAddr, detourAddr, Obstacle{Reason: CallStack}},
		{"call through FS and CS", "90 642eff10", funcAddr, detourAddr, Obstacle{Reason: CallOdd, Off: 1}},
		{"hlt", "9090 f4 9090", funcAddr, detourAddr, Obstacle{Unmovable, 2, insn.IdleWait}},
		{"too short", "909090", funcAddr, detourAddr, Obstacle{Reason: NotRegion, Off: 3}},
		{"too long", "909090909090", funcAddr, detourAddr, Obstacle{Reason: NotRegion, Off: 5}},
		{"not code", "90 06 909090", funcAddr, detourAddr, Obstacle{Reason: NoDecode, Off: 1}},
		{"nothing", "", funcAddr, detourAddr, Obstacle{Reason: NotRegion}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, o := Relocate(code(t, c.code), c.from, c.to)
			if o != c.want || len(got.Bytes()) != 0 {
				t.Errorf("% x, %q; want %q", got.Bytes(), o, c.want)
			}
		})
	}
}

func TestCopyTranslatesAddresses(t *testing.T) {
	// Copied as test (3 bytes), je rel32 (6), jmp rel32.
	c, o := Relocate(code(t, "[test] 4885c0 [je] 7400"), funcAddr, detourAddr)
	if o.Reason != Fine {
		t.Fatal(o)
	}
	for ip, want := range map[uint64]uint64{
		detourAddr: funcAddr, detourAddr + 2: funcAddr, detourAddr + 3: funcAddr + 3,
		detourAddr + 8: funcAddr + 3, detourAddr + 9: funcAddr + 5, detourAddr + 13: funcAddr + 5,
	} {
		if p, ok := c.Original(ip); !ok || p != (Place{IP: want}) {
			t.Errorf("%#x is %+v, %v, want %#x", ip, p, ok, want)
		}
	}
	for _, ip := range []uint64{0, detourAddr - 1, detourAddr + 14, funcAddr} {
		if p, ok := c.Original(ip); ok {
			t.Errorf("%#x is %+v", ip, p)
		}
	}
	for _, ip := range []uint64{0, funcAddr + 1, funcAddr + 5, detourAddr} {
		if at, ok := c.At(ip); ok {
			t.Errorf("%#x stands at %#x", ip, at)
		}
	}
	if _, ok := new(Copy).Original(0); ok {
		t.Error("the empty copy has a place")
	}
}
