// Package procfs puts /proc and /sys/kernel/debug into a tree of names, in
// the formats of Linux, so that what one knows from there works here.
//
// What the files hold comes from functions that the kernel gives in a
// Sources; a file whose function is missing is not made.
package procfs

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Sources are the facts behind /proc. All functions are called in goroutine
// context, whenever a file is opened.
type Sources struct {
	Version    func() string                   // one line
	Cmdline    func() string                   // one line
	Uptime     func() (up, idle time.Duration) // idle is summed over all CPUs
	Memory     func() Memory                   // for meminfo
	CPUs       func() []CPU                    // for cpuinfo
	Loadavg    func() Load                     // of the last 1, 5 and 15 minutes
	Interrupts func(w io.Writer)               // prints the whole file
	Kallsyms   func(w io.Writer)               // prints the whole file
	Extra      map[string]func(w io.Writer)    // further files by path below /proc
}

// Load is what /proc/loadavg shows.
type Load struct {
	Average        [3]float64
	Running, Total int // threads
	LastID         int
}

// Mount binds /proc and makes /sys/kernel/debug in a tree.
//
// Errors: EEXIST when something is there already (wrapped with the path).
func Mount(tree *vfs.FS, src Sources) error {
	files := map[string]vfs.Node{
		"modules": ctl.Text(module.ProcModules),
		"sys":     sysDir(""),
	}
	if f := src.Version; f != nil {
		files["version"] = ctl.Text(func() string { return f() + "\n" })
	}
	if f := src.Cmdline; f != nil {
		files["cmdline"] = ctl.Text(func() string { return f() + "\n" })
	}
	if f := src.Uptime; f != nil {
		files["uptime"] = ctl.Text(func() string { return uptime(f()) })
	}
	if f := src.Memory; f != nil {
		files["meminfo"] = ctl.Text(func() string { return f().meminfo() })
	}
	if f := src.CPUs; f != nil {
		files["cpuinfo"] = ctl.Text(func() string { return cpuinfo(f()) })
	}
	if f := src.Loadavg; f != nil {
		files["loadavg"] = ctl.Text(func() string { return f().loadavg() })
	}
	if f := src.Interrupts; f != nil {
		files["interrupts"] = ctl.Print(f)
	}
	if f := src.Kallsyms; f != nil {
		files["kallsyms"] = ctl.Print(f)
	}
	for name, f := range src.Extra {
		files[name] = ctl.Print(f)
	}
	for name, n := range files {
		if err := tree.Bind("/proc/"+name, n); err != nil {
			return err
		}
	}
	return tree.MkdirAll("/sys/kernel/debug", 0555)
}

// uptime is "12.34 40.00": seconds since boot and seconds idle.
func uptime(up, idle time.Duration) string {
	return hundredths(up) + " " + hundredths(idle) + "\n"
}

// hundredths writes a duration in seconds, cut to two places as in Linux.
func hundredths(d time.Duration) string {
	n := d / (10 * time.Millisecond)
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

func (l Load) loadavg() string {
	return fmt.Sprintf("%.2f %.2f %.2f %d/%d %d\n",
		l.Average[0], l.Average[1], l.Average[2], l.Running, l.Total, l.LastID)
}

// CPU is what is known of one processor.
type CPU struct {
	ID       int
	Vendor   string // "GenuineIntel"
	Model    string // the brand string
	Family   int
	ModelID  int
	Stepping int
	MHz      float64
	APICID   int
	Online   bool
	Flags    []string // Linux's names of the CPUID bits
}

// cpuinfo lists the processors that are online, one paragraph each.
func cpuinfo(cpus []CPU) string {
	var b strings.Builder
	for _, c := range cpus {
		if !c.Online {
			continue
		}
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n",
			c.ID, c.Vendor, c.Family, c.ModelID)
		fmt.Fprintf(&b, "model name\t: %s\nstepping\t: %d\ncpu MHz\t\t: %.3f\napicid\t\t: %d\nflags\t\t: %s\n\n",
			c.Model, c.Stepping, c.MHz, c.APICID, strings.Join(c.Flags, " "))
	}
	return b.String()
}

// Memory is what is known of the machine's memory, in bytes.
type Memory struct {
	Total uint64 // RAM the kernel may use
	Free  uint64 // given to nobody
	Heap  uint64 // Go objects in use
	Idle  uint64 // held by the Go heap but unused
	Stack uint64 // goroutine stacks
	Image uint64 // text and data of the kernel
	Lines []MemLine
}

// MemLine is a further line of /proc/meminfo.
type MemLine struct {
	Name  string
	Bytes uint64
}

// Available is what could be allocated without growing anything.
func (m Memory) Available() uint64 { return m.Free + m.Idle }

// meminfo writes the lines of Linux's /proc/meminfo that have a meaning here.
func (m Memory) meminfo() string {
	var b strings.Builder
	for _, l := range append([]MemLine{
		{"MemTotal", m.Total}, {"MemFree", m.Free}, {"MemAvailable", m.Available()},
		{"GoHeap", m.Heap}, {"GoHeapIdle", m.Idle}, {"KernelStack", m.Stack}, {"KernelImage", m.Image},
	}, m.Lines...) {
		fmt.Fprintf(&b, "%-15s %8d kB\n", l.Name+":", l.Bytes/1024)
	}
	return b.String()
}
