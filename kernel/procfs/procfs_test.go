package procfs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"sonde/kernel/vfs"
	"sonde/sysctl"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var optimization = sysctl.NewBool("debug.kprobes-optimization", true, "turn optimization on and off")

var _ = sysctl.NewInt("kernel.panic", 5, "seconds to reboot")

func mount(t *testing.T) *vfs.FS {
	t.Helper()
	f := vfs.New()
	err := Mount(f, Sources{
		Version: func() string { return "sonde version 0.1 (go1.26)" },
		Cmdline: func() string { return "console=ttyS0" },
		Uptime:  func() (time.Duration, time.Duration) { return 12349 * time.Millisecond, 40 * time.Second },
		Memory: func() Memory {
			return Memory{Total: 128 << 20, Free: 64 << 20, Heap: 1 << 20, Idle: 1 << 20, Stack: 64 << 10, Image: 5 << 20, Frames: 3 << 20, Files: 1 << 20,
				Lines: []MemLine{{"ProbeSlots", 4096}}}
		},
		CPUs: func() []CPU {
			return []CPU{{ID: 0, Vendor: "GenuineIntel", Model: "QEMU Virtual CPU version 2.5+", Family: 15, ModelID: 107,
				Stepping: 1, MHz: 2400.5, Online: true, Flags: []string{"fpu", "tsc"}}, {ID: 1}}
		},
		Interrupts: func() []Interrupt {
			return []Interrupt{{Name: "4", Counts: []uint64{17, 0}, Chip: "IO-APIC", Pin: 4, What: "ttyS0"}, {Name: "LOC", Counts: []uint64{0, 12345678901}, What: "Local timer interrupts"},
				{Name: "#BP", Counts: []uint64{2, 0}, What: "breakpoint"}}
		},
		Iomem:   func(w io.Writer) { fmt.Fprintln(w, "00100000-07fdbfff : System RAM") },
		Ioports: func(w io.Writer) { fmt.Fprintln(w, "03f8-03ff : serial") },
		Loadavg: func() Load { return Load{[3]float64{0.5, 0.25, 0.125}, 1, 12, 99} },
		Stat: func() Stat {
			return Stat{Up: 10 * time.Second, Idle: []time.Duration{8 * time.Second, 4 * time.Second}, User: 2 * time.Second,
				Interrupts: 1234, Switches: 5678, Boot: time.Unix(1700000000, 0), Forks: 7, Running: 1}
		},
		Kallsyms: func(w io.Writer) { fmt.Fprintln(w, "0000000000401000 T vfs.Read") },
		Extra:    map[string]func(io.Writer){"driver/rtc": func(w io.Writer) { fmt.Fprintln(w, "rtc") }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFilesHaveTheFormatsOfLinux(t *testing.T) {
	f := mount(t)
	var got bytes.Buffer
	for _, name := range []string{"version", "cmdline", "uptime", "meminfo", "cpuinfo", "interrupts", "iomem", "ioports", "loadavg", "stat", "kallsyms",
		"modules", "mounts", "filesystems", "driver/rtc", "sys/debug/kprobes-optimization", "sys/kernel/panic"} {
		text, err := f.ReadFile("proc/" + name)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&got, "--- /proc/%s\n%s", name, text)
	}
	const golden = "testdata/proc.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.Bytes(), want)
	}
}

func TestTreeIsAnFS(t *testing.T) {
	if err := fstest.TestFS(mount(t), "proc/version", "proc/sys/debug/kprobes-optimization", "sys/kernel/debug"); err != nil {
		t.Error(err)
	}
}

func TestFileWithoutSourceIsNotThere(t *testing.T) {
	f := vfs.New()
	if err := Mount(f, Sources{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadFile("proc/interrupts"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v", err)
	}
}

func TestParameterIsSetThroughItsFile(t *testing.T) {
	f := mount(t)
	defer optimization.Store(true)
	w, err := f.OpenFile("/proc/sys/debug/kprobes-optimization", os.O_WRONLY|os.O_TRUNC|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(w, []byte("0\n"), nil); err != nil || optimization.Get() {
		t.Errorf("%v, value %v", err, optimization.Get())
	}
	if _, err := vfs.Write(w, []byte("2\n"), nil); !errors.Is(err, syscall.EINVAL) || optimization.Get() {
		t.Errorf("%v, value %v", err, optimization.Get())
	}
}

// TestProcessorsAreInSysfs: lists are as Linux writes them.
func TestProcessorsAreInSysfs(t *testing.T) {
	for _, tt := range []struct{ online, want, off string }{
		{"1", "0\n", "\n"}, {"11", "0-1\n", "\n"}, {"1011011", "0,2-3,5-6\n", "1,4\n"}, {"0111", "1-3\n", "0\n"},
	} {
		var all []CPU
		for i, c := range tt.online {
			all = append(all, CPU{ID: i, Online: c == '1'})
		}
		f := vfs.New()
		if err := Mount(f, Sources{CPUs: func() []CPU { return all }}); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"online": tt.want, "offline": tt.off, "kernel_max": fmt.Sprintln(len(all) - 1),
			fmt.Sprintf("cpu%d/topology/physical_package_id", len(all)-1): fmt.Sprintln(len(all) - 1)} {
			if got, err := f.ReadFile("sys/devices/system/cpu/" + name); string(got) != want || err != nil {
				t.Errorf("%s: %s is %q, %v, want %q", tt.online, name, got, err, want)
			}
		}
		if _, err := f.ReadFile(fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/core_id", len(all))); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s: there is one more: %v", tt.online, err)
		}
	}
}

// TestOptionsCanBeRead: programs unpack the file, and look for lines.
func TestOptionsCanBeRead(t *testing.T) {
	packed, err := mount(t).Open("proc/config.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"CONFIG_EPOLL=y", "CONFIG_BPF_SYSCALL=y", "CONFIG_DEBUG_INFO_BTF=y", "CONFIG_INET=y", "# CONFIG_SYSVIPC is not set"} {
		if !bytes.Contains(text, []byte("\n"+line+"\n")) {
			t.Errorf("no line %q:\n%s", line, text)
		}
	}
}

// fact is registered once: a test may run many times.
var fact = sysctl.NewFact("test.fact", func() string { return "so it is" }, "of a test")

// TestFactsAreReadOnly: what is not to be set has a file that says so.
func TestFactsAreReadOnly(t *testing.T) {
	f := mount(t)
	if got, err := f.ReadFile("proc/sys/test/fact"); string(got) != "so it is\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := f.OpenFile("/proc/sys/test/fact", os.O_WRONLY); !errors.Is(err, syscall.EACCES) {
		t.Errorf("open to write: %v", err)
	}
	if err := fact.Set("otherwise"); !errors.Is(err, syscall.EPERM) {
		t.Errorf("set: %v", err)
	}
}

// TestLoadFollowsWhatRuns: after a minute of two that run, the first average is 2 * (1 - 1/e). They reach what they
// approach.
func TestLoadFollowsWhatRuns(t *testing.T) {
	var a Averages
	for range 12 {
		a.Sample(2)
	}
	if got := fmt.Sprintf("%.2f", a.Now()); got != "[1.26 0.36 0.13]" {
		t.Error(got)
	}
	for range 5000 {
		a.Sample(0)
	}
	if got := a.Now(); got != [3]float64{} {
		t.Error(got)
	}
}
