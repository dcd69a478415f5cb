package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// A block is a fenced block of a document. The test of internal/docs says what kinds there are.
type block struct {
	file  string // below the module's root
	line  int    // of its first
	kind  string // what stands after the fence
	lines []string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// blocks returns the fenced blocks of a document.
func blocks(t *testing.T, file string) (list []block) {
	t.Helper()
	inside, n := false, 0
	for line := range strings.Lines(document(t, file)) {
		n++
		line = strings.TrimRight(line, "\n")
		switch kind, fence := strings.CutPrefix(strings.TrimLeft(line, " "), "```"); {
		case fence && !inside:
			list = append(list, block{file: file, line: n + 1, kind: kind})
			inside = true
		case fence:
			inside = false
		case inside:
			last := &list[len(list)-1]
			last.lines = append(last.lines, line)
		}
	}
	return list
}

// shownBy returns the blocks of all documents that the running test has to compare, which the
// word after their fence says: "output TestNAME".
func shownBy(t *testing.T) (list []block) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, b := range blocks(t, strings.TrimPrefix(filepath.ToSlash(file), "../")) {
				if b.kind == "output "+name {
					list = append(list, b)
				}
			}
		}
	}
	if len(list) == 0 {
		t.Errorf("no document has a block for %s", name)
	}
	return list
}

func document(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// quoted says where the output in the documents comes from: the block that holds
// words is an excerpt of what the script prints, on a kernel with its tests if the
// script runs one of them.
var quoted = []struct{ file, words, script string }{
	{"README.md", "post_handler:", "insmod kprobe_example symbol=vfs.Read; cat /proc/uptime; rmmod kprobe_example; dmesg | grep handler:"},
	{"README.md", "[OPTIMIZED]", listScript},
	{"README.md", "@bytes", "bt -q -e 'kprobe:vfs.Write { @[comm] = count(); @bytes = hist(len(args.p)); }' -c 'myprog -n 20'"},
	{"README.md", "SetConsoleLevel", "kwatch -n 3 w@printk.consoleLevel & sleep 1; dmesg -n 5; dmesg -n 6; dmesg -n 4; wait"},
	{"README.md", "syscall.write returns", "insmod follow_example; myprog -n 1; rmmod follow_example; dmesg"},
	{"docs/optimization.md", "JTPR", "explain vfs.Read"},
	{"docs/optimization.md", "resume: the copy", "explain vfs.Read"},
	{"docs/optimization.md", "[OPTIMIZED]", listScript},
	{"docs/optimization.md", "return address replaced", "glass -t return -s vfs.Read cat /proc/version"},
	{"docs/optimization.md", "from INT3 to jump", "glass -o vfs.Read"},
	{"docs/how-a-hit-works.md", "#DB behind the copy", "glass -t step -s vfs.Read cat /proc/version"},
	{"docs/how-a-hit-works.md", "event program", `bt -e "kprobe:vfs.Read { @ = count(); }" & sleep 3; glass -s vfs.Read cat /proc/version`},
	{"docs/how-a-hit-works.md", "has returned, by", "glass -s ret:box:runtime.(*mcache).refill & sleep 1; seq 2; wait"},
	{"docs/how-a-hit-works.md", " k  sonde", "insmod kprobe_example; cat /sys/kernel/debug/kprobes/list"},
	{"docs/how-a-hit-works.md", "pre_handler:", hitScript},
	{"docs/how-a-hit-works.md", "post_handler:", hitScript},
	{"docs/how-a-hit-works.md", "#BP:", hitScript},
	{"docs/how-a-hit-works.md", "abandoned", "ktest handlers/sends; dmesg"},
	{"docs/attach.md", "handlers that block", "cat /sys/kernel/debug/attach/kinds"},
	{"docs/attach.md", "first place", "insmod funclatency target=/bin/cat:syscall.read name=calls; bt -e 'profile:hz:100 { @ = count(); }' & sleep 1; " +
		"/bin/cat /proc/uptime; cat /sys/kernel/debug/attach/links"},
	{"docs/attach.md", "returns: n int AX", "explain vfs.Write"},
	{"docs/how-a-system-call-works.md", "Call Trace", "insmod kprobe_example symbol=console.(*Pipe).Write post=0; myprog -n 1; dmesg"},
}

const (
	listScript = "insmod kprobe_example symbol=vfs.Read post=0; sleep 0.1; cat /sys/kernel/debug/kprobes/list; " +
		"sysctl -w debug.kprobes_optimization=0; cat /sys/kernel/debug/kprobes/list; " +
		"rmmod kprobe_example; sysctl -w debug.kprobes_optimization=1"
	hitScript = "insmod kprobe_example; cat /proc/version; rmmod kprobe_example; dmesg; cat /proc/interrupts"
)

// outputsTogether returns what those scripts print that leave nothing behind. They share a machine, which
// unpacks the kernel's types once.
func outputsTogether(t *testing.T) map[string][]string {
	t.Helper()
	var scripts []string
	for _, q := range quoted {
		if (strings.HasPrefix(q.script, "explain ") || strings.HasPrefix(q.script, "glass -t ")) && !slices.Contains(scripts, q.script) {
			scripts = append(scripts, q.script)
		}
	}
	out, _, _ := bootScripts(t, normalImage, machine.Config{SMP: 2}, scripts)
	said := map[string][]string{}
	for i, script := range scripts {
		said[script] = masked(out[i])
	}
	return said
}

// TestDocsShowOutput: what the documents show as output is what comes out, but
// for addresses, displacements, times and counts.
func TestDocsShowOutput(t *testing.T) {
	runsBeside(t)
	said := outputsTogether(t)
	output := func(script string) []string {
		if said[script] == nil {
			image := normalImage
			if strings.HasPrefix(script, "ktest") {
				image = testImage
			}
			r := bootScript(t, image, machine.Config{SMP: 2, Script: script})
			said[script] = masked(string(r.Stdout))
		}
		return said[script]
	}
	used := map[int]bool{}
	for _, b := range shownBy(t) {
		text, checked := strings.Join(b.lines, "\n"), false
		for i, q := range quoted {
			if q.file == b.file && strings.Contains(text, q.words) && !checked {
				used[i], checked = true, true
				b.compare(t, output(q.script))
			}
		}
		if !checked {
			t.Errorf("%v: quoted has no script for this block\n%s", b, text)
		}
	}
	for i, q := range quoted {
		if !used[i] {
			t.Errorf("%s has no block with %q", q.file, q.words)
		}
	}
}

// compare looks for the lines of b in out, which is masked, in order.
func (b block) compare(t *testing.T, out []string) {
	t.Helper()
	b.find(t, masked(strings.Join(b.lines, "\n")), out)
}

// find looks for lines in out, in order.
func (b block) find(t *testing.T, lines, out []string) {
	t.Helper()
	left := out
	for _, want := range lines {
		i := slices.Index(left, want)
		if i < 0 {
			t.Errorf("%v: this is not in the output, or not in this order:\n%s\nthe output, addresses and counts masked:\n%s", b, want, strings.Join(out, "\n"))
			return
		}
		left = left[i+1:]
	}
}

// TestDocsShowBoot: so is the log of a boot, but for numbers and the firmware's name.
func TestDocsShowBoot(t *testing.T) {
	runsBeside(t)
	c := startAsIs(t, machine.Config{SMP: 2})
	log := c.see(prompt)
	c.key("poweroff\r")
	c.wait()
	loose := func(text string) []string {
		text = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(text, "")
		text = regexp.MustCompile(`DMI: .*`).ReplaceAllString(text, "DMI")
		return masked(regexp.MustCompile(`\d+`).ReplaceAllString(strings.Join(masked(text), "\n"), "N"))
	}
	for _, b := range shownBy(t) {
		b.find(t, loose(strings.Join(b.lines, "\n")), loose(log))
	}
}

// masks hide what differs between builds and runs: times, bytes of a detour,
// displacements, addresses and numbers.
var masks = []struct{ find, put string }{
	{`^ *\[ *\d+\.\d+\] `, ""},
	{`(handler of k at) \S+`, "$1 N"},
	{`^( *(?:0x|\.\.)[0-9a-f]+ +|             )[0-9a-f]{2}( [0-9a-f]{2})*`, "AT BYTES"},
	{`\b(0f 86|e9)( [0-9a-f]{2}){4}`, "$1 DISP"},
	{`\bip=[0-9a-f]+`, "ip=N"},
	{`\b[0-9a-f]{16}\b`, "N"},
	{`0x[0-9a-f]+`, "N"},
	{`\(\d+ bytes`, "(N bytes"},
	{`\d+\.\d µs`, "N µs"},
	{`\+\d+ [nu]s$`, "+N"},
	{`^ ?\d+  CPU`, "N CPU"},
	{`(stands still at|serializes; was at) \S+`, "$1 X"},
	{`(CPU|goroutine|thread)(:?) \d+`, "$1$2 N"},
	{`\bmyprog\[\d+\]`, "myprog[N]"},
	{`^(?: *\d+){3}( +0 +0 )`, "N$1"},
	{`(\.go|_amd64\.s):\d+`, "$1:N"},
	{`^((?:NMI|CAL|#DB|#BP):) +\d+ +\d+ +`, "$1 N N "},
	{`^\[\d+[KMG]?, \d+[KMG]?\) +\d+ \|@* *\|$`, "a row of the histogram"},
	{`(\.[\w()*]+\+)\d+$`, "${1}N"},
	{`^(@.*|,? ?\]): \d{2,}$`, "$1: N"},
	{`^( *\w+_\w+\+)\d+$`, "${1}N"},
	{`\b\d+ ns\b`, "N ns"},
	{`^(p\d+|p99\.9|max) +\d+$`, "$1 N"},
	{`<\d+\.\d{6}>$`, "<N>"},
	{`\s+`, " "},
}

var compiled = func() (list []*regexp.Regexp) {
	for _, m := range masks {
		list = append(list, regexp.MustCompile(m.find))
	}
	return list
}()

// masked returns the lines of text that are not empty, with all that masked out.
func masked(text string) (list []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for i, m := range masks {
			line = compiled[i].ReplaceAllString(line, m.put)
		}
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return slices.Compact(list) // a histogram may have more rows
}

// TestReadmesFiveAtThePrompt: typed at the prompt, what README tells to try prints what it shows, which is what -c
// prints, and leaves nothing behind. Only the device at the end of a write differs.
func TestReadmesFiveAtThePrompt(t *testing.T) {
	runsBeside(t)
	_, five, _ := strings.Cut(document(t, "README.md"), "\n## Five things to try\n")
	five, _, _ = strings.Cut(five, "\n## ")
	typed := regexp.MustCompile(`(?m)^    go run ./qemu (?:-smp 2 )?(?:-bt ('.*') -c '(.*)'|-c '(.*)')$`).FindAllStringSubmatch(five, -1)
	if len(typed) != 5 {
		t.Fatalf("README has %d lines to try", len(typed))
	}
	c := startConsole(t, machine.Config{SMP: 2, Append: "columns=500"})
	c.enter("dmesg -n 1")
	said := ""
	for _, m := range typed {
		line := m[3]
		if m[1] != "" {
			line = "bt -e " + m[1] + " -c '" + m[2] + "'"
		}
		c.enter(line)
		out := c.see(prompt)
		said += strings.ReplaceAll(strings.ReplaceAll(out, "\r", ""), "tty.Handle.WriteAt", "console.(*Pipe).Write")
		c.key("\r")
	}
	for _, b := range blocks(t, "README.md") {
		if b.kind == "output TestDocsShowOutput" {
			b.compare(t, masked(said))
		}
	}
	c.enter("lsmod; cat /sys/kernel/debug/kprobes/list; sysctl -n debug.kprobes_optimization")
	c.see(`Module\r\n1\r\n`)
	c.enter("poweroff")
	c.wait()
}
