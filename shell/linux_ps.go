//go:build !nolinux

package shell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sonde/linux/proc"
)

// psPrograms lists the programs in a style; without one, if there are any. It reports whether it has.
func (c *Context) psPrograms(style string) (listed bool, err error) {
	var all []*proc.Process
	if t := TableOf(c.Machine); t != nil {
		all = t.Processes()
	}
	switch {
	case strings.Contains(style, "u"):
		return true, c.psTable(psUser, all)
	case strings.Contains(style, "f"):
		return true, c.psTable(psFull, all)
	case style != "":
		return true, c.psTable(psShort, all)
	case len(all) > 0:
		return true, c.psTable(psPlaces, all)
	}
	return false, nil
}

// psCPU is the CPU that runs p.
func (c *Context) psCPU(p *proc.Process) string {
	if c.Machine.Running == nil {
		return onCPU(-1)
	}
	return onCPU(slices.Index(c.Machine.Running(), p.PID))
}

// psStyle is a set of columns.
type psStyle struct {
	head string
	line func(c *Context, p *proc.Process) string
}

// The styles of procps, ps ax, ps aux and ps -ef, and one of our own with a column for the CPU of a
// running program.
var (
	psPlaces = psStyle{"    PID CPU TTY      STAT   TIME COMMAND", func(c *Context, p *proc.Process) string {
		s := int(psUsed(p) / time.Second)
		return fmt.Sprintf("%7d %3s %-8s %-4s %3d:%02d %s", p.PID, c.psCPU(p), psTerminal(p), psState(p), s/60, s%60, psCommandLine(p))
	}}
	psShort = psStyle{"    PID TTY      STAT   TIME COMMAND", func(_ *Context, p *proc.Process) string {
		s := int(psUsed(p) / time.Second)
		return fmt.Sprintf("%7d %-8s %-4s %3d:%02d %s", p.PID, psTerminal(p), psState(p), s/60, s%60, psCommandLine(p))
	}}
	psUser = psStyle{"USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND", func(c *Context, p *proc.Process) string {
		used := psUsed(p)
		s := int(used / time.Second)
		var size, resident uint64
		if m := p.Memory(); m != nil {
			u := m.Usage()
			size, resident = u.Total, u.Resident
		}
		share := 0.0
		if c.Machine.Memory != nil {
			share = 100 * float64(resident) / float64(max(c.Machine.Memory().Total, 1))
		}
		return fmt.Sprintf("%-8s %7d %4.1f %4.1f %6d %5d %-8s %-4s %-5s %3d:%02d %s", "root", p.PID, 100*psLoad(p, used), share,
			size>>10, resident>>10, psTerminal(p), psState(p), p.Began().Format("15:04"), s/60, s%60, psCommandLine(p))
	}}
	psFull = psStyle{"UID          PID    PPID  C STIME TTY          TIME CMD", func(_ *Context, p *proc.Process) string {
		used := psUsed(p)
		s := int(used / time.Second)
		return fmt.Sprintf("%-8s %7d %7d %2.0f %-5s %-8s %02d:%02d:%02d %s", "root", p.PID, p.Parent(), 100*psLoad(p, used),
			p.Began().Format("15:04"), psTerminal(p), s/3600, s/60%60, s%60, psCommandLine(p))
	}}
)

func (c *Context) psTable(style psStyle, all []*proc.Process) error {
	_, err := fmt.Fprintln(c.Out, style.head)
	for _, p := range all {
		if err == nil {
			_, err = fmt.Fprintln(c.Out, style.line(c, p))
		}
	}
	return err
}

// psUsed is the CPU time of p.
func psUsed(p *proc.Process) time.Duration {
	used, _ := p.Usage()
	return used.CPU()
}

// psLoad is the share of one CPU's time that p has used since its start.
func psLoad(p *proc.Process, used time.Duration) float64 {
	return float64(used) / float64(max(time.Since(p.Began()), time.Millisecond))
}

func psTerminal(p *proc.Process) string {
	if p.Terminal() == nil {
		return "?"
	}
	return "console"
}

// psState is the state of p and its flags: < and N are a nice value below and above 0, s is a
// session leader, l has several threads, + is in the terminal's foreground.
func psState(p *proc.Process) string {
	state := p.State()
	group, session := p.Group()
	switch nice := p.Facts().Nice; {
	case nice < 0:
		state += "<"
	case nice > 0:
		state += "N"
	}
	if session == p.PID {
		state += "s"
	}
	if len(p.Facts().Threads) > 1 {
		state += "l"
	}
	if t, ok := p.Terminal().(interface{ Foreground() int }); ok && t.Foreground() == group {
		state += "+"
	}
	return state
}

// psCommandLine is the command line, with a ? for each control character. A process that has ended
// has only its name.
func psCommandLine(p *proc.Process) string {
	line := strings.ReplaceAll(strings.TrimSuffix(p.CommandLine(), "\x00"), "\x00", " ")
	switch {
	case p.State() == "Z":
		line = "[" + p.Name() + "] <defunct>"
	case line == "":
		line = "[" + p.Name() + "]"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, line)
}
