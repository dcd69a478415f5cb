//go:build tamago

package bpf

import (
	"strings"

	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/probe/handler"
	"sonde/probe/program"
)

func init() { suites.Add("bpf/program_that_takes_too_long_finishes", late) }

// holding reserves a record, and then adds and removes a key, most of the time with its lock held: the value is large.
const holding = `
	map table hash 4 32768 64
	map from array 4 32768 1
	map records ringbuf 0 0 65536
	r1 = map[idx:2]
	r2 = 16
	r3 = 0
	call 131
	if r0 == 0 goto out
	r6 = r0
	*(u64 *)(r0 + 0) = 7
	*(u64 *)(r0 + 8) = 7
	r1 = 850
	r2 = subprog[round]
	r3 = 0
	r4 = 0
	call 181
	r1 = r6
	r2 = 0
	call 132
out:	r0 = 0
	exit
round:	*(u32 *)(r10 - 4) = 1
	r1 = map[idx:0]
	r2 = r10
	r2 += -4
	r3 = map[idx:1][0]+0
	r4 = 0
	call 2
	r1 = map[idx:0]
	r2 = r10
	r2 += -4
	call 3
	r0 = 0
	exit`

// watchEvery sets the counter of the old timer, whose NMIs are the watch's clock: see irq.StartNMI. 0 is 65536, as usual.
//
// Source: Intel 8254 data sheet, mode 2.
func watchEvery(count uint16) {
	cpu.Out8(0x43, 0x34)
	cpu.Out8(0x40, uint8(count))
	cpu.Out8(0x40, uint8(count>>8))
}

// late: the watch finds that a program takes too long, as a rule while it holds the lock of a key. Its probe is
// disabled, and the program finishes: others can change the key, and readers get its records. Programs used to be
// abandoned there, and the key could not be changed any more, nor was anything of this CPU's records read.
func late(t *suites.T) {
	old := handler.Limit.Get()
	t.Must(handler.Limit.Store(1))
	defer func() { t.Must(handler.Limit.Store(old)) }()
	since := suites.Mark()
	text, maps, err := program.Assemble("late", holding)
	t.Must(err)
	prog, err := program.Load(text, maps, &program.LoadOptions{Rare: true})
	t.Must(err)
	p := &loaded{prog, maps}
	defer p.close()
	l := p.attach(t, "every:20ms") // starts the watch, if nothing has
	defer watchEvery(0)
	watchEvery(2 * 1193) // 2 ms: on a fast host, the program takes less time than lies between two looks as usual
	t.Until("the watch finds it", func() bool { return suites.Logged(since, "is the last one: it runs too long") > 0 })
	t.Until("the last one ends", func() bool { return l.Ledger().InFlight == 0 })
	hits := l.Ledger().Handled
	if got := l.Ledger(); hits == 0 || got.Abandoned != 0 || got.Unexplained() != 0 {
		t.Errorf("%+v", got)
	}
	t.Until("hits of a probe that is disabled", func() bool { return l.Ledger().Disarmed > 2 })
	if got := l.Ledger(); got.Handled != hits {
		t.Errorf("%d hits after the last one", got.Handled-hits)
	}
	if err := maps[0].Update(0, key4(1), []byte(strings.Repeat("x", 32768)), program.Any); err != nil {
		t.Errorf("the key cannot be changed: %v", err)
	}
	n, room := uint64(0), make([]byte, 64)
	for more := true; more; {
		if _, more = maps[2].Ring().Take(room); more {
			n++
		}
	}
	if n != hits {
		t.Errorf("%d records of %d hits", n, hits)
	}
}
