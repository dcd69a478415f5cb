//go:build linux && amd64

package place

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
)

// TestEveryWayDoesWhatTheProcessorDoes executes instructions on this CPU, in a child
// process, as they stand, and then in each way that their plan allows, and compares
// registers, flags, memory and the signal that a program would get.
func TestEveryWayDoesWhatTheProcessorDoes(t *testing.T) {
	tr := newTrial(t)
	codes := special(t)
	for _, file := range []string{self(t), "/lib/x86_64-linux-gnu/libc.so.6", "/bin/busybox"} {
		codes = append(codes, instructions(t, file)...)
	}
	for _, code := range codes {
		tr.try(code)
	}
	t.Logf("%d instructions; by way: %v, far: %d", len(codes), tr.tried, tr.far)
	for w := Nothing; w < Syscall; w++ {
		if tr.tried[w] == 0 {
			t.Errorf("no instruction was %v", w)
		}
	}
	if tr.far == 0 {
		t.Error("no spare register was used")
	}
}

func self(t *testing.T) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// special are instructions that programs have seldom or never.
func special(t *testing.T) (all [][]byte) {
	for _, s := range strings.Fields(`9c 669c 9d 669d fa fb f4 0f0b cd21 cd04 cf 48cf cb 48cb c3 f3c3 66c3 c20800 48f3c3 ff18 c9
		50 54 5c 4154 415c 8fc0 8fc4 fff4 6affffff 68ffffffff 66ffe0 66ff2424 48ff2c24 ff2c24 c8100001 f2ff6424f8
		90 4190 f390 f30f1efa f30f1efb 0f1f00 660f1f440000 0f1f8400000000f0 6690 f090 87c0 4887c9 8ed0 0fb200
		fc fd f8 f9 f5 e2fe e0fe e1fe e3fe 67e3fe 67e2fe ebfe 7400 0f8500000000 e800000000 ffd0 41ffd7 ff542408 64ff1425f0ffffff 65ff10
		678d0500000000 678b0500000000 67ff2500000000 8d0500000000 488d0500000000 4c8d3500000000 644889042500000000 ff2500000000 ff1500000000 ff3500000000
		488b3500000000 488b3d00000000 4c8b1d00000000 480fb11d00000000 0fc70d00000000 480fc70d00000000 f0480fc11500000000 c4e2c8f23d00000000 c4c2c0f23500000000 c5f96f0500000000 c57d7f0d00000000
		62f1fe486f0500000000 62717f48700d000000007f 0f0105000000 660f6f0500000000 440f120500000000 430f120500000000 490fb6350000000000
		f3a4 f348a5 f3aa f3ae f2ae f3a6 a4 aa d7 0f05 0f07 0f34 0f35 0f30 0f32 0f20c0 0f22c0 0f23c0 6c e410 ec 0f00d8 0f08 0f09 0f0101
		c7f800000000 0f01d5 c6f800 0f01d6 f30faec0 f30faed0 f3480faed3 8ee0 0fa1 0fa9 0fa0 0fb400 0f01f8 f10f a000000012000000 00 48a30000001200000000 67a10000001200
		d9d0 d9f6 dd7500 dbe3 0f77 0fae0424`) {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(s, err)
		}
		in, err := insn.Decode(b)
		if err != nil {
			continue // bytes that only make sense with others
		}
		if deterministic(&in) {
			all = append(all, b[:in.Len])
		}
	}
	return all
}

// deterministic reports whether the instruction does the same each time, and nothing
// beyond registers and memory. x87 state is left out where it holds the instruction's address.
func deterministic(in *insn.Inst) bool {
	switch in.Map {
	case insn.Map1B:
		return in.Opcode != 0xCD || in.Imm() != 0x80
	case insn.Map0F:
		switch in.Opcode {
		case 0x05, 0x34, 0x31, 0x33, 0xA2, 0xC7: // syscall, sysenter, rdtsc, rdpmc, cpuid, rdrand and its kin
			return in.Opcode == 0xC7 && in.Group() == 1
		case 0x00, 0x01: // the CPU's own tables; rdtscp
			return in.Mod() == 3 && in.ModRM != 0xF9 && in.Opcode == 1
		case 0xAE: // xsave writes more than there is room for, and what the header says may differ
			return in.Mod() == 3 || in.Group() < 4
		}
	}
	return true
}

// instructions returns one of each kind that a program has.
func instructions(t *testing.T, file string) (all [][]byte) {
	f, err := elf.Open(file)
	if err != nil {
		t.Log(err)
		return nil
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	type kind struct {
		m         insn.Map
		op, mod   uint8
		group     uint8
		p         insn.Prefix
		w         uint8
		sib, rip  bool
		displaced uint8
	}
	seen := map[kind]int{}
	for off := 0; off < len(text); {
		in, err := insn.Decode(text[off:])
		if err != nil {
			off++
			continue
		}
		k := kind{in.Map, in.Opcode, in.Mod(), 0, in.Prefix &^ insn.PREX, in.REX & insn.REXW, in.HasSIB, in.RIPRel, in.DispLen}
		if in.Map == insn.Map1B {
			k.group = in.Group()
		}
		if seen[k]++; seen[k] <= 1 && deterministic(&in) {
			all = append(all, slices.Clone(text[off:][:in.Len]))
		}
		off += int(in.Len)
	}
	return all
}

type trial struct {
	*testing.T
	*child
	rng   *rand.Rand
	first state // what the child began with
	tried map[Way]int
	far   int
}

func newTrial(t *testing.T) *trial {
	Processor = MakerOf(vendor(t))
	t.Cleanup(func() { Processor = Intel })
	tr := &trial{T: t, child: newChild(t), rng: rand.New(rand.NewPCG(1, 2)), tried: map[Way]int{}}
	tr.store(&tr.first)
	return tr
}

// vendor returns who has made this processor.
func vendor(t *testing.T) string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	_, s, _ := strings.Cut(string(b), "vendor_id\t: ")
	s, _, _ = strings.Cut(s, "\n")
	return s
}

const place = codeAt + 0x100

// try compares what the ways of an instruction do.
func (t *trial) try(code []byte) {
	in, err := insn.Decode(code)
	if err != nil {
		t.Fatalf("% x: %v", code, err)
	}
	code = slices.Clone(code)
	aim(code, &in)
	plan, err := Decide(code, place)
	if err != nil {
		if !errors.Is(err, syscall.EILSEQ) {
			t.Errorf("% x: %v", code, err)
		}
		return
	}
	t.all(plan, code, t.random())
}

// all compares what the ways of a plan do in a state.
func (t *trial) all(plan *Plan, code []byte, begin *state) {
	want := t.natively(code, &plan.In, begin)
	for w := Nothing; w < Syscall; w++ {
		p, err := plan.As(w)
		if err != nil {
			continue
		}
		t.tried[w]++
		if w == Nothing || w == Emulate {
			t.compare(code, p, want, emulated(p, *begin))
			continue
		}
		for _, slot := range []uint64{nearAt + 0x40, farAt + 0x80} {
			if got := t.inSlot(p, *begin, slot); got != nil {
				t.compare(code, p, want, got)
			}
		}
	}
}

// aim makes the instruction's operand or target something that is there.
func aim(code []byte, in *insn.Inst) {
	next := uint64(place + int(in.Len))
	switch {
	case in.RIPRel:
		binary.LittleEndian.PutUint32(code[in.DispOff:], uint32(dataAt+0x1000-next))
	case in.RelLen == 4:
		binary.LittleEndian.PutUint32(code[in.RelOff:], 0x100)
	case in.RelLen == 1:
		code[in.RelOff] = 0x20
	}
}

// random makes a state in which most registers and words are addresses of memory.
func (t *trial) random() *state {
	s := new(state)
	*s = t.first
	value := func() uint64 {
		if t.rng.IntN(3) == 0 {
			return uint64(t.rng.IntN(8))
		}
		return dataAt + 0x800 + uint64(t.rng.IntN(0x1000))&^63
	}
	for n := range int8(16) {
		*s.r.Register(n) = value()
	}
	for i := 0; i < dataSize; i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], value())
	}
	for i := range 256 { // XMM0 to 15
		s.fp[160+i] = byte(t.rng.Uint32())
	}
	s.fp[512] |= 3 // x87 and XMM are in use
	s.r.CX = uint64(t.rng.IntN(5))
	s.r.SP = dataAt + 0x1000
	s.r.IP = place
	s.r.Flags = 0x202 | uint64(t.rng.Uint32())&(amd64.RFLAGS_CF|amd64.RFLAGS_PF|amd64.RFLAGS_AF|amd64.RFLAGS_ZF|amd64.RFLAGS_SF|amd64.RFLAGS_OF)
	s.fsBase, s.gsBase = dataAt+0x900, dataAt+0xA00
	// What IRET takes, and of it RET and far RET.
	for i, v := range []uint64{codeAt + 0x800, 0x33, 0x246, dataAt + 0x1800, 0x2b} {
		binary.LittleEndian.PutUint64(s.data[0x1000+8*i:], v)
	}
	return s
}

// natively executes the instruction where it stands.
func (t *trial) natively(code []byte, in *insn.Inst, begin *state) *state {
	t.write(codeAt, bytes.Repeat([]byte{insn.OpInt3}, 0x1000))
	t.write(place, code)
	t.load(begin)
	got := new(state)
	// To the breakpoint that it comes to, where a step shows or does not end there.
	if in.Flow == insn.Iret || in.Flow == insn.Xbegin || in.Trait.Has(insn.Pushf|insn.Shadow) || in.IsRep() {
		got.signal = t.run()
		t.store(got)
		t.behind(got)
		return got
	}
	got.signal = t.step()
	t.store(got)
	return got
}

// behind takes back the breakpoint that a run has ended with.
func (t *trial) behind(s *state) {
	if s.signal == syscall.SIGTRAP {
		s.r.IP--
	}
}

// emulated carries out a plan without a copy.
func emulated(p *Plan, s state) *state {
	s.signal = syscall.SIGTRAP
	err := p.Do(&s)
	if f := (*Fault)(nil); errors.As(err, &f) {
		s.signal, s.gp = syscall.SIGSEGV, f.Vector == amd64.VEC_GP
		if f.Vector == amd64.VEC_SS {
			s.signal = syscall.SIGBUS
		}
	}
	return &s
}

// inSlot carries out a plan with a copy; nil if that is out of reach.
func (t *trial) inSlot(p *Plan, s state, slot uint64) *state {
	copied, err := p.Slot(slot)
	if err != nil {
		if p.Way != Boost || !errors.Is(err, syscall.ERANGE) || slot < farAt {
			t.Errorf("% x: %v", p.Code[:p.Len()], err)
		}
		return nil
	}
	if p.needsSpare(slot) {
		t.far++
	}
	t.write(slot&^0xfff, bytes.Repeat([]byte{insn.OpInt3}, 0x1000))
	t.write(slot, copied)
	saved := p.Enter(&s.r, slot)
	t.load(&s)
	for range 100 {
		s.signal = t.run()
		t.store(&s)
		switch {
		case s.signal != syscall.SIGTRAP:
			if ip, ok := p.Back(s.r.IP, slot); ok && ip != p.Addr {
				s.r.IP = ip // a trap, not a fault
			} else {
				p.Undo(&s.r, slot, saved)
			}
			return &s
		case p.Way == Boost:
			t.behind(&s)
			return &s
		case p.After(&s.r, slot, saved):
			return &s
		}
	}
	t.Errorf("% x, %v: does not end", p.Code[:p.Len()], p.Way)
	return nil
}

// compare fails if two states differ.
func (t *trial) compare(code []byte, p *Plan, want, got *state) {
	t.Helper()
	w, g := *want, *got
	const hidden = amd64.RFLAGS_RF
	w.r.Flags &^= hidden
	g.r.Flags &^= hidden
	if p.Way == Nothing || p.Way == Emulate {
		clear(g.fp[6:24])
		clear(g.fp[512:576])
		clear(w.fp[576:]) // the host sets PKRU to its initial value whenever it loads this
		clear(g.fp[576:])
	}
	if w == g {
		return
	}
	t.Errorf("% x, %v: differs", code, p.Way)
	if w.r != g.r || w.signal != g.signal || w.gp != g.gp || w.fsBase != g.fsBase || w.gsBase != g.gsBase {
		t.Logf("want %v (#GP: %v) fs %#x gs %#x %+v", w.signal, w.gp, w.fsBase, w.gsBase, hexed(w.r))
		t.Logf("got  %v (#GP: %v) fs %#x gs %#x %+v", g.signal, g.gp, g.fsBase, g.gsBase, hexed(g.r))
	}
	for i := range w.data {
		if w.data[i] != g.data[i] {
			t.Logf("memory +%#x: want % x, got % x", i, w.data[i:min(i+8, dataSize)], g.data[i:min(i+8, dataSize)])
			break
		}
	}
	for i := range w.fp {
		if w.fp[i] != g.fp[i] {
			t.Logf("fp +%#x: want %x, got %x", i, w.fp[i], g.fp[i])
			break
		}
	}
}
