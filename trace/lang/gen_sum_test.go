package lang

import (
	"math/rand/v2"
	"testing"
)

// TestSmallKeys: maps that only add up, by numbers that are small, are arrays; in others keys can be read, and kept or removed.
func TestSmallKeys(t *testing.T) {
	for _, c := range []struct {
		script, want string
		array        bool
	}{
		{`BEGIN { @[3] = count(); @[0] = count(); @[3] = count() }`, `@[0]=1 @[3]=2`, true},
		{`BEGIN { @[cpu] = count(); @[3] = count(); clear(@); print(@) }`, `@[2]=1 @[3]=1 3() 1()`, true},
		{`BEGIN { @[63] = sum(5); @[63] = sum(-5); @[1] = sum(0) }`, `@[1]=0 @[63]=0`, true},
		{`BEGIN { @[2] = avg(5); @[2] = avg(6) }`, `@[2]=2,11`, true},
		{`BEGIN { @[cpu] = stats(5) }`, `@[2]=1,5`, true},
		{`BEGIN { @[cpu] = hist(5); @[1] = hist(5); @[1] = hist(-1) }`, `@[1:0]=1 @[1:4]=1 @[2:4]=1`, true},
		{`BEGIN { @[cpu] = lhist(5, 0, 10, 5); @[0] = lhist(-1, 0, 10, 5); @[0] = lhist(10, 0, 10, 5) }`, `@[0:0]=1 @[0:3]=1 @[2:2]=1`, true},
		{`BEGIN { @[64] = count() }`, `@[64]=1`, false},
		{`BEGIN { @[-1] = count() }`, `@[-1]=1`, false},
		{`BEGIN { @[pid] = count() }`, `@[7]=1`, false},
		{`BEGIN { @[1, 2] = count() }`, `@[1,2]=1`, false},
		{`BEGIN { @[1] = count(); print(@[1]) }`, `@[1]=1 2(1)`, false},
		{`BEGIN { @[1] = count(); delete(@[1]) }`, `@[1]=1 5(1)`, false},
		{`BEGIN { @[1] = count(); zero(@) }`, `@[1]=1 4()`, false},
		{`BEGIN { @[1] = count(); for ($kv : @) { print($kv.0) } }`, ``, false},
		{`BEGIN { @[1] = min(5) }`, `@[1]=5`, false},
		{`let @ = lruhash(2); BEGIN { @[1] = count() }`, `@[1]=1`, false},
	} {
		m := newMachine(t, c.script)
		if got := m.unit.Maps[0].IsArray(); got != c.array {
			t.Errorf("%s: an array: %v", c.script, got)
		}
		if c.want == "" {
			continue
		}
		m.run("begin")
		if got := m.show(); got != c.want {
			t.Errorf("%s\ngot:  %s\nwant: %s", c.script, got, c.want)
		}
	}
}

// TestReciprocal: a multiplication and a shift give what a division gives, at both ends of each part.
func TestReciprocal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 20_000 {
		size := 1 + r.Int64N(1<<r.IntN(32))
		most := max(size, min(size*(1+r.Int64N(1000)), 1<<32-1))
		factor, shift, ok := reciprocal(most, size)
		if !ok {
			continue
		}
		found++
		for part := range most/size + 1 {
			for _, n := range []int64{part * size, min(most, part*size+size-1)} {
				if got := int64(uint64(n) * uint64(factor) >> shift); got != n/size {
					t.Fatalf("%d / %d is %d by * %d >> %d, up to %d", n, size, got, factor, shift, most)
				}
			}
		}
	}
	if found < 15_000 {
		t.Errorf("only %d of 20000 divisions have a factor", found)
	}
}
