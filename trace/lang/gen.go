package lang

import (
	"fmt"
	"math"
	"slices"

	"sonde/bpf"
)

// Compile makes programs of a script.
//
// Errors: *Error.
func Compile(s *Script, o *Options) (u *Unit, err error) {
	defer catch(&err)
	c := &checker{Script: s, opt: o, maps: map[string]*Map{}, options: map[string]string{}, scopes: map[*Point]*scope{}}
	s.known = knownTo(o.Resolver)
	c.types()
	u = &Unit{Script: s, Settings: c.settings}
	u.Specs = []*bpf.MapSpec{
		ControlMap: {Name: "control", Type: bpf.Array, KeySize: 4, ValueSize: controlBytes, MaxEntries: 1},
		RingMap:    {Name: "records", Type: bpf.RingBuf, MaxEntries: uint32(c.settings.RingBytes)},
		ScratchMap: {Name: "scratch", Type: bpf.PerCPUArray, KeySize: 4, MaxEntries: 1},
	}
	for i, name := range keys(c.maps) {
		m := c.maps[name]
		if m.Value.Kind == Unknown && !m.known {
			c.warn(m.where, "Unused map: %s", name)
			m.Value = int64Type
		}
		if m.Value.Kind == Unknown {
			c.fail(m.where, "nothing is ever assigned to %s", name)
		}
		m.Index = firstMap + i
		u.Maps, u.Specs = append(u.Maps, m), append(u.Specs, m.spec(&c.settings))
		if m.KeySize() > maxKey {
			c.fail(m.where, "the keys of %s have %d bytes, more than %d", name, m.KeySize(), maxKey)
		}
	}
	scratch, lines := 8, 0
	for _, probe := range s.Probes {
		for _, point := range probe.Points {
			c.probe(probe, point) // the tree has the types of one point at a time
			g := &generator{checker: c, unit: u}
			u.Programs = append(u.Programs, g.program(probe, point))
			scratch = max(scratch, g.mostScratch)
			if lines += g.lines; lines > maxAllLines {
				c.fail(point.Span, "the programs of this script are longer than %d instructions together", maxAllLines)
			}
		}
	}
	if scratch > maxScratch {
		c.fail(Span{0, len(s.Source.Text)}, "the strings of a probe take %d bytes, more than %d", scratch, maxScratch)
	}
	u.Specs[ScratchMap].ValueSize = uint32(scratch)
	u.Warnings = c.warnings
	return u, nil
}

// Limits of what the engine takes, in bytes.
const (
	maxKey     = 512
	maxScratch = 32 << 10
	maxStack   = 512
	maxLines   = 32000 // of a program: a jump must reach over it

	maxAllLines = 1 << 19 // of a script
)

// generator writes the program of one attach point.
type generator struct {
	*checker
	unit *Unit

	code    []line
	lines   int  // of all functions
	at      Span // of the statement that is being generated
	labels  int
	leaving []string // labels to go to by continue and break, of the loops around
	out     string   // the label of the end
	inner   [][]line // the functions that loops over maps call
	depth   int      // how many of them are being generated, one in the other
	loops   bool     // there is a loop that is walked round by round

	heldAt      int // of the word on the stack: see held
	stack       int // bytes in use; it grows down from R10
	scratch     int // bytes in use; R9 points to its begin
	mostScratch int
}

// place is memory: bytes from where a register points to.
type place struct {
	reg string
	off int
}

func (p place) plus(n int) place { return place{p.reg, p.off + n} }

func (p place) String() string {
	if p.off < 0 {
		return fmt.Sprintf("%s - %d", p.reg, -p.off)
	}
	return fmt.Sprintf("%s + %d", p.reg, p.off)
}

// program generates the filter and the body, and then what must come before them.
func (g *generator) program(probe *Probe, point *Point) *Compiled {
	g.out = "out"
	if g.hasMapLoops(probe.Body) {
		g.push(8) // see forEach
	}
	if g.settings.Speculates {
		g.heldAt = g.push(8).off
	}
	for i, v := range g.order {
		if v.memory = !v.Type.isNumber() || i >= maxOnStack; v.memory {
			v.at = g.room(v.Type.Size()).off
		} else {
			v.at = g.push(8).off
		}
	}
	if probe.Filter != nil {
		g.at = probe.Filter.Span
		g.branch(probe.Filter, "out", false)
	}
	g.run(probe.Body)
	g.label("out")
	g.emit("r0 = 0")
	g.emit("exit")
	body := g.code
	g.code, g.at = nil, point.Span
	g.prologue(point)
	p := &Compiled{Point: point, Target: g.target, loops: g.loops}
	p.Text, p.spans = join(reachable(slices.Concat(append([][]line{g.code, body}, g.inner...)...)))
	insns, err := bpf.Assemble(p.Text)
	if err != nil {
		g.fail(point.Span, "the program of this probe cannot be assembled: %v", err)
	}
	p.Insns = insns
	return p
}

// prologue ends the program while the script does not run, and sets what it has to begin with.
func (g *generator) prologue(point *Point) {
	g.emit("r6 = r1")
	if point.Provider != "begin" && point.Provider != "end" {
		g.emit("r1 = map[idx:%d][0]+%d", ControlMap, ControlActive)
		g.emit("r0 = *(u64 *)(r1 + 0)")
		g.emit("if r0 == 0 goto out")
	}
	g.onlyCopies(point)
	if g.mostScratch > 0 {
		g.findScratch(place{"r10", -4}, "out")
	}
	if g.settings.Speculates {
		g.zero(g.held(), 8)
	}
	for _, v := range g.order {
		g.zero(g.home(v), v.Type.Size())
	}
}

// findScratch sets R9; key is memory to use for it.
func (g *generator) findScratch(key place, out string) {
	g.emit("*(u32 *)(%s) = 0", key)
	g.address("r2", key)
	g.emit("r1 = map[idx:%d]", ScratchMap)
	g.emit("call 1")
	g.emit("if r0 == 0 goto %s", out)
	g.emit("r9 = r0")
}

// maxOnStack is how many variables are on the stack, of those that are numbers.
const maxOnStack = 24

// home is where a variable is: in a function that a loop calls, R7 is the stack of the program.
func (g *generator) home(v *local) place {
	switch {
	case v.memory:
		return place{"r9", v.at}
	case g.depth > 0:
		return place{"r7", v.at}
	}
	return place{"r10", v.at}
}

func (g *generator) emit(format string, args ...any) {
	g.add(line{fmt.Sprintf(format, args...), g.at})
}

// add appends a line, of the program or of a function that it calls.
func (g *generator) add(l line) {
	if g.lines++; g.lines > maxLines {
		g.fail(g.at, "the program of this probe is longer than %d instructions", maxLines)
	}
	g.code = append(g.code, l)
}

func (g *generator) newLabel() string {
	g.labels++
	return fmt.Sprintf("l%d", g.labels)
}

func (g *generator) label(name string) { g.add(line{text: name + ":"}) }

// push takes stack.
func (g *generator) push(bytes int) place {
	if g.stack += up(bytes); g.stack > maxStack-8 {
		g.fail(g.at, "this needs more than %d bytes of stack: give it fewer variables, or write it in parts", maxStack)
	}
	return place{"r10", -g.stack}
}

// room takes scratch memory.
func (g *generator) room(bytes int) place {
	p := place{"r9", g.scratch}
	g.scratch += up(bytes)
	g.mostScratch = max(g.mostScratch, g.scratch)
	if g.scratch > maxScratch {
		g.fail(g.at, "this needs more than %d bytes of memory", maxScratch)
	}
	return p
}

// scoped gives back what f takes.
func (g *generator) scoped(f func()) {
	stack, scratch := g.stack, g.scratch
	f()
	g.stack, g.scratch = stack, scratch
}

func (g *generator) zero(p place, bytes int) {
	for i := 0; i < bytes; i += 8 {
		g.emit("*(u64 *)(%s) = 0", p.plus(i))
	}
}

// address puts the address of memory in a register.
func (g *generator) address(reg string, p place) {
	g.emit("%s = %s", reg, p.reg)
	if p.off != 0 {
		g.emit("%s += %d", reg, p.off)
	}
}

// copy copies whole words. It changes R1.
func (g *generator) copy(to, from place, bytes int) {
	if to == from {
		return
	}
	for i := 0; i < bytes; i += 8 {
		g.emit("r1 = *(u64 *)(%s)", from.plus(i))
		g.emit("*(u64 *)(%s) = r1", to.plus(i))
	}
}

// spill keeps R0 on the stack.
func (g *generator) spill() place {
	p := g.push(8)
	g.emit("*(u64 *)(%s) = r0", p)
	return p
}

// immediate is a constant that an instruction has room for.
func (g *generator) immediate(e *Expr) (string, bool) {
	n, ok := g.constant(e)
	return fmt.Sprint(n), ok && n >= math.MinInt32 && n <= math.MaxInt32
}

// load puts a constant in a register.
func (g *generator) load(reg string, n int64) {
	if n >= math.MinInt32 && n <= math.MaxInt32 {
		g.emit("%s = %d", reg, n)
	} else {
		g.emit("%s = %#x ll", reg, uint64(n))
	}
}

// stackMap returns the index of the map for stacks of a depth.
func (g *generator) stackMap(depth int) int {
	is := func(s *bpf.MapSpec) bool { return s.Type == bpf.StackTrace && int(s.ValueSize) == 8*depth }
	if i := slices.IndexFunc(g.unit.Specs, is); i >= 0 {
		return i
	}
	g.unit.Specs = append(g.unit.Specs, &bpf.MapSpec{Name: fmt.Sprintf("stacks%d", depth), Type: bpf.StackTrace, KeySize: 4, ValueSize: uint32(8 * depth), MaxEntries: 4096})
	return len(g.unit.Specs) - 1
}
