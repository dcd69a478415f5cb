package tracefs

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/sysctl"
)

// traceFile has what was recorded on a CPU, or on all (-1).
func (i *instance) traceFile(cpu int) vfs.Node {
	return traceNode{of: i, cpu: cpu}
}

// A traceNode is the file trace: its text is made without mu. Opening it with O_TRUNC clears it.
type traceNode struct {
	of  *instance
	cpu int
}

// Stat implements vfs.Node.
func (t traceNode) Stat() vfs.Info { return vfs.Info{Mode: 0644} }

// Open implements vfs.Opener.
//
// Errors: those of ctl.File's Open.
func (t traceNode) Open(flag int) (vfs.Handle, error) {
	if flag&os.O_TRUNC != 0 && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		t.of.clear(t.cpu)
	}
	read := func() ([]byte, error) {
		records, written := t.of.all(t.cpu)
		mu.Lock()
		defer mu.Unlock()
		return text(records, written), nil
	}
	return ctl.File{Read: read, Write: func([]byte) error { return nil }}.Open(flag)
}

func (i *instance) pipeFile(cpu int) vfs.Node {
	return ctl.Stream(func() (ctl.Feed, error) { return &pipe{of: i, cpu: cpu}, nil })
}

// sizeFile is how many KiB are kept of a CPU, or of each (-1).
func (i *instance) sizeFile(cpu int) file {
	return file{
		read: func() string {
			i.Lock()
			defer i.Unlock()
			if cpu < 0 && len(i.perCPU) > 0 {
				return "X\n"
			}
			return fmt.Sprintf("%d\n", i.sizeOf(cpu)>>10)
		},
		write: func(text string) error {
			n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
			if err != nil || n == 0 || n > mostSize {
				return refusal.New(syscall.EINVAL, "%s: give a number of KiB from 1 to %d", sysctl.Quote(text), mostSize)
			}
			return i.resize(cpu, int(n)<<10)
		},
	}
}

// mostSize is how many KiB of a CPU can be kept, and mostKept how many bytes of all CPUs in all instances.
const (
	mostSize = 64 << 10
	mostKept = 64 << 20
)

func (i *instance) totalSize() string { return fmt.Sprintf("%d\n", i.total()>>10) }

// clocks are Linux's names of the one that there is.
var clocks = []string{"local", "global", "uptime", "perf", "mono", "mono_raw", "boot"}

func (i *instance) clockFile() file {
	return file{
		read: func() string {
			all := slices.Clone(clocks)
			at := slices.Index(all, i.clock)
			all[at] = "[" + i.clock + "]"
			return strings.Join(all, " ") + "\n"
		},
		write: func(text string) error {
			name := strings.TrimSpace(text)
			if !slices.Contains(clocks, name) {
				return refusal.New(syscall.EINVAL, "there is no clock %s: there are %s", sysctl.Quote(text), strings.Join(clocks, " "))
			}
			i.clock = name
			i.clear(-1)
			return nil
		},
	}
}

const snapshotHelp = `# tracer: nop
#
# * Snapshot is %s *
#
# Snapshot commands:
# echo 0 > snapshot : Clears and frees snapshot buffer
# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.
#                      Takes a snapshot of the main buffer.
# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)
`

func (i *instance) snapshotFile() vfs.Node {
	return file{
		read: func() string {
			i.Lock()
			defer i.Unlock()
			if i.spare == nil {
				return fmt.Sprintf(snapshotHelp, "freed")
			}
			records, written := i.sorted(i.spare, -1)
			if len(records) == 0 {
				return fmt.Sprintf(snapshotHelp, "allocated")
			}
			return string(text(records, written))
		},
		write: func(text string) error {
			switch strings.TrimSpace(text) {
			case "0":
				i.snapshot(false)
			case "1":
				i.snapshot(true)
			default:
				i.Lock()
				defer i.Unlock()
				if i.spare != nil {
					i.spare = []kept{}
				}
			}
			return nil
		},
	}
}
