package verify

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"sonde/bpf"
	"sonde/bpf/interp"
)

// generator makes programs that are often accepted: it keeps an idea of what registers hold, and
// breaks its own rules from time to time.
type generator struct {
	*rand.Rand
	insns []bpf.Insn
}

func (g *generator) emit(text string, args ...any) {
	insns, err := bpf.Assemble(short.Replace(fmt.Sprintf(text, args...)))
	if err != nil {
		panic(err)
	}
	g.insns = append(g.insns, insns...)
}

// data is one of the registers that hold numbers, mostly: 6 to 9.
func (g *generator) data() int { return 6 + g.IntN(4) }

func (g *generator) small() int {
	return [...]int{0, 1, 2, 3, 7, 8, 15, 16, 63, 255, -1, -8, 4096}[g.IntN(13)]
}

var (
	aluTexts  = []string{"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "%=", "^=", "=", "s>>=", "s/=", "s%="}
	jumpTexts = []string{"==", "!=", "<", "<=", ">", ">=", "s<", "s<=", "s>", "s>=", "&"}
	sizes     = []string{"u8", "u16", "u32", "u64"}
)

func pickOne[T any](g *generator, s []T) T { return s[g.IntN(len(s))] }

// program makes instructions of which R1, at the start, points to the context.
func (g *generator) program() []bpf.Insn {
	g.insns = nil
	for r := 6; r <= 9; r++ {
		g.emit("r%d = *(%s *)(r1 + %d)", r, pickOne(g, sizes), 8*g.IntN(8))
	}
	g.emit("*(u64 *)(r10 - 8) = 0; *(u64 *)(r10 - 16) = r6")
	for range 1 + g.IntN(14) {
		g.piece()
	}
	g.emit("r0 = r%d; exit", g.data())
	g.jumps()
	return g.insns
}

// jumps gives some comparisons a distance that leads forward; a few lead back.
func (g *generator) jumps() {
	for pc := range g.insns {
		in := &g.insns[pc]
		if in.Class() != bpf.JMP && in.Class() != bpf.JMP32 || in.Off != 1 {
			continue
		}
		in.Off = int16(g.IntN(min(12, len(g.insns)-pc-1)))
		if g.IntN(6) == 0 {
			in.Off = int16(-g.IntN(min(12, pc+1)) - 1)
		}
	}
}

func (g *generator) piece() {
	width := pickOne(g, []string{"r", "w"})
	switch g.IntN(12) {
	case 0, 1:
		g.emit("%s%d %s %d", width, g.data(), pickOne(g, aluTexts[:12]), g.small())
	case 2:
		g.emit("%s%[4]d %[2]s %[1]s%[3]d", width, pickOne(g, aluTexts), g.data(), g.data())
	case 3, 4:
		g.emit("if %s%d %s %d goto +1", width, g.data(), pickOne(g, jumpTexts), g.small())
	case 5:
		g.emit("if %s%d %s %[1]s%[4]d goto +1", width, g.data(), pickOne(g, jumpTexts), g.data())
	case 6:
		g.emit("r%d &= %d", g.data(), pickOne(g, []int{7, 8, 15, 31, 1}))
	case 7:
		g.emit("*(%s *)(r10 - %d) = r%d", pickOne(g, sizes), 1+g.IntN(24), g.data())
	case 8:
		g.emit("r%d = *(%s *)(r10 - %d)", g.data(), pickOne(g, sizes), 1+g.IntN(24))
	case 9:
		g.emit("r2 = r10; r2 += -%d; r2 += r%d; *(%s *)(r2 + 0) = %d", 8+g.IntN(24), g.data(), pickOne(g, sizes), g.small())
	case 10:
		g.value()
	case 11:
		g.emit("r1 = r10; r1 += -%d; r2 = r%d; r3 = 0; call 113", 8*(1+g.IntN(3)), g.data())
	}
}

// value searches in the map, and touches what it finds.
func (g *generator) value() {
	g.emit("LOOKUP")
	if g.IntN(8) > 0 {
		g.emit("if r0 == 0 goto +2")
	}
	g.emit("r0 += r%d", g.data())
	if g.IntN(2) == 0 {
		g.emit("r%d = *(%s *)(r0 + %d)", g.data(), pickOne(g, sizes), g.IntN(10))
	} else {
		g.emit("*(%s *)(r0 + %d) = r%d", pickOne(g, sizes), g.IntN(10), g.data())
	}
}

const (
	contextAt = 0x1000_0000
	valueAt   = 0x2000_0000
)

// execute runs an accepted program over memory that is checked at each access.
func execute(c *Checked, r *rand.Rand) error {
	m, err := interp.New(c.Insns)
	if err != nil {
		return err
	}
	context := make([]byte, sizeOfRegs)
	for i := 0; i < len(context); i += 8 {
		n := r.Uint64()
		binary.LittleEndian.PutUint64(context[i:], n>>(8*r.IntN(8)))
	}
	m.Regions = []interp.Region{{Name: "context", Base: contextAt, Bytes: context},
		{Name: "value", Base: valueAt, Bytes: make([]byte, counts.ValueSize), Writable: true}}
	m.Resolve = func(first, _ bpf.Insn) (uint64, error) { return uint64(first.Imm), nil }
	m.Limit = c.Worst
	m.Helpers = map[int32]interp.Helper{
		1: func(m *interp.Machine, a [5]uint64) (uint64, error) {
			_, err := m.Read(a[1], int(counts.KeySize))
			return valueAt * r.Uint64N(2), err
		},
		113: func(m *interp.Machine, a [5]uint64) (uint64, error) {
			if a[1] == 0 {
				return 0, nil
			}
			return 0, m.Write(a[0], make([]byte, a[1]))
		},
	}
	if _, err := m.Run(contextAt); err != nil {
		return err
	}
	if m.Steps > c.Worst {
		return fmt.Errorf("%d instructions were executed: the worst case is %d", m.Steps, c.Worst)
	}
	return nil
}

// holds fails if the program is accepted, and then does what it must not. It returns whether it
// is accepted.
func holds(t *testing.T, insns []bpf.Insn, r *rand.Rand) bool {
	t.Helper()
	p := &bpf.Program{Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{counts, ring, frozen, outer, sink}}
	env := NewEnv()
	env.Limits = Limits{Steps: 5000, Worst: 5000}
	c, err := Check(p, env)
	if err != nil {
		return false
	}
	for range 8 {
		if err := execute(c, r); err != nil {
			text, _ := bpf.Disassemble(insns)
			t.Fatalf("accepted, but %v\n%s", err, text)
		}
	}
	return true
}

// TestAcceptedAreSafe: what is accepted never touches what it must not, and ends in time.
func TestAcceptedAreSafe(t *testing.T) {
	n := 2_000
	if os.Getenv("SONDE_LONG") != "" {
		n = 1_000_000
	}
	accepted := 0
	seed := uint64(time.Now().UnixNano())
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	t.Logf("seed %d", seed)
	for range n {
		if holds(t, g.program(), g.Rand) {
			accepted++
		}
	}
	t.Logf("%d of %d programs were accepted", accepted, n)
	if accepted < n/20 {
		t.Errorf("%d of %d programs were accepted: expected at least one in 20", accepted, n)
	}
}

// FuzzCheck takes the bytes for instructions.
func FuzzCheck(f *testing.F) {
	for seed := range uint64(50) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
		f.Add(bpf.Encode(g.program()))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		insns, err := bpf.Decode(code)
		if err != nil || len(insns) > 200 || hasOtherHelpers(insns) {
			return
		}
		holds(t, insns, rand.New(rand.NewPCG(1, uint64(len(code)))))
	})
}

// hasOtherHelpers tells of calls and references that execute has nothing for.
func hasOtherHelpers(insns []bpf.Insn) bool {
	for _, in := range insns {
		if in.Op == uint8(bpf.JMP)|bpf.Call && in.Src() == bpf.CallHelper && in.Imm != 1 && in.Imm != 113 {
			return true
		}
		if in.IsWide() && in.Src() != bpf.Number && (in.Src() != bpf.MapIdx || in.Imm != 0) {
			return true
		}
	}
	return false
}
