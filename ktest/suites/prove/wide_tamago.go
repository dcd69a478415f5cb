//go:build tamago

package prove

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/mm"
	"sonde/kernel/text"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/kprobes/machine"
	"sonde/ktest/suites"
)

// TourFile is the wide work, a line of the shell each. What a line prints and its status are
// compared. Of a line that begins with "~ " only the status is. A line that begins with "! "
// checks itself: its status must be 0, and it is done with breakpoints only. A case of ktest that fails
// is a note: many of them count breakpoints, or wait for a limited time, and no machine
// is slower than this. A line that begins with "- " names one of which the reason is known:
// it is not noted. Lines that begin with "#" are comments.
const TourFile = "/prove/tour"

// A toucher is a breakpoint that is removed when it has been hit often enough.
type toucher struct {
	k     kprobes.Kprobe // first: handlers are given its address
	addr  uintptr        // k's: that of one that has been removed is 0
	index int32          // in the list, from 1
	hits  atomic.Uint32
}

// ripe are the indices of those that have been hit often enough, in the order in which they
// came; ripes is how many. Set while there are no probes.
var (
	ripe  []atomic.Int32
	ripes atomic.Int32
)

// wide sets a breakpoint on all instructions of the functions of the range at once, and
// does the wide work once. What is executed often loses its breakpoint meanwhile: with all
// of them the work would take hours.
func (p *prover) wide(from, to int) {
	list, err := lines()
	if err != nil {
		p.finding("the wide work: %v", err)
		return
	}
	p.steps, p.next = append(all[:len(all):len(all)], list...), to
	moreSlots()
	p.want = p.tour("no probe", false)
	touchers := p.touchers(from, to)
	p.jumps(false)
	done := removing(touchers) // from now on: registering executes much with breakpoints, too
	set := p.breakAt(touchers)
	const what = "a breakpoint on each instruction"
	p.compare(what, p.tour(what, true))
	done()
	kprobes.UnregisterKprobes(pointers(set))
	p.jumps(true)
	p.touched(set)
}

// moreSlots gives most of the memory for probes to slots: usually most of it is for detours, of
// which there are few here.
func moreSlots() {
	slots := mm.Slots.Start + mm.SlotBytes/8
	machine.This.Detours = text.NewPool(mm.Slots.Start, slots, machine.DetourSize)
	machine.This.Slots = text.NewPool(slots, mm.Slots.End, machine.SlotSize)
}

// lines reads the wide work.
func lines() (list []step, err error) {
	mayFail := map[string]bool{}
	text, err := vfs.ReadFile(TourFile)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "- "); ok {
			mayFail[name] = true
			continue
		}
		list = append(list, step{line, func(w io.Writer) {
			switch run, rest, _ := strings.Cut(line, " "); run {
			case "~":
				fmt.Fprint(w, suites.Script(io.Discard, rest))
			case "!":
				checked(w, rest, mayFail)
			default:
				fmt.Fprint(w, suites.Script(w, line))
			}
		}})
	}
	return list, err
}

// checked runs a line that checks itself and writes what is wrong, nothing if all is well: the
// cases that fail, or the status if there are none.
func checked(w io.Writer, line string, mayFail map[string]bool) {
	var said strings.Builder
	status := suites.Script(&said, line)
	fails := 0
	for line := range strings.Lines(said.String()) {
		rest, failed := strings.CutPrefix(line, "FAIL ")
		if !failed {
			continue
		}
		fails++
		if name, _, _ := strings.Cut(rest, ":"); !mayFail[name] {
			io.WriteString(w, line)
		}
	}
	if status != 0 && fails == 0 {
		fmt.Fprintln(w, "status", status)
	}
}

// checksItself reports whether the result of s is known beforehand: it writes nothing.
func (s *step) checksItself() bool { return strings.HasPrefix(s.name, "! ") }

// tour does the steps, those that check themselves if that is asked for, and says where it is:
// one takes longer than the host waits for all of them. What fails is printed.
func (p *prover) tour(what string, whole bool) (results []result) {
	for i := range p.steps {
		s := &p.steps[i]
		p.at(p.next, what+": "+s.name)
		if !s.checksItself() {
			results = append(results, work(p.steps[i:i+1])...)
			continue
		}
		var said strings.Builder
		if whole {
			s.do(&said)
		}
		r := nothing()
		for line := range strings.Lines(said.String()) {
			if strings.HasPrefix(line, "FAIL ") {
				p.note(line)
				continue
			}
			p.finding("%s: %s", s.name, strings.TrimSpace(line))
			io.WriteString(&r, line)
		}
		results = append(results, r)
	}
	return results
}

// touchers makes a breakpoint for each instruction that can have one, but not in the tests: some cases
// copy code of their own to run it in ring 3 or to compare it, and breakpoints with it.
func (p *prover) touchers(from, to int) (list []*toucher) {
	refused := 0
	for _, fn := range within(probeable(), from, to) {
		if strings.HasPrefix(fn.Name, "sonde/ktest/suites") {
			continue
		}
		more, r := p.boundariesOf(fn)
		refused += r
		for _, b := range more {
			if _, err := kprobes.Describe("", b.Addr); err != nil {
				refused++
				continue
			}
			list = append(list, &toucher{k: kprobes.Kprobe{Addr: b.Addr, PreHandler: touch}, addr: b.Addr, index: int32(len(list)) + 1})
		}
	}
	p.count("refused", refused)
	return list
}

// breakAt registers the breakpoints and returns those that are there. That an instruction's operand
// is within reach of no slot is only known when it is to get one.
func (p *prover) breakAt(list []*toucher) (set []*toucher) {
	refused := 0
	for some := range slices.Chunk(list, 1000) {
		if kprobes.RegisterKprobes(pointers(some)) == nil {
			set = append(set, some...)
			continue
		}
		for _, t := range some {
			switch err := kprobes.RegisterKprobe(&t.k); {
			case err == nil:
				set = append(set, t)
			case errors.Is(err, syscall.EILSEQ):
				refused++
			default:
				p.finding("%d breakpoints at once: %v", len(set), err)
				return set
			}
		}
	}
	p.count("refused-when-registered", refused)
	return set
}

func pointers(list []*toucher) []*kprobes.Kprobe {
	ks := make([]*kprobes.Kprobe, len(list))
	for i, t := range list {
		ks[i] = &t.k
	}
	return ks
}

// removing removes what has been hit often enough until the function that it returns is
// called.
func removing(list []*toucher) (done func()) {
	ripe = make([]atomic.Int32, len(list)+1)
	ripes.Store(0)
	stop := make(chan struct{})
	var at int
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			var some []*kprobes.Kprobe
			for ; ripe[at].Load() != 0; at++ {
				some = append(some, &list[ripe[at].Load()-1].k)
			}
			if some != nil {
				kprobes.UnregisterKprobes(some)
			}
		}
	})
	return func() { close(stop); wg.Wait() }
}

// touched prints which instructions have been executed, and looks at the accounts.
func (p *prover) touched(list []*toucher) {
	var at []byte
	n, removed := 0, 0
	for _, t := range list {
		l := t.k.Ledger()
		p.account("a breakpoint at "+kallsyms.Where(uint64(t.addr)), l)
		if l.Entered == 0 {
			continue
		}
		if n++; t.hits.Load() >= enough {
			removed++
		}
		if at = strconv.AppendUint(append(at, ' '), uint64(t.addr), 16); len(at) > 60<<10 {
			fmt.Fprintf(p.out, "r%s\n", at)
			at = at[:0]
		}
	}
	fmt.Fprintf(p.out, "r%s\n", at)
	p.count("breakpoints", len(list))
	p.count("executed", n)
	p.count("removed-after-"+strconv.Itoa(enough)+"-hits", removed)
	p.count("lines-and-steps", len(p.steps))
}
