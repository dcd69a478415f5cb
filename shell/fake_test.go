package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/procfs"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/sysctl"
)

var (
	symbol = "vfs.Read"
	_      = sysctl.NewBool("debug.kprobes-optimization", true, "Turn kprobes optimization on and off.")
	_      = sysctl.NewRange("kernel.panic", 5, 0, 60, "Seconds from a panic to a reboot.")
)

// TestMain mounts the files that commands read.
func TestMain(m *testing.M) {
	module.Register(&module.Module{
		Name: "kprobe_example", Doc: "plants a probe",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   func() error { printk.Info("planted kprobe at %s", symbol); return nil },
		Exit:   func() { printk.Info("kprobe at %s unregistered", symbol) },
	})
	err := procfs.Mount(vfs.Root, procfs.Sources{
		Version: func() string { return "sonde version test" },
		Uptime:  fakeUptime,
	})
	if err == nil {
		err = vfs.Bind("/sys/kernel/debug/kprobes/enabled", ctl.File{
			Write: func(p []byte) error {
				if string(p) != "0" && string(p) != "1" {
					return syscall.EINVAL
				}
				printk.Info("enabled gets %q", p)
				return nil
			},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func fakeUptime() (up, idle time.Duration) {
	return 3*time.Hour + 25*time.Minute, 5 * time.Hour
}

// fakeMachine is a machine with two processors, of which one is online.
func fakeMachine() *Machine {
	return &Machine{
		Uname:  func() Uname { return Uname{"sonde", "probe", "0.1", "#1 SMP", "x86_64"} },
		Uptime: func() time.Duration { up, _ := fakeUptime(); return up },
		Now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		CPUs: func() []procfs.CPU {
			return []procfs.CPU{{Vendor: "GenuineIntel", Model: "QEMU Virtual CPU", Family: 15, MHz: 2400, Online: true,
				Flags: []string{"fpu", "tsc"}}, {ID: 1}}
		},
		Memory: func() procfs.Memory {
			return procfs.Memory{Total: 128 << 20, Free: 100 << 20, Heap: 3 << 19, Idle: 1 << 20, Stack: 64 << 10, Frames: 2 << 20}
		},
		Load: func() procfs.Load { return procfs.Load{Average: [3]float64{0.5, 0.25, 0}} },
		Tasks: func() []Task {
			return []Task{{1, "init", "R", 0, time.Hour, ""}, {2, "rcu", "S", -1, 61 * time.Second, "select"}}
		},
		Reboot: func() error { return errors.New("the keyboard controller does not answer") },
	}
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// run runs a script in a new shell.
func runScript(script string) (out string, status int) {
	var b buffer // commands of a pipeline write at the same time
	status = New(fakeMachine(), &b).Run(script)
	return b.String(), status
}
