package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sonde/internal/stick"
	"sonde/qemu/machine"
)

// A bochs is a processor that Bochs models, and how many of it there are.
type bochs struct {
	model string
	cpus  int
}

// probeOfEachKind is a script that says how often each probe was hit.
const probeOfEachKind = `bt -q -e 'kprobe:vfs.Read { @entered = count(); } kprobe:vfs.Read+4 { @inside = count(); } ` +
	`kretprobe:vfs.Read { @returned = count(); } uprobe:/bin/cat:syscall.write { @program = count(); } ` +
	`uretprobe:/bin/cat:syscall.write { @programReturned = count(); } watchpoint:printk.consoleLevel:4:w { @written = count(); }' ` +
	`-c '/bin/cat /proc/uptime; dmesg -n 7'; insmod jprobe_example; cat /proc/uptime; rmmod jprobe_example; echo the end`

// hits are what it prints.
var hits = []string{`@entered: [1-9]`, `@inside: [1-9]`, `@returned: [1-9]`, `@program: [1-9]`, `@programReturned: [1-9]`,
	`@written: [1-9]`, `jprobe: file=`, `the end`}

// TestBochs: the stick boots in an emulator that has nothing in common with QEMU, and models real processors more
// closely; a probe of each kind is hit there. "make bochs" installs it; in the long run there are more processors.
func TestBochs(t *testing.T) {
	runsBeside(t)
	for _, tool := range []string{"bochs", "xvfb-run"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: there is no %s", tool)
		}
	}
	all := []bochs{{"corei7_haswell_4770", 2}}
	if long() {
		all = append(all, bochs{"corei7_skylake_x", 2}, bochs{"athlon64_clawhammer", 1}, bochs{"core2_penryn_t9600", 2},
			bochs{"zambezi", 2}, bochs{"corei7_sandy_bridge_2600k", 2}, bochs{"ryzen", 2}, bochs{"tigerlake", 2})
	}
	for _, b := range all {
		t.Run(b.model, func(t *testing.T) {
			text := b.run(t, stick.Options{Kernel: imagePath(t, normalImage)}, probeOfEachKind, bootLimit)
			for _, want := range append(hits, fmt.Sprintf(`booting on %d CPU`, b.cpus)) {
				if !regexp.MustCompile(want).MatchString(text) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
		})
	}
}

// TestBochsCases, of the long run, has the kernel's own tests there: all of them on two processors, and those of traps and
// probes on others.
func TestBochsCases(t *testing.T) {
	if !long() {
		t.Skip("only with " + longTests)
	}
	const early = `"traps/*" "kprobes/*" "uprobes/*"` // what needs no jumps
	const probes = early + ` "optimized/*" "returns/*" "watch/*"`
	for _, c := range []struct {
		bochs
		cases string
	}{
		{bochs{"corei7_haswell_4770", 2}, ""}, {bochs{"corei7_skylake_x", 2}, ""}, {bochs{"athlon64_clawhammer", 1}, early},
		{bochs{"core2_penryn_t9600", 2}, probes}, {bochs{"zambezi", 2}, probes}, {bochs{"ryzen", 2}, probes}, {bochs{"tigerlake", 2}, probes},
	} {
		t.Run(c.model, func(t *testing.T) {
			text := c.run(t, stick.Options{Kernel: imagePath(t, testImage), Initrd: buildPrograms(t).archive}, "sysctl -w debug.ktest-short=1; ktest "+c.cases+"; echo the end", 4*time.Hour)
			if found := regexp.MustCompile(`(\d+) passed, (\d+) failed`).FindStringSubmatch(text); found == nil || found[1] == "0" || found[2] != "0" {
				t.Errorf("not all pass:\n%s", text)
			}
		})
	}
}

// run boots a medium in Bochs whose kernel runs script, the last words of which are the end, and returns what the serial port
// has said.
func (b bochs) run(t *testing.T, o stick.Options, script string, limit time.Duration) string {
	t.Helper()
	dir := t.TempDir()
	line := "-- " + script
	o.CommandLine = &line
	medium, port, log := filepath.Join(dir, "sonde.iso"), filepath.Join(dir, "serial.txt"), filepath.Join(dir, "bochs.txt")
	if err := stick.ISO(medium, o); err != nil {
		t.Fatal(err)
	}
	config, start := filepath.Join(dir, "bochsrc"), filepath.Join(dir, "start")
	writeText(t, start, "c\n") // Debian's build has a debugger, which waits
	writeText(t, config, strings.Join([]string{
		"display_library: x", "config_interface: textconfig", "megs: 256", "sound: driver=dummy",
		"romimage: file=/usr/share/bochs/BIOS-bochs-latest", "vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest",
		fmt.Sprintf("cpu: model=%s, count=%d, ips=50000000, reset_on_triple_fault=0", b.model, b.cpus),
		"clock: sync=none", "ata0-master: type=disk, path=" + medium + ", mode=volatile", "boot: disk", "pci: enabled=1, chipset=i440fx, slot1=pcivga",
		"com1: enabled=1, mode=file, dev=" + port, "log: " + log, "panic: action=fatal",
	}, "\n")+"\n")
	ctx, cancel := context.WithTimeout(context.Background(), machine.Patience(limit))
	defer cancel()
	out, err := exec.CommandContext(ctx, "xvfb-run", "-a", "bochs", "-q", "-f", config, "-rc", start).CombinedOutput()
	said, _ := os.ReadFile(port)
	if !strings.Contains(string(said), "the end") {
		t.Fatalf("%s: %v\n%s\n--- log\n%s\n--- serial port\n%s", b.model, err, end(out, 2000), end(tail(log), 3000), end(said, 6000))
	}
	return string(said)
}

// tail reads a file that may be absent.
func tail(path string) []byte {
	b, _ := os.ReadFile(path)
	return b
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
