//go:build tamago

package prove

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/kprobes/machine"
	"sonde/optprobe"
)

// ErrUsage says that Run does not know the subcommand.
var ErrUsage = errors.New("prove: functions|boundaries|wide|blacklist FROM TO, boundaries FROM TO single, index NAME, together, map or count")

// A prover is one run of the command.
type prover struct {
	out   io.Writer
	steps []step
	want  []result // of the steps, without probes
	next  int      // where to continue if the machine ends

	perGroup int // instructions, see usual
}

// Run is the command prove.
//
// Context: goroutine; nothing else registers probes.
// Errors: ErrUsage.
func Run(out io.Writer, args []string) error {
	p := &prover{out: out, steps: steps, perGroup: usual}
	ranged := map[string]func(from, to int){"functions": p.functions, "boundaries": p.boundaries, "wide": p.wide, "blacklist": p.blacklist}
	if len(args) == 4 && args[0] == "boundaries" && args[3] == "single" {
		p.perGroup, args = 1, args[:3]
	}
	switch {
	case len(args) == 1 && args[0] == "count":
		p.count("functions", len(probeable()))
		p.count("blacklist", len(blacklisted()))
	case len(args) == 2 && args[0] == "index":
		p.count("index", slices.IndexFunc(probeable(), func(s kallsyms.Symbol) bool { return s.Name == args[1] }))
	case len(args) == 1 && args[0] == "map":
		p.drawMap()
	case len(args) == 1 && args[0] == "together":
		p.steps = all
		p.begin()
		p.together()
	case len(args) == 3 && ranged[args[0]] != nil:
		from, err1 := strconv.Atoi(args[1])
		to, err2 := strconv.Atoi(args[2])
		if err1 != nil || err2 != nil {
			return ErrUsage
		}
		if args[0] == "boundaries" {
			p.steps = all
		}
		if args[0] != "wide" {
			p.begin()
		}
		ranged[args[0]](from, to)
	default:
		return ErrUsage
	}
	fmt.Fprintln(out, "end")
	return nil
}

// begin does the work without probes, and checks that it gives the same result again.
func (p *prover) begin() {
	work(p.steps) // what is done only once is done now
	p.want = work(p.steps)
	p.same("no probe")
	all := nothing()
	for _, r := range p.want {
		fmt.Fprint(&all, r.sum)
	}
	fmt.Fprintf(p.out, "sum %016x\n", all.sum)
}

// same does the work and compares the result.
func (p *prover) same(what string) { p.compare(what, work(p.steps)) }

func (p *prover) finding(format string, args ...any) {
	fmt.Fprintf(p.out, "finding "+format+"\n", args...)
}

func (p *prover) note(text string)         { fmt.Fprintf(p.out, "note %s\n", strings.TrimSpace(text)) }
func (p *prover) count(name string, n int) { fmt.Fprintf(p.out, "count %s %d\n", name, n) }
func (p *prover) at(next int, what string) { fmt.Fprintf(p.out, "at %d %s\n", next, what) }

// probeable are the functions of the image that are not blacklisted, in order of
// address; blacklisted are the others.
func probeable() []kallsyms.Symbol   { return functions(false) }
func blacklisted() []kallsyms.Symbol { return functions(true) }

// functions takes one name of each: of two probes on one instruction, the second would be taken for
// the next hit.
func functions(black bool) (list []kallsyms.Symbol) {
	for s := range kallsyms.Kernel().Text {
		if s.Size == 0 || (machine.This.Blacklisted(s) != "") != black {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Addr == s.Addr {
			list = list[:n-1]
		}
		list = append(list, s)
	}
	return list
}

// within returns the part of list from from to to, as far as there is one.
func within(list []kallsyms.Symbol, from, to int) []kallsyms.Symbol {
	from, to = min(max(from, 0), len(list)), min(to, len(list))
	return list[from:max(from, to)]
}

// jumps allows probes to become jumps, or not. Those that exist become jumps at once.
func (p *prover) jumps(on bool) {
	if err := optprobe.Optimization.Store(on); err != nil {
		p.finding("the optimizer: %v", err)
	}
	if err := optprobe.Optimize(); err != nil {
		p.finding("the optimizer: %v", err)
	}
}

// account checks that no hit of l is lost, and no handler was abandoned.
func (p *prover) account(where string, l kprobes.Ledger) {
	if l.Abandoned != 0 {
		p.finding("%s: account %+v", where, l)
	}
	p.explained(where, l)
}

// explained checks that no hit of l is lost. The ledger of a return probe counts calls that never
// return as abandoned, such as those of functions that switch goroutines.
func (p *prover) explained(where string, l kprobes.Ledger) {
	if l.Unexplained() != 0 {
		p.finding("%s: account %+v, unexplained %d", where, l, l.Unexplained())
	}
}

// refusal is the name of the count for err.
func refusal(what string, err error) string {
	for e, name := range map[error]string{syscall.EILSEQ: "EILSEQ", syscall.EINVAL: "EINVAL", syscall.ENOMEM: "ENOMEM", syscall.EBUSY: "EBUSY"} {
		if errors.Is(err, e) {
			return what + "-" + name
		}
	}
	return what + "-otherwise"
}
