package tracefs

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/sysctl"
)

// A file is a control file whose text the functions read and write with mu held; clear is called when it is opened for
// writing with O_TRUNC.
type file struct {
	read  func() string
	write func(text string) error
	clear func() error
}

func (f file) ctl() ctl.File {
	var c ctl.File
	if f.read != nil {
		c.Read = func() ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			return []byte(f.read()), nil
		}
	}
	if f.write != nil {
		c.Write = func(p []byte) error {
			mu.Lock()
			defer mu.Unlock()
			return f.write(string(p))
		}
	}
	return c
}

// Stat implements vfs.Node.
func (f file) Stat() vfs.Info {
	return f.ctl().Stat()
}

// Open implements vfs.Opener.
//
// Errors: those of clear and of ctl.File's Open.
func (f file) Open(flag int) (vfs.Handle, error) {
	if f.clear != nil && flag&os.O_TRUNC != 0 && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		mu.Lock()
		err := f.clear()
		mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return f.ctl().Open(flag)
}

// folder is a folder with names, and nodes that are made when they are looked up. The functions are called with mu held.
func folder(list func() []string, node func(name string) vfs.Node) ctl.Dir {
	return ctl.Dir{
		Perm: 0755,
		List: func() []string {
			mu.Lock()
			defer mu.Unlock()
			return list()
		},
		Node: func(name string) vfs.Node {
			mu.Lock()
			defer mu.Unlock()
			return node(name)
		}}
}

// fixed is a folder whose nodes are always there.
func fixed(nodes map[string]vfs.Node) ctl.Dir {
	d := ctl.Fixed(nodes)
	d.Perm = 0755
	return d
}

// onOff is a file of 1 or 0.
func onOff(get func() bool, set func(on bool) error) file {
	f := ctl.Switch(get, set)
	return file{
		read:  func() string { text, _ := f.Read(); return string(text) },
		write: func(text string) error { return f.Write([]byte(text)) },
	}
}

// dir is an instance's folder; the first one has also the files that are there once.
func (i *instance) dir() vfs.Directory {
	nodes := map[string]vfs.Node{
		"tracing_on":            onOff(i.tracing, func(on bool) error { i.setTracing(on); return nil }),
		"trace":                 i.traceFile(-1),
		"trace_pipe":            i.pipeFile(-1),
		"trace_marker":          file{write: i.mark},
		"buffer_size_kb":        i.sizeFile(-1),
		"buffer_total_size_kb":  file{read: i.totalSize},
		"trace_clock":           i.clockFile(),
		"current_tracer":        file{read: func() string { return "nop\n" }, write: setTracer},
		"available_tracers":     file{read: func() string { return "nop\n" }},
		"snapshot":              i.snapshotFile(),
		"set_event":             i.setEventFile(),
		"set_event_pid":         i.pidFile(false),
		"set_event_notrace_pid": i.pidFile(true),
		"error_log":             file{read: func() string { return strings.Join(i.errors, "") }, write: func(string) error { return nil }, clear: func() error { i.errors = nil; return nil }},
		"trace_options":         i.optionsFile(),
		"options":               i.optionsFolder(),
		"per_cpu":               i.perCPUFolder(),
		"events":                i.eventsFolder(),
	}
	if i == top {
		for name, n := range map[string]vfs.Node{
			"README":                     file{read: func() string { return readme }},
			"available_events":           file{read: func() string { return strings.Join(eventNames(), "\n") + "\n" }},
			"available_filter_functions": ctl.Print(writeFunctions),
			"kprobe_events":              kprobeTable.file(),
			"uprobe_events":              uprobeTable.file(),
			"dynamic_events":             dynamicTable.file(),
			"kprobe_profile":             file{read: kprobeTable.profile},
			"uprobe_profile":             file{read: uprobeTable.profile},
			"saved_cmdlines":             file{read: func() string { return "" }},
			"printk_formats":             file{read: func() string { return "" }},
			"instances":                  instancesDir(),
		} {
			nodes[name] = n
		}
	}
	return fixed(nodes)
}

func (t table) file() vfs.Node { return file{t.String, t.write, t.clear} }

// profile says how often the probes of events were hit, and how often that was missed.
func (t table) profile() string {
	var b strings.Builder
	for _, e := range made {
		if !t.lists(e) {
			continue
		}
		hits, missed := e.past, e.missed
		for _, i := range instances() {
			if s := i.states[e]; s != nil {
				for _, l := range s.links {
					led := l.Ledger()
					hits, missed = hits+led.Handled, missed+led.Entered-led.Handled
				}
			}
		}
		if t.user {
			fmt.Fprintf(&b, "  %s %-44s %15d\n", e.probes[0].site.File, e.name, hits)
		} else {
			fmt.Fprintf(&b, "  %-44s %15d %15d\n", e.name, hits, missed)
		}
	}
	return b.String()
}

func setTracer(name string) error {
	if strings.TrimSpace(name) != "nop" {
		return refusal.New(syscall.EINVAL, "there is no tracer %s: there is nop", sysctl.Quote(name))
	}
	return nil
}
