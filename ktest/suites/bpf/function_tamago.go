//go:build tamago

package bpf

import (
	"fmt"

	"sonde/bpf"
	"sonde/kallsyms"
	"sonde/ktest/suites"
	"sonde/probe/program"
	"sonde/probe/types"
)

func init() { suites.Add("bpf/arguments_in_a_row", inRow) }

type pair struct {
	small byte
	large uint32
}

// many takes and gives what has a register for each part, and what is on the stack.
//
//go:noinline
func many(flag bool, p pair, s string, list [3]uint16, a, b, c, d, e uint64) (sum uint64, short int16) {
	return uint64(p.large) + uint64(len(s)) + uint64(list[2]) + a + b + c + d + e, -7
}

// row is what a program finds of many; the numbers are those that found calls it with.
var row = []struct {
	width string
	off   int
	want  uint64
}{
	{"u64", 0, 1}, {"u8", 8, 0xab}, {"u32", 12, 0xcdef0123}, {"u64", 24, 5}, {"u16", 32, 1}, {"u16", 36, 3},
	{"u64", 40, 10}, {"u64", 48, 20}, {"u64", 56, 30}, {"u64", 64, 40}, {"u64", 72, 50},
	{"u64", 80, 0xcdef0123 + 5 + 3 + 150}, {"u64", 88, 0xfff9},
}

// results is where results begin.
const results = 80

// inRow: a program at a function finds each argument where its type has it, and the results after them.
func inRow(t *suites.T) {
	for _, r := range row {
		load := fmt.Sprintf("*(%s *)(r1 + %d)", r.width, r.off)
		for _, returns := range []bool{false, true} {
			if !returns && r.off >= results {
				continue
			}
			if got := found(t, load, returns); got != r.want {
				t.Errorf("%s of many, returns %v: %#x, want %#x", load, returns, got, r.want)
			}
		}
	}
}

// found returns what a program loads at a call of many.
func found(t *suites.T, load string, returns bool) uint64 {
	p, maps, err := program.Assemble("row", "map seen array 4 8 1\nr6 = "+load+`
		r7 = map[idx:0][0]+0
		*(u64 *)(r7 + 0) = r6
		r0 = 0
		exit`)
	t.Must(err)
	p.Type = bpf.Tracing
	sym, err := kallsyms.Resolve(pkg + "many")
	t.Must(err)
	table, call, err := types.Function(sym.Addr)
	t.Must(err)
	f, err := program.NewFunction(table, call, nil, returns)
	t.Must(err)
	prog, err := program.Load(p, maps, &program.LoadOptions{Function: f})
	t.Must(err)
	defer (&loaded{prog, maps}).close()
	_, err = prog.AttachFunction(0, "")
	t.Must(err)
	many(true, pair{0xab, 0xcdef0123}, "fünf", [3]uint16{1, 2, 3}, 10, 20, 30, 40, 50)
	return word(t, maps[0], key4(0))
}
