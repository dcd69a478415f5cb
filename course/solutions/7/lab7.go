//go:build tamago

// Package lab7 follows requests of programs into the kernel and back.
package lab7

import (
	"slices"
	"sync"
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/linux/proc"
	"sonde/probe/attach"
)

// followed are the functions of the kernel that belong to a request, and what they are called in its
// tree, with two spaces for each level.
var followed = []struct{ function, name string }{
	{"sonde/linux/syscall.write", "  write"},
	{"sonde/linux/syscall.read", "  read"},
	{"sonde/kernel/vfs.Write", "    vfs.Write"},
	{"sonde/kernel/vfs.Read", "    vfs.Read"},
	{"sonde/kernel/vfs/pipe.(*writeEnd).WriteAt", "      pipe"},
}

// A call is a line of a tree.
type call struct {
	what   int // index into followed
	result int64
	from   int64
	to     int64
}

// A request is a call of the program's function that has not returned. Only the thread that makes it
// changes it, except for thread, by which others look for theirs.
type request struct {
	thread atomic.Int64 // 0: free
	number int64
	from   int64
	calls  [32]call
	n      int
}

var (
	place    = "/bin/clerk:main.Letter"
	links    []*attach.Link
	requests [64]request
	printing sync.Mutex
)

func init() {
	module.Register(&module.Module{
		Name:   "lab7",
		Doc:    "follow requests of a program: place=/bin/clerk:main.Letter",
		Params: module.Params{"place": module.String(&place, "the function that is called for each request")},
		Init:   start,
		Exit:   stop,
	})
}

// of returns the request of a thread, nil if it has none.
func of(thread int64) *request {
	for i := range requests {
		if r := &requests[i]; r.thread.Load() == thread {
			return r
		}
	}
	return nil
}

// begins is called when the program's function is called. If the thread's last request has not ended, it
// never will.
func begins(h *attach.Hit) bool {
	me := int64(proc.Current().TID)
	r := of(me)
	for i := 0; r == nil && i < len(requests); i++ {
		if requests[i].thread.CompareAndSwap(0, me) {
			r = &requests[i]
		}
	}
	if r == nil {
		return false
	}
	r.number, r.n, r.from = int64(h.Regs.AX), 0, cpu.Nanotime()
	return true
}

// called is called in the kernel, where it must not allocate.
func called(h *attach.Hit) bool {
	t := proc.Interrupted(h.Regs)
	if t == nil {
		return false
	}
	r := of(int64(t.TID))
	if r == nil || r.n == len(r.calls) {
		return false
	}
	what := 0
	for what < len(followed) && followed[what].function != h.Place.Site.Symbol {
		what++
	}
	r.calls[r.n] = call{what: what, from: cpu.Nanotime()}
	h.Data[0] = uint64(r.n)
	r.n++
	return true
}

func returned(h *attach.Hit) {
	if r := of(int64(proc.Interrupted(h.Regs).TID)); r != nil {
		c := &r.calls[h.Data[0]]
		c.result, c.to = int64(h.Result()), cpu.Nanotime()
	}
}

// ends is called when the program's function returns.
func ends(h *attach.Hit) {
	now := cpu.Nanotime()
	t := proc.Current()
	r := of(int64(t.TID))
	if r == nil {
		return
	}
	printing.Lock()
	defer printing.Unlock()
	printk.Info("lab7: request %d of %s[%d], thread %d, %d bytes: 0 to %d ns", r.number, t.Process().Name(), t.Process().PID, t.TID, h.Result(), now-r.from)
	for _, c := range r.calls[:r.n] {
		printk.Info("lab7: %s %d: %d to %d ns", followed[c.what].name, c.result, c.from-r.from, c.to-r.from)
	}
	r.thread.Store(0)
}

func start() error {
	for i := range requests {
		requests[i].thread.Store(0)
	}
	var kernel []string
	for _, f := range followed {
		kernel = append(kernel, "ret:"+f.function)
	}
	err := follow(returned, &attach.Options{Entry: called, Data: 1}, kernel...)
	if err == nil {
		err = follow(ends, &attach.Options{Entry: begins, Block: true}, "ret:"+place)
	}
	if err != nil {
		stop()
	}
	return err
}

// follow attaches a handler to the returns of functions.
func follow(ends attach.Handler, o *attach.Options, places ...string) error {
	l, err := attach.AttachTo(ends, o, places...)
	if err == nil {
		links = append(links, l)
	}
	return err
}

func stop() {
	for _, l := range slices.Backward(links) {
		l.Close()
	}
	links = nil
}
