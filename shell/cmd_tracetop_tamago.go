//go:build tamago && !noprobe

package shell

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sonde/kernel/cpu"
	"sonde/probe/program"
)

var tracetopCommand = &Command{
	Name:    "tracetop",
	Usage:   "[-n COUNT] [-d SECONDS]",
	Options: "n:d:", Alone: true,
	Help: "print every second what eBPF programs cost: hits per second, ns per hit, share of each CPU; COUNT times or until ^C",
	Run:  runTracetop,
}

func runTracetop(c *Context, _ []string) (err error) {
	count, every := 0, 1.0
	if text, ok := c.Opts['n']; ok {
		if count, err = strconv.Atoi(text); err != nil || count < 1 {
			return Usagef("%q is not a count", text)
		}
	}
	if text, ok := c.Opts['d']; ok {
		if every, err = strconv.ParseFloat(text, 64); err != nil || !(every >= 0.1 && every <= 3600) {
			return Usagef("%q is not a number of seconds from 0.1 to 3600", text)
		}
	}
	if c.Interrupt == nil && count == 0 {
		return Usagef("give -n COUNT: without a terminal, nobody can type ^C")
	}
	top := &tracetop{watched: map[*program.Prog]func(){}}
	defer top.stop()
	tick := time.NewTicker(time.Duration(every * float64(time.Second)))
	defer tick.Stop()
	before := top.look()
	for n := 0; n == 0 || n != count; n++ {
		select {
		case <-tick.C:
		case <-c.Interrupt:
			return Status(statusInterrupted)
		}
		now := top.look()
		if err := now.print(c.Out, before); err != nil {
			return err
		}
		before = now
	}
	return nil
}

// tracetop has all programs metered that there are while it runs.
type tracetop struct {
	watched map[*program.Prog]func()
}

func (t *tracetop) stop() {
	for _, stop := range t.watched {
		stop()
	}
}

// A costs is what programs and places have counted until a time.
type costs struct {
	at       time.Time
	programs []*program.Prog
	cost     map[*program.Prog][]program.Cost
	hits     map[string]uint64 // by program and place
}

// look begins to meter programs that are new, and reads all counts.
func (t *tracetop) look() *costs {
	c := &costs{at: time.Now(), cost: map[*program.Prog][]program.Cost{}, hits: map[string]uint64{}}
	for _, p := range program.Programs() {
		if t.watched[p] == nil {
			stop, err := p.Watch()
			if err != nil {
				continue // it has just gone
			}
			t.watched[p] = stop
		}
		c.programs, c.cost[p] = append(c.programs, p), p.Costs()
		for _, l := range p.Links() {
			for _, at := range l.Places() {
				c.hits[placeKey(p, l, at.Where)] = at.Ledger.Entered
			}
		}
	}
	return c
}

func placeKey(p *program.Prog, l *program.Link, where string) string {
	return fmt.Sprint(p.ID, " ", l.ID, " ", where)
}

// print prints what came since before.
func (c *costs) print(out io.Writer, before *costs) error {
	seconds := c.at.Sub(before.at).Seconds()
	var head strings.Builder
	for i := range cpu.Num() {
		fmt.Fprintf(&head, " %6s", fmt.Sprintf("CPU%d", i))
	}
	fmt.Fprintf(out, "%5s %-15s %10s %8s %11s%s\n", "ID", "PROGRAM", "HITS/S", "NS/HIT", "THROTTLED/S", head.String())
	for _, p := range c.programs {
		sum, shares := program.Cost{}, ""
		for i, cost := range c.cost[p] {
			if was := before.cost[p]; i < len(was) {
				cost = cost.Less(was[i])
			}
			sum = sum.Plus(cost)
			shares += fmt.Sprintf(" %5.1f%%", 100*cost.PerHit()*float64(cost.Entered)/1e9/seconds)
		}
		fmt.Fprintf(out, "%5d %-15s %10.0f %8.0f %11.0f%s\n", p.ID, p.Checked.Program.Name, float64(sum.Entered+sum.Throttled)/seconds, sum.PerHit(), float64(sum.Throttled)/seconds, shares)
		if err := c.printPlaces(out, p, before, seconds); err != nil {
			return err
		}
	}
	return nil
}

// printPlaces prints how often each of a program's places was hit.
func (c *costs) printPlaces(out io.Writer, p *program.Prog, before *costs, seconds float64) (err error) {
	for _, l := range p.Links() {
		places := l.Places()
		for _, at := range places[:min(len(places), listed)] {
			key := placeKey(p, l, at.Where)
			_, err = fmt.Fprintf(out, "      %-15s %10.0f %s\n", "", float64(c.hits[key]-before.hits[key])/seconds, at.Where)
		}
		if n := len(places) - listed; n > 0 {
			_, err = fmt.Fprintf(out, "      %d more places\n", n)
		}
	}
	return err
}
