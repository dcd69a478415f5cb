//go:build tamago

package user

import (
	"sonde/arch/amd64"
	ring3 "sonde/arch/amd64/user"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
)

func init() { suites.Add("user/cost_of_a_round_trip", cost) }

// cost logs what a round trip to ring 3 costs, with a program's loop around it.
func cost(t *suites.T) {
	const rounds = 20_000
	for _, x := range []struct {
		name string
		code []byte
		want ring3.Event
	}{
		{"system call", []byte{0x0f, 0x05, 0xeb, 0xfc}, ring3.SystemCall},
		{"system call, x87 in use", []byte{0xd9, 0xee, 0x0f, 0x05, 0xeb, 0xfc}, ring3.SystemCall},
		{"int3", []byte{0xcc, 0xeb, 0xfd}, amd64.VEC_BP},
	} {
		p := load(t, x.code)
		c := p.thread()
		start := cpu.Nanotime()
		for range rounds {
			if e := settle(c); e != x.want {
				t.Fatalf("%s: %s", x.name, what(c, e))
			}
		}
		t.Logf("%s: %d ns", x.name, (cpu.Nanotime()-start)/rounds)
		p.Close()
	}
}
