package lang

import (
	"math"

	"sonde/bpf"
)

// aggregate adds a value to what a map keeps for this CPU.
func (g *generator) aggregate(target, call *Expr) {
	m := target.m
	if len(call.Args) > 0 {
		g.number(call.Args[0])
	} else {
		g.emit("r0 = 1")
	}
	switch m.Value.Kind {
	case TSeries:
		g.addToSeries(target)
		return
	case Hist:
		if m.Value.Bits > 0 {
			g.fine(m.Value.Bits)
			break
		}
		g.log2()
	case LHist:
		g.linear(m.Value)
	}
	value := g.spill()
	key := g.key(target)
	if m.Value.HasBuckets() {
		g.bucket(m, key, value)
		g.emit("*(u64 *)(%s) = 1", value)
	}
	none, end := g.newLabel(), g.newLabel()
	g.find(m, key)
	if m.IsArray() { // it is always there
		none = g.out
	}
	g.emit("if r0 == 0 goto %s", none)
	g.emit("r1 = *(u64 *)(%s)", value)
	g.combine(m, end)
	if !m.IsArray() {
		g.emit("goto %s", end)
		g.label(none)
		g.first(m, key, value)
	}
	g.label(end)
}

// bucket puts the number of a bucket into a key.
func (g *generator) bucket(m *Map, key, number place) {
	if !m.IsArray() || len(m.Key) == 0 {
		g.copy(key.plus(max(0, m.KeySize()-8)), number, 8)
		return
	}
	g.emit("r1 = *(u64 *)(%s)", key)
	g.emit("r1 *= %d", Buckets(m.Value))
	g.emit("r0 = *(u64 *)(%s)", number)
	g.emit("r0 += r1")
	g.emit("*(u64 *)(%s) = r0", key)
}

// first puts the first value of a key in a map.
func (g *generator) first(m *Map, key, value place) {
	if k := m.Value.Kind; k == Avg || k == Stats {
		pair := g.push(16)
		g.emit("*(u64 *)(%s) = 1", pair)
		g.copy(pair.plus(8), value, 8)
		value = pair
	}
	g.update(m, key, value)
}

// combine adds R1 to the value that R0 points to. Only this CPU changes it.
func (g *generator) combine(m *Map, end string) {
	t := m.Value
	switch {
	case t.Kind == Min || t.Kind == Max:
		g.emit("r2 = *(u64 *)(r0 + 0)")
		g.emit("if r1 %s%s r2 goto %s", pick(t.Signed, "s", ""), pick(t.Kind == Min, ">=", "<="), end)
		g.emit("*(u64 *)(r0 + 0) = r1")
	case m.counts():
		g.emit("r2 = *(u64 *)(r0 + 8)")
		g.emit("r2 += r1")
		g.emit("*(u64 *)(r0 + 8) = r2")
		g.emit("r2 = *(u64 *)(r0 + 0)")
		g.emit("r2 += 1")
		g.emit("*(u64 *)(r0 + 0) = r2")
	default:
		g.emit("r2 = *(u64 *)(r0 + 0)")
		g.emit("r2 += r1")
		g.emit("*(u64 *)(r0 + 0) = r2")
	}
}

// log2 makes R0 the number of its bucket: see bpf.Bucket.
func (g *generator) log2() {
	g.emit("r1 = r0")
	g.emit("call %d", bpf.HelperLog2)
}

// fine makes R0 the number of its bucket where each power of 2 has 1<<bits of them: see Bounds.
func (g *generator) fine(bits int) {
	negative, small, end := g.newLabel(), g.newLabel(), g.newLabel()
	number := g.spill()
	g.emit("if r0 s< 0 goto %s", negative)
	g.emit("if r0 < %d goto %s", 1<<bits, small)
	g.log2()
	g.emit("r0 += %d", -2-bits) // which power of 2, from 1<<bits on
	g.emit("r1 = *(u64 *)(%s)", number)
	g.emit("r1 >>= r0")
	g.emit("r0 <<= %d", bits)
	g.emit("r0 += r1")
	g.label(small)
	g.emit("r0 += 1")
	g.emit("goto %s", end)
	g.label(negative)
	g.emit("r0 = 0")
	g.label(end)
}

// linear makes R0 the number of its bucket: 0 below the range, the last one above it.
func (g *generator) linear(t Type) {
	below, above, end := g.newLabel(), g.newLabel(), g.newLabel()
	g.emit("if r0 s< %d goto %s", t.Low, below)
	g.emit("if r0 s>= %d goto %s", t.High, above)
	step := min(t.Step, t.High-t.Low)
	g.with("-=", t.Low-step) // one part less, for the bucket below the range
	g.parts(t.High-t.Low+step, step)
	g.emit("goto %s", end)
	g.label(below)
	g.emit("r0 = 0")
	g.emit("goto %s", end)
	g.label(above)
	g.emit("r0 = %d", Buckets(t)-1)
	g.label(end)
}

// parts divides R0, which is from 0 to most. A multiplication and a shift take less room than a division where a program
// is compiled for its place, and need no more registers.
func (g *generator) parts(most, size int64) {
	factor, shift, ok := reciprocal(most, size)
	if !ok {
		g.with("/=", size)
		return
	}
	g.emit("r0 *= %d", factor)
	g.emit("r0 >>= %d", shift)
}

// with computes R0 and a number.
func (g *generator) with(op string, n int64) {
	switch {
	case n == 0 && op == "-=":
	case n == int64(int32(n)):
		g.emit("r0 %s %d", op, n)
	default:
		g.load("r1", n)
		g.emit("r0 %s r1", op)
	}
}

// reciprocal returns what n, from 0 to most, is multiplied by, and by how much it is shifted then, to be divided by size;
// false: no factor of 31 bits does it, or most has more.
func reciprocal(most, size int64) (factor int64, shift int, ok bool) {
	if most > math.MaxInt32 {
		return 0, 0, false
	}
	for power := int64(1); shift < 63; shift, power = shift+1, 2*power {
		factor = (power + size - 1) / size
		if over := factor*size - power; power >= size && factor <= math.MaxInt32 && over*most < power {
			return factor, shift, true
		}
	}
	return 0, 0, false
}

// Buckets is how many buckets a histogram has, with those below and above its range.
func Buckets(t Type) int {
	if t.Kind == LHist {
		return int((t.High-t.Low+t.Step-1)/t.Step) + 2
	}
	return (bpf.HistBuckets-1-t.Bits)<<t.Bits + 1
}

// Bounds are the first number of a bucket of a histogram, and the first after it.
func Bounds(t Type, i int) (low, high int64) {
	switch {
	case t.Kind == LHist && i == Buckets(t)-1:
		return t.High, t.High
	case t.Kind == LHist:
		low = t.Low + int64(i-1)*t.Step
		return low, min(low+t.Step, t.High)
	case i < 1:
		return -1, 0
	}
	n, each := int64(i-1), int64(1)<<t.Bits
	if n < each {
		return n, n + 1
	}
	power := n>>t.Bits - 1
	low = (each + n&(each-1)) << power
	return low, low + 1<<power
}
