package perf

import (
	"strconv"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
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

// Mount makes them.
//
// Errors: those of FS.BindAll.
func Mount(tree *vfs.FS) error {
	files := map[string]vfs.Node{}
	for name, d := range devices {
		files[name+"/type"] = line(strconv.Itoa(d.number))
		for bit, where := range d.format {
			files[name+"/format/"+bit] = line(where)
		}
	}
	return tree.BindAll(Dir, files)
}

func line(s string) vfs.Node { return ctl.Text(func() string { return s + "\n" }) }
