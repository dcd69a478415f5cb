//go:build tamago && !noprobe

package shell

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kwatch"
	"sonde/probe/attach"
)

var kwatchCommand = &Command{
	Name:    "kwatch",
	Usage:   "[-n COUNT] [-p PID] [w|rw|r|x]@[FILE:]SYMBOL[+OFFSET]|ADDRESS[:LENGTH] [COMMAND...]",
	Options: "+n:p:",
	Help:    "print what writes (w), accesses (rw), reads (r) or executes (x) a place: COUNT times, until ^C, or while a command runs; in a program, kwatch w@/bin/prog:counter prog",
	Run:     runKwatch,
	Complete: func(s *Shell, args []string) []string {
		return completeWatch(s, args[len(args)-1])
	},
}

// completeWatch completes the symbol after the @ of a place to be watched.
func completeWatch(s *Shell, word string) (words []string) {
	typ, name, at := strings.Cut(word, "@")
	if s.Symbols == nil || !at {
		return nil
	}
	for _, symbol := range s.Symbols(name) {
		words = append(words, typ+"@"+symbol)
	}
	return words
}

func runKwatch(c *Context, args []string) (err error) {
	if len(args) == 0 {
		return Usagef("give one place")
	}
	limit := int64(-1)
	if count, ok := c.Opts['n']; ok {
		if limit, err = strconv.ParseInt(count, 10, 64); err != nil || limit < 1 {
			return Usagef("%q is not a number of hits", count)
		}
	}
	place := args[0]
	if pid, ok := c.Opts['p']; ok {
		if err := notPID(pid); err != nil {
			return err
		}
		place = pid + ":" + place
	}
	w, pid, err := parseWatch(c, place)
	if err == nil && pid != 0 {
		err = w.findIn(c, pid)
	}
	if err != nil {
		return err
	}
	defer w.close()
	switch {
	case w.site.File != "" && w.program == nil:
		return w.along(c, args, limit)
	case len(args) == 1:
		return w.run(c.Out, c.Err, limit, c.Interrupt, nil)
	}
	out := &lockedWriter{w: c.Out} // the command and the hits print at the same time
	command, err := c.meanwhile("kwatch", args[1:], out)
	if err != nil {
		return err
	}
	return w.run(out, c.Err, limit, nil, command)
}

// meanwhile returns what runs a command of the shell while what is at work, and prints to out.
func (c *Context) meanwhile(what string, words []string, out io.Writer) (func() error, error) {
	cmd := c.Shell.commands[words[0]]
	if cmd == nil {
		return nil, fmt.Errorf("%s is not a command of this shell; to run a program meanwhile, start %s with & first", words[0], what)
	}
	both := *c
	both.Out = out
	return func() error { return guard(cmd, &both, words[1:]) }, nil
}

// during calls print in a goroutine of its own while do runs, and returns when both have. end is closed when do has.
func during(print func(end <-chan struct{}), do func() error) error {
	end, printed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(printed)
		print(end)
	}()
	err := do()
	close(end)
	<-printed
	return err
}

// findIn finds the place in a process.
func (w *watch) findIn(c *Context, pid int) error {
	p, err := c.programOf(pid)
	if err != nil {
		return err
	}
	return w.find(p)
}

// along runs a program whose variable is watched, from its first instruction on.
func (w *watch) along(c *Context, args []string, limit int64) error {
	if len(args) == 1 {
		return Usagef("%s is in a program: give the program and its arguments behind it, or -p PID", w.site)
	}
	q, err := kwatch.NewQueue()
	if err != nil {
		return err
	}
	reg, refused := -1, error(nil)
	both := *c
	both.Out = &lockedWriter{w: c.Out}
	err = during(func(end <-chan struct{}) { w.printHits(both.Out, q, limit, end) }, func() error {
		return w.alongProgram(&both, args[1:], func(p Program) {
			if refused = w.find(p); refused == nil {
				reg, refused = w.begin(q, c.Err)
			}
			if refused != nil {
				p.Send(abi.SIGKILL)
			}
		})
	})
	if refused != nil {
		return refused
	}
	if reg < 0 {
		return err
	}
	return errors.Join(err, w.end(q, reg, c.Err))
}

// lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// watch is the place that a kwatch command watches.
type watch struct {
	addr    uintptr
	length  int
	typ     kwatch.Type
	site    attach.Site
	program Program // whose memory it is; nil: the kernel's

	writer func(ip uint64) string // names an instruction of the program; nil: by its address
	close  func()
}

// register registers the watchpoint, with q for its hits.
func (w *watch) register(q kwatch.Queue) (reg int, where string, err error) {
	if w.program != nil {
		reg, err = w.registerInProgram(q)
		return reg, fmt.Sprintf("%#x of process %d", w.addr, w.program.PID()), err
	}
	reg, err = kwatch.RegisterKwatch(w.addr, w.length, w.typ, func(h *kwatch.Hit, _ *amd64.Regs) { q.Put(h) })
	return reg, kallsyms.Where(uint64(w.addr)), err
}

// parseWatch reads TYPE@PLACE[:LENGTH]. Without a length, as much is watched as fits the symbol.
func parseWatch(c *Context, s string) (w *watch, pid int, err error) {
	site, err := c.site(s, attach.Watch)
	if err != nil {
		return nil, 0, err
	}
	pid, site.PID = site.PID, 0
	w = &watch{typ: site.Access, site: site, close: func() {}}
	if site.File != "" {
		w.length = site.Length
		return w, pid, nil
	}
	w.addr, w.length, err = kwatch.At(site)
	return w, pid, err
}

// run prints hits to out until there have been limit hits, if that is not negative, or end is
// closed; if there is a command, until that has ended.
func (w *watch) run(out, errs io.Writer, limit int64, end <-chan struct{}, command func() error) error {
	q, err := kwatch.NewQueue()
	if err != nil {
		return err
	}
	reg, err := w.begin(q, errs)
	if err != nil {
		return err
	}
	if command != nil {
		err = during(func(end <-chan struct{}) { w.printHits(out, q, limit, end) }, command)
	} else {
		w.printHits(out, q, limit, w.until(end))
	}
	return errors.Join(err, w.end(q, reg, errs))
}

// begin registers the watchpoint, and says so.
func (w *watch) begin(q kwatch.Queue, errs io.Writer) (reg int, err error) {
	reg, where, err := w.register(q)
	if err == nil {
		fmt.Fprintf(errs, "kwatch: %s %s, length %d, in debug register %d\n", w.typ, where, w.length, reg)
		if text := kwatch.Unseen(w.typ); text != "" {
			fmt.Fprintf(errs, "kwatch: %s\n", text)
		}
	}
	return reg, err
}

// end unregisters the watchpoint, and says what was lost.
func (w *watch) end(q kwatch.Queue, reg int, errs io.Writer) error {
	err := kwatch.UnregisterKwatch(reg)
	if lost := q.Ledger().Lost; lost > 0 {
		fmt.Fprintf(errs, "kwatch: %d hits came faster than they could be printed\n", lost)
	}
	return err
}

// until returns a channel that is closed with end, or when the process ends.
func (w *watch) until(end <-chan struct{}) <-chan struct{} {
	if w.program == nil {
		return end
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-end:
		case <-w.program.Done():
		}
	}()
	return over
}

// printHits prints hits until there have been limit hits, or end is closed and none is left.
func (w *watch) printHits(out io.Writer, q kwatch.Queue, limit int64, end <-chan struct{}) {
	over := false
	for n := int64(0); n != limit; {
		h, ok := q.Next()
		switch {
		case ok:
			fmt.Fprintln(out, w.hitLine(&h))
			n++
		case over:
			return
		default: // when the end is seen, a hit may have come since the last look
			over = poll.Until(q, poll.In, end) != nil
		}
	}
}

// hitLine formats a hit: values, function, source, goroutine, CPU.
func (w *watch) hitLine(h *kwatch.Hit) string {
	var b strings.Builder
	at := h.IP
	if h.Type != kwatch.Execute {
		fmt.Fprintf(&b, "%#x → %#x  ", h.Old, h.New)
		at = kwatch.Accessor(h.IP)
	}
	if h.TID != 0 {
		who := fmt.Sprintf("before ip %#x", h.IP)
		switch {
		case w.writer == nil:
		case h.Type == kwatch.Execute: // IP is that of the instruction, not after it
			who = w.writer(uint64(h.IP) + 1)
		default:
			who = w.writer(uint64(h.IP))
		}
		fmt.Fprintf(&b, "%s  thread %d", who, h.TID)
		return b.String()
	}
	fmt.Fprintf(&b, "%s  %s", kallsyms.Where(uint64(at)), source(at))
	if h.Goid != 0 {
		fmt.Fprintf(&b, "  goroutine %d", h.Goid)
	}
	fmt.Fprintf(&b, "  CPU %d", h.CPU)
	return b.String()
}

// source is the source line of the instruction at pc. If it was inlined, as an atomic store is,
// this is the nearest preceding line of the function itself.
func source(pc uintptr) string {
	name, off, _, ok := kallsyms.Lookup(uint64(pc))
	if fn := runtime.FuncForPC(pc); !ok || fn == nil {
		return "?"
	}
	at := pc
	for at > pc-uintptr(off) && runtime.FuncForPC(at).Name() != name {
		at--
	}
	file, line := runtime.FuncForPC(at).FileLine(at)
	return fmt.Sprintf("%s:%d", strings.TrimPrefix(file, "sonde/"), line)
}
