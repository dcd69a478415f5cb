//go:build tamago

package examples

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
	"sync/atomic"

	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/attach"
)

// funclatency: how long the calls of a function take, of the kernel or of programs, as a histogram of
// nanoseconds. It includes the time in which calls wait, and the cost of the probe.
//
//	insmod funclatency target=vfs.Read
//	cat /sys/kernel/debug/funclatency
//	rmmod funclatency
//	insmod funclatency target=/bin/myprog:myfunc
type funclatency struct {
	name   string // of the instance, and of the file
	target string
	active int
	link   *attach.Link
	took   [65]atomic.Uint64 // calls, by the bits of their duration: handlers may not lock
}

func init() {
	module.Register(&module.Module{
		Name: "funclatency",
		Doc:  "histogram of a function's duration: target=vfs.Read",
		New:  newFunclatency,
	})
}

func newFunclatency(name string) *module.Instance {
	l := &funclatency{name: name, target: "vfs.Read", active: 64}
	return &module.Instance{
		Params: module.Params{
			"target": module.String(&l.target, "function, or FILE:FUNCTION of a program").From(attach.TextFrom).Given(),
			"n":      module.Int(&l.active, "how many calls can be measured at the same time").Within(1, 100_000),
		},
		Init: l.init,
		Exit: l.exit,
	}
}

// entered notes when a call was entered, in its own data.
func (l *funclatency) entered(h *attach.Hit) bool {
	h.Data[0] = uint64(h.Time())
	return true
}

func (l *funclatency) returned(h *attach.Hit) {
	l.took[bits.Len64(uint64(h.Time())-h.Data[0])].Add(1)
}

func (l *funclatency) init() (err error) {
	o := &attach.Options{Entry: l.entered, Data: 1, Active: l.active}
	if l.link, err = attach.AttachTo(l.returned, o, "ret:"+l.target); err != nil {
		return err
	}
	if err = vfs.Bind(l.path(), ctl.Print(l.write)); err != nil {
		l.link.Close()
	}
	return err
}

// exit puts the histogram into the log.
func (l *funclatency) exit() {
	l.link.Close()
	vfs.Root.Unbind(l.path())
	var b strings.Builder
	l.write(&b)
	for line := range strings.Lines(b.String()) {
		printk.Info("%s: %s", l.name, strings.TrimSuffix(line, "\n"))
	}
}

func (l *funclatency) path() string { return "/sys/kernel/debug/" + l.name }

func (l *funclatency) write(w io.Writer) {
	calls := l.link.Ledger()
	fmt.Fprintf(w, "%s, ns: %d calls, %d missed, %d in progress\n", l.target, calls.Handled, calls.Missed(), calls.InFlight)
	for i := range l.took {
		if n := l.took[i].Load(); n > 0 {
			fmt.Fprintf(w, "%20d to %-20d %8d\n", uint64(1)<<i>>1, uint64(1)<<i-1, n)
		}
	}
}
