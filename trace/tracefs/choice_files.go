package tracefs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/sysctl"
)

// setEventFile enables the events that are written to it, and lists those that are.
func (i *instance) setEventFile() vfs.Node {
	return file{
		read: func() string {
			var all []string
			for e, s := range i.states {
				if s.on {
					all = append(all, e.String()+"\n")
				}
			}
			slices.Sort(all)
			return strings.Join(all, "")
		},
		write: func(text string) error {
			for _, name := range strings.Fields(text) {
				rest, off := strings.CutPrefix(name, "!")
				if err := i.enableAll(rest, !off); err != nil {
					return err
				}
			}
			return nil
		},
		clear: func() error { return i.enableAll("*:*", false) },
	}
}

// enableAll enables the events that SYSTEM:EVENT, SYSTEM: or EVENT fits, or disables them.
func (i *instance) enableAll(pattern string, on bool) error {
	system, name, both := strings.Cut(pattern, ":")
	if !both {
		system, name = "*", pattern
	}
	if name == "" {
		name = "*"
	}
	var c change
	found := false
	for _, full := range eventNames() {
		sys, n, _ := strings.Cut(full, ":")
		if !kallsyms.Fits(system, sys) || !kallsyms.Fits(name, n) && (both || !kallsyms.Fits(name, sys)) {
			continue
		}
		found = true
		e := find(sys, n)
		if e == nil || i.states[e] == nil && !on {
			continue
		}
		if err := i.state(e).enable(&c, on); err != nil && !strings.Contains(pattern, "*") {
			return err
		}
	}
	c.complete()
	if !found {
		return refusal.New(syscall.EINVAL, "there is no event %s", sysctl.Quote(pattern))
	}
	return nil
}

// mostPIDs is how many processes a list can have.
const mostPIDs = 2048

// pidFile names processes whose events alone are recorded; or (not) are not.
func (i *instance) pidFile(not bool) vfs.Node {
	set := func(pids []int) error {
		old := i.pids[not]
		if i.pids[not] = pids; slices.Equal(old, pids) {
			return nil
		}
		defer i.fillPIDs()
		var c change
		for _, s := range i.states {
			if s.slot != 0 {
				if err := s.arm(&c); err != nil {
					i.pids[not] = old
					return err
				}
			}
		}
		c.complete()
		return nil
	}
	return file{
		read: func() string {
			var b strings.Builder
			for _, pid := range i.pids[not] {
				fmt.Fprintln(&b, pid)
			}
			return b.String()
		},
		write: func(text string) error {
			pids := slices.Clone(i.pids[not])
			for _, word := range strings.Fields(text) {
				pid, err := strconv.ParseUint(word, 10, 31)
				if err != nil {
					return refusal.New(syscall.EINVAL, "%s is not the number of a process", sysctl.Quote(word))
				}
				pids = append(pids, int(pid))
			}
			slices.Sort(pids)
			if pids = slices.Compact(pids); len(pids) > mostPIDs {
				return refusal.New(syscall.ENOSPC, "%d processes: give at most %d", len(pids), mostPIDs)
			}
			return set(pids)
		},
		clear: func() error { return set(nil) },
	}
}

// options are those that there are, with what they are at first.
var options = map[string]bool{"event-fork": false, "overwrite": true, "markers": true, "stacktrace": false}

func (i *instance) option(name string) bool {
	if on, ok := i.options[name]; ok {
		return on
	}
	return options[name]
}

// setOption switches an option. Called with mu held.
//
// Errors: EOPNOTSUPP there are no stacks of all events; and those of setFork.
func (i *instance) setOption(name string, on bool) (err error) {
	switch {
	case name == "event-fork":
		err = i.setFork(on)
	case name == "overwrite":
		i.Lock()
		i.keepsOldest = !on
		i.Unlock()
	case name == "stacktrace" && on:
		err = refusal.New(syscall.EOPNOTSUPP, "options/stacktrace: write stacktrace to the file trigger of an event")
	}
	if err == nil {
		i.options[name] = on
	}
	return err
}

func optionNames() (names []string) {
	for name := range options {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (i *instance) optionsFile() vfs.Node {
	return file{
		read: func() string {
			var b strings.Builder
			for _, name := range optionNames() {
				if !i.option(name) {
					b.WriteString("no")
				}
				b.WriteString(name + "\n")
			}
			return b.String()
		},
		write: func(text string) error {
			name := strings.TrimSpace(text)
			rest, off := strings.CutPrefix(name, "no")
			if off {
				name = rest
			}
			if _, ok := options[name]; !ok {
				return refusal.New(syscall.EINVAL, "there is no option %s", sysctl.Quote(name))
			}
			return i.setOption(name, !off)
		},
	}
}

func (i *instance) optionsFolder() vfs.Node {
	return folder(optionNames, func(name string) vfs.Node {
		if _, ok := options[name]; !ok {
			return nil
		}
		return onOff(func() bool { return i.option(name) }, func(on bool) error { return i.setOption(name, on) })
	})
}

func (i *instance) perCPUFolder() vfs.Node {
	return folder(func() (names []string) {
		for cpu := range numCPU() {
			names = append(names, fmt.Sprintf("cpu%d", cpu))
		}
		return names
	}, func(name string) vfs.Node {
		n, err := strconv.Atoi(strings.TrimPrefix(name, "cpu"))
		if err != nil || n < 0 || n >= numCPU() || name != fmt.Sprintf("cpu%d", n) {
			return nil
		}
		return fixed(map[string]vfs.Node{"trace": i.traceFile(n), "trace_pipe": i.pipeFile(n), "stats": file{read: func() string { return i.stats(n) }}, "buffer_size_kb": i.sizeFile(n)})
	})
}

// stats are a CPU's counts.
func (i *instance) stats(cpu int) string {
	i.Lock()
	defer i.Unlock()
	i.drain()
	var k kept
	if cpu < len(i.cpus) {
		k = i.cpus[cpu]
	}
	oldest, t := int64(0), now()
	if len(k.records) > 0 {
		oldest = k.records[0].when
	}
	return fmt.Sprintf("entries: %d\noverrun: %d\ncommit overrun: 0\nbytes: %d\noldest event ts: %5d.%06d\nnow ts: %5d.%06d\ndropped events: %d\nread events: %d\n",
		len(k.records), k.overrun, k.bytes, oldest/1e9, oldest%1e9/1e3, t/1e9, t%1e9/1e3, i.lost()+k.dropped, k.read)
}
