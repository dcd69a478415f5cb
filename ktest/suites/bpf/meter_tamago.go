//go:build tamago

package bpf

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/metered_and_held", metered)
	suites.Add("bpf/budget_under_adversaries", adversaries)
}

// explained checks that each hit of a program is accounted for, and that it ran as often as the map says.
func (p *loaded) explained(t *suites.T, what string, ran uint64) program.Account {
	a := p.Account()
	if a.Unexplained != 0 || a.Run != ran {
		t.Errorf("%s: %+v; the program says that it ran %d times", what, a, ran)
	}
	return a
}

// metered: a program that is hit while its door changes runs as often as ever; while it is held, never. It
// asks whom it has hit: what a door leads to has once written over that.
func metered(t *suites.T) {
	p := load(t, strings.Replace(count, "out:", "out:	call 14\n", 1))
	defer p.close()
	l := p.attach(t, pkg+"square")
	const calls = 6400
	call := func() {
		for i := range uint64(calls) {
			if square(i) != i*i {
				t.Errorf("another result")
			}
		}
	}
	call()
	stop, err := p.Watch()
	t.Must(err)
	call()
	stop()
	call()
	t.Must(p.Hold(true))
	call()
	t.Must(p.Hold(false))
	call()
	l.Close()
	a := p.explained(t, "all in all", word(t, p.maps[0], key4(0)))
	sum := program.Cost{}
	for _, c := range p.Costs() {
		sum = sum.Plus(c)
	}
	if a.Hits != 5*calls || a.Held != calls || a.Throttled != 0 || sum.Entered != calls {
		t.Errorf("%+v, metered %+v", a, sum)
	}
	if least := uint64(calls / 64); sum.Measured < least || sum.Measured > least+2*uint64(cpu.Num()) || sum.Spent == 0 {
		t.Errorf("one in 64 is measured: %+v", sum)
	}
}

// adversaries are programs that do as much at each hit as the verifier allows. All count their runs in
// map 0.
var adversaries_ = map[string]string{
	"longest path": strings.Replace(strings.Replace(count, "out:	r0 = 0", "out:"+strings.Repeat("	call long\n", 5)+"	r0 = 0", 1), "	exit", `	exit
long:	r0 = 0
`+strings.Repeat("	r1 = r0\n	r0 = r1\n", 6350)+"	exit", 1),
	"deepest calls": strings.Replace(count, "	exit", `	call f1
	r0 = 0
	exit`+deep(1), 1),
	"largest record": strings.Replace(strings.Replace(count, "map hits percpu_array 4 8 1", "map hits percpu_array 4 8 1\nmap out ringbuf 0 0 65536", 1), "out:	r0 = 0", `out:	r1 = map[idx:1]
	r2 = 32000
	r3 = 0
	call 131
	if r0 == 0 goto none
	r1 = r0
	r2 = 0
	call 132
none:	r0 = 0`, 1),
	"ring full": strings.Replace(strings.Replace(count, "map hits percpu_array 4 8 1", "map hits percpu_array 4 8 1\nmap out ringbuf 0 0 4096", 1), "out:	r0 = 0", "out:	*(u64 *)(r10 - 16) = 0\n"+strings.Repeat(`	r1 = map[idx:1]
	r2 = r10
	r2 += -16
	r3 = 8
	r4 = 0
	call 130
`, 128)+"	r0 = 0", 1),
	"most stacks": strings.Replace("	r6 = r1\n"+count, "out:	r0 = 0", "out:	r0 = 0\n"+strings.Repeat(`	r1 = r6
	r2 = r10
	r2 += -408
	r3 = 400
	r4 = 0
	call 67
`, 14)+"	r0 = 0", 1),
	"map full": strings.Replace(strings.Replace(count, "map hits percpu_array 4 8 1", "map hits percpu_array 4 8 1\nmap keys hash 8 8 1", 1), "out:	r0 = 0", `	*(u64 *)(r10 - 16) = r1
	r1 = map[idx:1]
	r2 = r10
	r2 += -16
	r3 = r2
	r4 = 0
	call 2
out:	r0 = 0`, 1),
}

// deep are functions that call each other, from the n-th to the last that may be.
func deep(n int) string {
	body := "\nf" + string(rune('0'+n)) + ":	*(u64 *)(r10 - 48) = 1\n"
	if n < 7 {
		body += "	call f" + string(rune('1'+n)) + "\n"
	}
	body += "	r0 = 0\n	exit"
	if n < 7 {
		body += deep(n + 1)
	}
	return body
}

// adversaries hit each on all CPUs at once, with a budget of 2 %: the machine answers, what is too much is
// throttled, and the log says so once. Then each is hit without a budget.
func adversaries(t *suites.T) {
	t.SeveralProcessors()
	for name, text := range adversaries_ {
		throttled(t, name, text)
		unthrottled(t, name, text)
	}
}

func throttled(t *suites.T, name, text string) {
	since := suites.Mark()
	p := load(t, text)
	defer p.close()
	t.Must(p.SetBudget(20))
	l := p.attach(t, pkg+"square")
	answers := storm10000(t, p)
	l.Close()
	a := p.explained(t, name, word(t, p.maps[0], key4(0)))
	t.Logf("%s: %+v, %d answers", name, a, answers)
	if a.Hits < 10_000 || a.Throttled == 0 || answers == 0 {
		t.Fatalf("%s: %+v, %d answers", name, a, answers)
	}
	t.Until("a word of it in the log", func() bool { return suites.Logged(since, "throttled") > 0 })
	if n := suites.Logged(since, "throttled"); n != 1 {
		t.Errorf("%s: it is said %d times that hits are throttled", name, n)
	}
	if lost := p.maps[len(p.maps)-1].Lost(); len(p.maps) > 1 && lost == 0 {
		t.Errorf("%s: nothing is lost", name)
	}
}

// unthrottled: without a budget, the program runs at each hit.
func unthrottled(t *suites.T, name, text string) {
	p := load(t, text)
	defer p.close()
	l := p.attach(t, pkg+"square")
	hits := uint64(suites.Rounds(300, 10_000))
	for n := range hits {
		if square(n) != n*n {
			t.Errorf("%s: another result", name)
		}
	}
	l.Close()
	if a := p.explained(t, name, word(t, p.maps[0], key4(0))); a.Run+a.Recursion != hits || a.Hits != hits {
		t.Errorf("%s without a budget: %+v, %d calls", name, a, hits)
	}
}

// storm10000 hits the target 10,000 times and more on all CPUs, until the shell has answered and the
// program has run a few times, and returns how often the shell did.
func storm10000(t *suites.T, p *loaded) (answers int) {
	var calls atomic.Uint64
	var over atomic.Bool
	var wg sync.WaitGroup
	for range cpu.Num() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := uint64(0); !over.Load(); n++ {
				grow(3) // calls it four times, and can be preempted where it begins
				calls.Add(4)
			}
		}()
	}
	for begin := time.Now(); calls.Load() < 10_000 || answers == 0 || word(t, p.maps[0], key4(0)) < 16; {
		a, ran := p.Account(), word(t, p.maps[0], key4(0))
		if a.Unexplained != 0 || a.Run > ran+uint64(cpu.Num()) { // on each CPU, one may have begun
			t.Errorf("while hits come: %+v; it ran %d times", a, ran)
			break
		}
		var out strings.Builder
		if suites.Script(&out, "echo here"); out.String() == "here\n" {
			answers++
		}
		time.Sleep(time.Millisecond)
		if time.Since(begin) > suites.Limit {
			t.Errorf("%d calls in %v", calls.Load(), suites.Limit)
			break
		}
	}
	over.Store(true)
	wg.Wait()
	return answers
}
