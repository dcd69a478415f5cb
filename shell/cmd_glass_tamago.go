//go:build tamago && !noprobe

package shell

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/cpu"
	"sonde/kernel/refusal"
	"sonde/probe/attach"
	"sonde/probe/attach/quote"
	"sonde/shell/coreutils"
	"sonde/shell/replay"
)

var glassCommand = &Command{
	Name:  "glass",
	Usage: "[-t int3|boost|step|jump|return|jprobe|goroutine] [-n HIT] [-w] [-c CPU] [-s|-j] PLACE|PROGRAM:PLACE|[w|rw|r|x]@PLACE [COMMAND...] | -o [-s|-j] PLACE",
	Help:  "record the second hit of a place or a watchpoint, and show each transition (-n: that hit, -t: of a probe of that kind, -w: until the code continues, -c: on that CPU, -s: short enough for a slide, -j: as JSON; w@, rw@, r@, x@: a watchpoint, PID:w@ADDRESS in a process); -o: show how a probe becomes a jump",
	Run:   runGlass,
	Complete: func(s *Shell, args []string) []string {
		if word := args[len(args)-1]; strings.Contains(word, "@") {
			return completeWatch(s, word)
		} else if s.Symbols != nil {
			return s.Symbols(word)
		}
		return nil
	},
}

func runGlass(c *Context, args []string) error {
	g, err := parseGlass(args)
	if err != nil {
		return err
	}
	g.request.Site = g.request.Site.From(c.Shell.dir)
	if g.way {
		w, err := replay.RecordWay(g.request.Site)
		if err != nil {
			return err
		}
		return g.print(w, c)
	}
	var run func() error
	if len(g.command) > 0 {
		if run, err = c.meanwhile("glass", g.command, c.Err); err != nil { // the recording comes alone
			return err
		}
	}
	g.request.Armed = func() { fmt.Fprintf(c.Err, "glass: %s\n", g.awaits()) }
	users, stop := userNames(c.Machine)
	defer stop()
	if users != nil {
		g.request.Users = users.Name
	}
	rec, err := g.request.Record(run, c.Interrupt)
	if rec != nil {
		err = errors.Join(err, g.print(rec, c))
	}
	return err
}

// awaits says what the recording waits for.
func (g *glassLine) awaits() string {
	which := "the next hit"
	if n := g.request.Hit; n > 1 {
		which = fmt.Sprintf("hit %d", n)
	}
	return fmt.Sprintf("waiting for %s of %s; ^C ends it", which, g.request.Site)
}

// A glassLine is what stands after the word glass.
type glassLine struct {
	request     replay.Request
	slide, json bool
	way         bool // -o
	command     []string
}

// parseGlass reads the arguments of the command.
//
// Errors: coreutils.ErrUsage, and those of attach.ParseSiteOf.
func parseGlass(args []string) (g glassLine, err error) {
	opts, args, err := coreutils.Options(args, "+t:n:c:wsjo")
	if err != nil {
		return g, err
	}
	if len(args) == 0 {
		return g, Usagef("give one place")
	}
	g.command = args[1:]
	g.slide, g.json = opts.Given('s'), opts.Given('j')
	if g.way = opts.Given('o'); g.way && (len(opts) > 2 || len(opts) == 2 && !g.slide && !g.json || len(g.command) > 0) {
		return g, Usagef("-o takes only -s or -j, and a place")
	}
	q := &g.request
	q.Hit, q.CPU, q.Witness = 2, -1, opts.Given('w')
	if n, ok := opts['n']; ok {
		if q.Hit, err = strconv.ParseUint(n, 10, 62); err != nil || q.Hit == 0 {
			return g, Usagef("%q is not the number of a hit", n)
		}
	}
	if n, ok := opts['c']; ok {
		if q.CPU, err = strconv.Atoi(n); err != nil || q.CPU < 0 || q.CPU >= cpu.Num() {
			return g, Usagef("%q is not a CPU; there are %d", n, cpu.Num())
		}
	}
	if t, ok := opts['t']; ok {
		if q.Tier, err = replay.ParseTier(t); err != nil {
			return g, err
		}
	}
	q.Site, err = attach.ParseSiteOf(args[0], attach.Kernel, attach.Program, attach.Line, attach.Inline, attach.Watch)
	return g, err
}

// recorded is a hit, or how a probe becomes a jump.
type recorded interface {
	WriteText(io.Writer) error
	WriteSlide(io.Writer) error
	WriteJSON(io.Writer) error
}

// print prints rec in the form that was asked for.
func (g *glassLine) print(rec recorded, c *Context) error {
	switch {
	case g.json:
		return rec.WriteJSON(c.Out)
	case g.slide:
		return rec.WriteSlide(c.Out)
	}
	return rec.WriteText(c.Out)
}

// GlassRequest reads a line that is written to /sys/kernel/debug/glass/new: what stands after the word
// glass, without -s, -j and a command.
//
// Errors: EINVAL, with what is wrong.
func GlassRequest(line string) (replay.Request, error) {
	words := slices.DeleteFunc(quote.Split(line, " \t\r\n", 0), func(word string) bool { return word == "" })
	g, err := parseGlass(words)
	switch {
	case errors.Is(err, coreutils.ErrUsage):
		return g.request, refusal.New(syscall.EINVAL, "glass: %v; write [-t TIER] [-n HIT] [-w] [-c CPU] PLACE", err)
	case err != nil:
		return g.request, err
	case g.slide || g.json || g.way || len(g.command) > 0:
		return g.request, refusal.New(syscall.EINVAL, "glass: the file of a recording is JSON, and no command runs meanwhile; write [-t TIER] [-n HIT] [-w] [-c CPU] PLACE")
	}
	return g.request, nil
}
