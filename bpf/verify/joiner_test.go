package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"sonde/bpf"
)

// joiner makes programs that tell whether a path may end where another one was walked. They copy a number,
// add constants to the copies, spill them, compare them on some of the paths that meet, and access
// something wrong after further comparisons, which cannot hold if the ones before them did. So most are
// refused, and of those that are accepted none makes the wrong access, whatever the number is. If one
// does, a path was not walked that knew less than another.
type joiner struct {
	*rand.Rand
	near   int64 // the number that constants are chosen around
	views  []view
	spills []view
	likely []int64 // what comparisons take the number for
	lines  []string
	after  string // functions
	out    string // the label of the end of the function
	labels int
	bits   int // of R8, each for one jump
}

// view is where the number lies, plus a constant.
type view struct {
	at   string
	plus int64
}

var (
	nearTo  = []int64{0, 0, 1, 9, -32, 1 << 31, 255}
	steps   = []int64{1, -1, 32, -5, -17, 1 << 30}
	offBy   = []int64{0, 0, 0, 1, -1, 8}
	results = []string{"(r10 - 40)", "(r10 - 48)"} // the value of a map or 0, twice
)

func newJoiner(seed uint64) *joiner {
	j := &joiner{Rand: rand.New(rand.NewPCG(seed, 1)), out: "out"}
	j.near = oneOf(j, nearTo)
	return j
}

func oneOf[T any](j *joiner, s []T) T { return s[j.IntN(len(s))] }

func (j *joiner) say(format string, args ...any) {
	j.lines = append(j.lines, strings.ReplaceAll(fmt.Sprintf(format, args...), "OUT", j.out))
}

// label returns a new one.
func (j *joiner) label() string {
	j.labels++
	return fmt.Sprint("l", j.labels)
}

// program makes the instructions.
func (j *joiner) program() []bpf.Insn {
	if j.IntN(6) == 0 { // all of it is called by a helper
		j.say("r1 = 2; r2 = subprog[f]; r3 = 0; r4 = 0; call 181; r0 = 0; exit; f:")
	}
	j.say("call 7; r8 = r0; call 7; r6 = r0; %s", oneOf(j, []string{"", "", "", "w6 = w6", "r6 &= 255"}))
	j.say("r7 = r6; r9 = r6; LOOKUP; *(u64 *)(r10 - 40) = r0; *(u64 *)(r10 - 48) = r0")
	j.views = []view{{at: "r6"}, {at: "r7"}, {at: "r9"}}
	for range 3 + j.IntN(5) {
		j.piece()
	}
	j.end()
	insns, err := bpf.Assemble(short.Replace(strings.Join(j.lines, "\n") + j.after))
	if err != nil {
		panic(fmt.Sprint(err, j.lines))
	}
	return insns
}

func (j *joiner) piece() {
	switch j.IntN(11) {
	case 0, 1, 2:
		j.copy()
	case 3:
		v, bits := oneOf(j, j.views), oneOf(j, []int{64, 64, 32})
		from := v.at
		v.at = fmt.Sprintf("(u%d *)(r10 - %d)", bits, oneOf(j, []int{16, 24, 32}))
		j.say("*%s = %s", v.at, from)
		j.spills = append(j.spills, v)
	case 4:
		j.fill()
	case 5, 6, 7:
		j.sometimes(func() { j.test(j.out) })
	case 8:
		j.test(j.out)
	case 9:
		join := j.label()
		j.test(join)
		j.say("r3 = 1; %s:", join)
		j.walk()
	case 10:
		j.sometimes(func() { j.say("r0 = *(u64 *)%s; if r0 == 0 goto OUT", oneOf(j, results)) })
	}
}

// copy has a register hold what another does, plus a constant, or a constant.
func (j *joiner) copy() {
	to, from := &j.views[j.IntN(len(j.views))], oneOf(j, j.views)
	step := oneOf(j, steps)
	to.plus = from.plus + step
	switch j.IntN(6) {
	case 0:
		j.say("w%s = w%s; %s += %d", to.at[1:], from.at[1:], to.at, step)
	case 1:
		j.say("%s = %d ll", to.at, j.near+to.plus)
	default:
		j.say("%s = %s; %s += %d", to.at, from.at, to.at, step)
	}
}

// fill has a register hold what was spilled.
func (j *joiner) fill() {
	if len(j.spills) == 0 {
		return
	}
	to, from := &j.views[j.IntN(len(j.views))], oneOf(j, j.spills)
	j.say("%s = *%s", to.at, from.at)
	to.plus = from.plus
}

// sometimes has what f says happen on one of two paths, in either order, and then has them join.
func (j *joiner) sometimes(f func()) {
	join, bit := j.label(), 1<<j.bits
	j.bits++
	if j.IntN(4) == 0 {
		do := j.label()
		j.say("if r8 & %d goto %s; goto %s; %s:", bit, do, join, do)
	} else {
		j.say("if r8 & %d goto %s", bit, join)
	}
	f()
	j.say("%s:", join)
	j.walk()
}

// walk takes so many instructions that the state at the next join is kept, and has one there.
func (j *joiner) walk() {
	j.say("r3 = 0; r3 = 1; r3 = 2; r3 = 3; r3 = 4; r3 = 5; r3 = 6; r3 = 7")
	if join := j.label(); j.IntN(2) == 0 {
		j.say("goto %s; %s:", join, join)
	}
}

// test jumps if the number compares in some way with a constant near to what it may be.
func (j *joiner) test(to string) {
	v := oneOf(j, j.views)
	c := j.near + v.plus + oneOf(j, offBy)
	if j.IntN(4) == 0 {
		c = int64(j.IntN(3) - 1)
	}
	j.likely = append(j.likely, c-v.plus)
	width := oneOf(j, []string{"r", "r", "w"})
	a, rel := width+v.at[1:], oneOf(j, jumpTexts)
	switch other := oneOf(j, j.views); {
	case j.IntN(8) == 0:
		j.say("if %s %s %s%s goto %s", a, rel, width, other.at[1:], to)
	case j.IntN(3) == 0 || c != int64(int32(c)):
		j.say("r4 = %d ll; if %s %s %s4 goto %s", c, a, rel, width, to)
	default:
		j.say("if %s %s %d goto %s", a, rel, c, to)
	}
}

// end does something wrong after comparisons, here or in a function.
func (j *joiner) end() {
	switch j.IntN(6) {
	case 0:
		a, b := oneOf(j, j.views), oneOf(j, j.views)
		j.say("r1 = %s; r2 = %s; call last; OUT: r0 = 0; exit; last:", a.at, b.at)
		a.at, b.at = "r1", "r2"
		j.views, j.out = []view{a, b}, "done"
		j.walk()
	case 1:
		j.twoCallers()
	}
	for range 1 + j.IntN(2) {
		on := j.label()
		j.test(on)
		j.say("goto OUT; %s:", on)
	}
	j.wrong()
	j.say("OUT: r0 = 0; exit")
}

// twoCallers calls a function from two places. What is wrong comes only after the second.
func (j *joiner) twoCallers() {
	j.say("r1 = %s; if r8 & %d goto second; call twice; goto OUT; second: call twice", oneOf(j, j.views).at, 1<<j.bits)
	j.bits++
	j.after = "\ntwice: r0 = 0; r3 = 1; r3 = 2; r3 = 3; r3 = 4; r3 = 5; r3 = 6; r3 = 7; if r1 & 1 goto on; r0 = 1; on: r0 = 2; exit"
}

// wrong is an access that is wrong always, or unless the number has a bound or the pointer was compared.
func (j *joiner) wrong() {
	v := oneOf(j, j.views)
	switch j.IntN(5) {
	case 0, 1:
		j.say("r0 = *(u64 *)(r10 + 8)")
	case 2:
		j.say("r0 = *(u64 *)(%s + 0)", v.at)
	case 3:
		j.say("r2 = r10; r2 += %s; *(u8 *)(r2 - %d) = 1", v.at, 1+j.IntN(64))
	case 4:
		j.say("r0 = *(u64 *)%s; r0 = *(u8 *)(r0 + 0)", oneOf(j, results))
	}
}
