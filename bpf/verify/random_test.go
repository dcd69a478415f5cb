package verify

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"sonde/bpf"
	"sonde/internal/interp"
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
	g.emit("*(u64 *)(r10 - 8) = 0; *(u64 *)(r10 - 16) = r6; *(u64 *)(r10 - 40) = r1")
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
	switch g.IntN(13) {
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
	case 12:
		g.goOn()
	}
}

// goOn continues as another program, mostly with the context and an array of programs.
func (g *generator) goOn() {
	context, of := "r1 = *(u64 *)(r10 - 40)", arrayOfPrograms
	switch g.IntN(16) {
	case 0:
		context = "r1 = r10"
	case 1:
		of = 0
	}
	g.emit("%s; r2 = map[idx:%d]; r3 = r%d; call 12", context, of, g.data())
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

	arrayOfPrograms = 5 // the index of that map
)

// chain is an accepted program that runs, with others as which it may continue.
type chain struct {
	*rand.Rand
	others []*Checked
	worst  int // what those that were entered may execute
	err    error
}

// execute runs an accepted program over memory that is checked at each access.
func (ch *chain) execute(c *Checked) error {
	m, err := interp.New(c.Insns)
	if err != nil {
		return err
	}
	context := make([]byte, sizeOfRegs)
	for i := 0; i < len(context); i += 8 {
		n := ch.Uint64()
		binary.LittleEndian.PutUint64(context[i:], n>>(8*ch.IntN(8)))
	}
	m.Regions = []interp.Region{{Name: "context", Base: contextAt, Bytes: context},
		{Name: "value", Base: valueAt, Bytes: make([]byte, counts.ValueSize), Writable: true}}
	m.Resolve = func(first, _ bpf.Insn) (uint64, error) { return uint64(first.Imm), nil }
	m.Helpers = map[int32]interp.Helper{
		1: func(m *interp.Machine, a [5]uint64) (uint64, error) {
			_, err := m.Read(a[1], int(counts.KeySize))
			return valueAt * ch.Uint64N(2), err
		},
		113: func(m *interp.Machine, a [5]uint64) (uint64, error) {
			if a[1] == 0 {
				return 0, nil
			}
			return 0, m.Write(a[0], make([]byte, a[1]))
		},
	}
	m.Tail = ch.next
	ch.worst = c.Worst
	if _, err := m.Run(contextAt); err != nil || ch.err != nil {
		return cmp.Or(err, ch.err)
	}
	if m.Steps > ch.worst {
		return fmt.Errorf("%d instructions were executed: the worst case is %d", m.Steps, ch.worst)
	}
	return nil
}

// next is what a tail call continues as.
func (ch *chain) next(args [5]uint64) *interp.Machine {
	if args[0] != contextAt || args[1] != arrayOfPrograms {
		ch.err = fmt.Errorf("a tail call with context %#x and map %d", args[0], args[1])
	}
	i := int(uint32(args[2]) % 8)
	if i >= len(ch.others) {
		return nil
	}
	m, err := interp.New(ch.others[i].Insns)
	ch.err = cmp.Or(ch.err, err)
	ch.worst += ch.others[i].Worst
	return m
}

// judge asks whether a program is accepted.
func judge(insns []bpf.Insn) (*Checked, bool) {
	p := &bpf.Program{Type: bpf.Kprobe, Insns: insns, Maps: []*bpf.MapSpec{counts, ring, frozen, outer, sink, others}}
	env := NewEnv()
	env.Limits = Limits{Steps: 5000, Worst: 5000}
	c, err := Check(p, env)
	return c, err == nil
}

// holds fails if an accepted program does what it must not.
func (ch *chain) holds(t *testing.T, c *Checked) {
	t.Helper()
	for range 8 {
		if err := ch.execute(c); err != nil {
			text, _ := bpf.Disassemble(c.Insns)
			t.Fatalf("accepted, but %v\n%s", err, text)
		}
	}
}

// TestAcceptedAreSafe: what is accepted never touches what it must not, and ends in time.
func TestAcceptedAreSafe(t *testing.T) {
	n := 2_000
	if os.Getenv("SONDE_LONG") != "" {
		n = 1_000_000
	}
	accepted, went := 0, 0
	seed := uint64(time.Now().UnixNano())
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	t.Logf("seed %d", seed)
	ch := chain{Rand: g.Rand}
	for range n {
		c, ok := judge(g.program())
		if !ok {
			continue
		}
		accepted++
		if ch.holds(t, c); ch.worst > c.Worst {
			went++
		}
		if ch.others = append(ch.others, c); len(ch.others) > 6 {
			ch.others = ch.others[1:]
		}
	}
	t.Logf("%d of %d programs were accepted, %d of them went on as others", accepted, n, went)
	if accepted < n/20 || went < accepted/50 {
		t.Errorf("%d of %d programs were accepted, and %d went on as others: expected one in 20, and one in 50 of these", accepted, n, went)
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
		if c, ok := judge(insns); ok {
			ch := chain{Rand: rand.New(rand.NewPCG(1, uint64(len(code)))), others: []*Checked{c}}
			ch.holds(t, c)
		}
	})
}

// hasOtherHelpers tells of calls and references that execute has nothing for.
func hasOtherHelpers(insns []bpf.Insn) bool {
	for _, in := range insns {
		if in.Op == uint8(bpf.JMP)|bpf.Call && in.Src() == bpf.CallHelper && in.Imm != 1 && in.Imm != 113 && in.Imm != bpf.TailCall {
			return true
		}
		if in.IsWide() && in.Src() != bpf.Number && (in.Src() != bpf.MapIdx || in.Imm != 0 && in.Imm != arrayOfPrograms) {
			return true
		}
	}
	return false
}
