package hostile

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A source makes inputs from a seed: mostly wrong ones, near to what is right.
type source struct {
	*rand.Rand
	names []string // that are right somewhere
}

func newSource(seed uint64, names []string) *source {
	return &source{rand.New(rand.NewPCG(seed, 0x5eed)), names}
}

// in reports true one time in n.
func (s *source) in(n int) bool { return s.IntN(n) == 0 }

// pick returns one of all.
func pick[T any](s *source, all ...T) T { return all[s.IntN(len(all))] }

// number is any number; those at the edges of types come often.
func (s *source) number() int64 {
	switch s.IntN(6) {
	case 0:
		return pick[int64](s, 0, 1, -1, 2, 3, 4, 8, 16)
	case 1:
		return pick[int64](s, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, 1<<32, 1<<47, -1<<47, 1<<62)
	case 2:
		return 1<<s.IntN(63) + s.Int64N(3) - 1
	case 3:
		return int64(s.Uint64())
	}
	return s.Int64N(4096) - 64
}

// text is up to most bytes of anything; half of it can be typed.
func (s *source) text(most int) string {
	b := make([]byte, s.IntN(most+1))
	typed := s.in(2)
	for i := range b {
		if b[i] = byte(s.Uint32()); typed {
			b[i] = ' ' + b[i]%95
		}
	}
	return string(b)
}

// name is one that is right, one with a typing error, or no name.
func (s *source) name() string {
	right := s.names[s.IntN(len(s.names))]
	switch s.IntN(10) {
	case 0, 1, 2, 3:
		return right
	case 4:
		return s.text(40)
	case 5:
		return pick(s, "", ".", "/", "..", "\x00", " ", "%s%n", strings.Repeat("a", s.IntN(70_000)), right+"\x00", "*")
	case 6:
		return right[s.IntN(len(right)):]
	case 7:
		return right + s.text(3)
	}
	b := []byte(right)
	b[s.IntN(len(b))] ^= 1 << s.IntN(8)
	return string(b)
}

// value is what a sysctl or a parameter could be set to.
func (s *source) value() string {
	switch s.IntN(5) {
	case 0:
		return pick(s, "", "0", "1", "y", "n", "2", "-1", "yes", "on", "0x", "0x1", "1 ", " 0\n", "1\n1", "1\x00", "١", "1e3", "00", "+1", "--1")
	case 1:
		return s.name()
	case 2:
		return strings.Repeat(pick(s, "1", "9", "0x", " ", "\xff"), s.IntN(300))
	case 3:
		return s.text(60)
	}
	return strconv.FormatInt(s.number(), 10)
}
