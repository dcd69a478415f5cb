package perf

import (
	"errors"
	"strconv"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/probe/event"
	"sonde/sysctl"
)

// devices are the types of events that have a name, with the bits of config that have one.
//
// Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
var devices = map[string]struct {
	number int
	format map[string]string
}{
	"software":   {software, nil},
	"tracepoint": {tracepoint, nil},
	"breakpoint": {breakpoint, nil},
	"kprobe":     {kprobe, map[string]string{"retprobe": "config:0"}},
	"uprobe":     {uprobe, map[string]string{"retprobe": "config:0"}},
}

// Dir is where the files about types of events are.
const Dir = "/sys/bus/event_source/devices"

// Mount makes them, and what tools open in tracefs besides.
//
// Errors: those of FS.BindAll and FS.Bind.
func Mount(tree *vfs.FS) error {
	files := map[string]vfs.Node{}
	for name, d := range devices {
		files[name+"/type"] = line(strconv.Itoa(d.number))
		for bit, where := range d.format {
			files[name+"/format/"+bit] = line(where)
		}
	}
	err := tree.BindAll(Dir, files)
	for _, name := range []string{"kprobe_events", "uprobe_events"} {
		err = errors.Join(err, event.Bind(tree, name, eventsFile(name)))
	}
	return err
}

// eventsFile is where tools look whether an event that they have made is left, when they end. Nothing is made
// here: perf_event_open has all that these files could make.
func eventsFile(name string) vfs.Node {
	return ctl.File{
		Read: func() ([]byte, error) { return nil, nil },
		Write: func(p []byte) error {
			return refusal.New(syscall.EOPNOTSUPP, "%s: %s: there are no events of this kind; perf_event_open probes functions", name, sysctl.Quote(string(p)))
		},
	}
}

func line(s string) vfs.Node { return ctl.Text(func() string { return s + "\n" }) }
