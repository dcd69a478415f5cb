//go:build tamago

package examples

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/attach"
	"sonde/probe/attach/quote"
)

// The target of a ready-made module is a function of the kernel or of a program, in all
// processes that run its file: target=/bin/myprog:myfunc. Handlers of a program's probes
// run in the thread that hit the probe, and may lock and allocate.

// siteOf reads a target.
//
// Errors: those of attach.ParseSite; EINVAL it is no function.
func siteOf(target string) (attach.Site, error) {
	s, err := attach.ParseSiteOf(target, attach.Kernel, attach.Program)
	if err == nil && (s.Symbol == "" || s.Offset != 0 || s.Return || s.PID != 0) {
		err = refusal.New(syscall.EINVAL, "%s is no function; give one, as in target=vfs.Read", target)
	}
	return s, err
}

// bare returns a name without the quotes that lists have around some.
func bare(_, name string) string {
	if value, rest, quoted := quote.Prefix(name); quoted && rest == "" {
		return value
	}
	return name
}

// Bounds of the parameters of the ready-made modules: seconds, and lines or calls.
const (
	maxInterval = 24 * 60 * 60
	maxShown    = 100_000
	maxPid      = 1 << 22 // Linux's greatest pid_max
)

// ready is what the ready-made modules have in common: a target, to which they are attached, and a file
// that shows what they have counted.
type ready struct {
	name     string // of the instance, and of the file
	target   string
	interval int
	link     *attach.Link
	show     *ctl.Show
}

// instance makes an instance that begins with init, with its own parameters and those that all have.
// read reads a target, of which doc says what it may be.
func (r *ready) instance(doc string, read func(string) (attach.Site, error), own module.Params, init func(at attach.Site) error) *module.Instance {
	own["target"] = module.String(&r.target, doc).From(attach.TextFrom).Valid(func(target string) error {
		if target == "" {
			return errors.New("it is empty; give the function, as in target=vfs.Read")
		}
		_, err := read(target)
		return err
	})
	own["interval"] = module.Int(&r.interval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval)
	return &module.Instance{
		Params: own,
		Init: func() error {
			if r.target == "" {
				return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
			}
			at, err := read(r.target)
			if err != nil {
				return err
			}
			return init(at)
		},
		Exit: func() {
			r.link.Close()
			r.show.End()
		},
	}
}

// start attaches f to sites, and shows what write writes.
func (r *ready) start(f attach.Handler, o *attach.Options, write func(io.Writer), sites ...attach.Site) (err error) {
	if r.link, err = attach.Attach(sites, f, o); err != nil {
		return err
	}
	return r.shown(write, nil)
}

// shown shows what write writes, unless err says that what it was attached to will not do; then it is no more.
func (r *ready) shown(write func(io.Writer), err error) error {
	if err == nil {
		r.show, err = ctl.NewShow(r.name, time.Duration(r.interval)*time.Second, write)
	}
	if err != nil {
		r.link.Close()
	}
	return err
}

// some writes a number of things: "1 call", "2 calls".
func some[N int | uint64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// programs is what the modules ask of programs; nil: this kernel runs none.
var programs interface {
	// stack returns the functions that a hit is in, the innermost first.
	stack(r *amd64.Regs) []string
}
