package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// A toolRun is how a tool is run, what it must print, and which counts must be the same: that of values, and
// of the runs of a probe that the ledger has.
type toolRun struct {
	name, command string
	shape         []string // of lines
	sum           string   // a probe in the ledger: its runs are the sum of all values; "": there is none
	most          bool     // the values are at most so many: some hits do not count
	wide          bool     // lines may be longer than a terminal's: names and errors are
	total         int      // what the sum of all values is, if it is known
}

var toolRuns = []toolRun{
	{name: "funccount", command: "funccount -v -c '/bin/cat /proc/uptime' 'vfs.Read*'", shape: []string{`@\[vfs\.Read\]: 3`}, sum: "kprobe:vfs.Read*", total: 3},
	{name: "funclatency", command: "funclatency -v -c '/bin/cat /proc/uptime' vfs.Read", shape: []string{`@ns:`, `p50    \d+`, `p99\.9  \d+`, `\(each within 1\.6 %\)`}, sum: "kretprobe:vfs.Read", total: 3},
	{name: "argdist", command: "argdist -v -c 'echo 1234567 > /dev/null' vfs.Write 'len(args.p)'", shape: []string{`\[8, 16\) +1 \|@+\|`}, sum: "kprobe:vfs.Write", total: 1},
	{name: "stackcount", command: "stackcount -v -c 'echo 1 > /dev/null' vfs.Write 2", shape: []string{` {4}vfs\.Write\+\d+`, `\]: 1`}, sum: "kprobe:vfs.Write", total: 1},
	{name: "offcputime", command: "offcputime -v -c 'sleep 0.3'", shape: []string{`@us\[sleep, `, ` {4}runtime\.selectgo\+\d+`}},
	{name: "offcputime of a program", command: "offcputime -v -c '/bin/sleep 0.1' 9", shape: []string{`@us\[sleep, `, ` {4}syscall\.nanosleep\+\d+|event\.\(\*Epoll\)\.Wait`, ` {4}runtime\.netpoll\+\d+`}},
	{name: "runqlat", command: "runqlat -v -c '/bin/cat /proc/uptime'", shape: []string{`@us:`}, sum: "tracepoint:sched:sched_switch", most: true},
	{name: "opensnoop", command: "opensnoop -v -c '/bin/cat /proc/uptime'", shape: []string{`PID +COMM +FD PATH`, `\d+ +cat +3 /proc/uptime`}},
	{name: "execsnoop", command: "execsnoop -v -c '/bin/cat /proc/uptime'", shape: []string{`TIME +PID +FILE`, `\d\d:\d\d:\d\d +\d+ +/bin/cat`}},
	{name: "exitsnoop", command: "exitsnoop -v -c '/bin/cat /proc/uptime'", shape: []string{`TIME +TID +COMM +MS`, `\d\d:\d\d:\d\d +\d+ +cat +\d+`}},
	{name: "syscount", command: "syscount -v -c '/bin/cat /proc/uptime'", shape: []string{`@\[openat\]: 3`, `@\[exit_group\]: 1`}, sum: "tracepoint:raw_syscalls:sys_enter"},
	{name: "syscallhist", command: "syscallhist -v -f 'comm == \"sleep\"' -c '/bin/sleep 0.2'", shape: []string{`@us\[epoll_pwait\]:`, `^\[128K, 256K\) +[1-9]`, `@us\[openat\]:`}, sum: "tracepoint:raw_syscalls:sys_exit", most: true},
	{name: "sigsnoop", command: `sigsnoop -v -c '/bin/sh -c "kill -USR1 \$\$"'`, shape: []string{`TIME +PID +COMM +SIG TPID +TCOMM`, `\S+ +\d+ +kill +10 \d+ +sh`}},
	{name: "writelat", command: "writelat -v -c '/bin/cat /proc/uptime'", shape: []string{`@us\[cat\]:`}, sum: "kretprobe:vfs_write", most: true},
	{name: "pagefaults", command: "pagefaults -v -c '/bin/cat /proc/uptime'", shape: []string{`@\[cat, box\]: [1-9]\d+`, `@\[cat, \[stack\]\]: [1-9]\d*`, `@\[cat, \[anon\]\]: [1-9]\d+`}},
	{name: "pagefaults by code", wide: true, command: "pagefaults -v -c '/bin/cat /proc/uptime' 'usym(args.ip)'", shape: []string{`@\[cat, runtime\.memmove\]: [1-9]\d*`}},
	{name: "gcpauses", command: "gcpauses -v -c 'repeat 20 cat /proc/kallsyms > /dev/null'", shape: []string{`@us:`}, sum: "kretprobe:runtime.startTheWorldWithSema", most: true}, // it may begin in a pause
	{name: "mutexwait", command: `mutexwait -v -c '/bin/sh -c "cat /proc/uptime | cat | cat"'`, shape: []string{`kretprobe:internal/sync`}},
	{name: "mallocstacks", command: "mallocstacks 1 -v -c '/bin/cat /proc/uptime'", shape: []string{`@bytes\[`, ` {4}runtime\.mallocgc\+\d+`}},
	{name: "mallocstacks without itself", command: "mallocstacks -c 'sleep 0.1' 3 > /all; grep -c ' run[.(]' /all; grep -c '^@bytes' /all", shape: []string{`^0$`, `^[1-9]\d*$`}},
	{name: "hardirqs", command: "hardirqs -v -c '/bin/sleep 0.1'", shape: []string{`@count\[\d+, timer\]: [1-9]\d*`, `@ns\[\d+\]:`}},
	{name: "irqlat", command: "irqlat -v -c '/bin/sleep 0.1'", shape: []string{`@ns:`}},
	{name: "kwhere", command: "kwhere -v -c '/bin/sleep 0.5' 99", shape: []string{`@\[.*\]: [1-9]\d*`}, sum: "profile:hz:99", most: true}, // a tick may come before the script has begun, or after its end
	{name: "trace", command: "trace -v -c '/bin/cat /proc/uptime' vfs.OpenAt 'vfs.(*FS).openAt'", shape: []string{`vfs\.OpenAt \{`, ` {2}vfs\.\(\*FS\)\.openAt \{`, ` {2}\} \d+ ns`, `\} \d+ ns.* vfs\.OpenAt`}},
	{name: "trace by the graph of calls", command: "trace -c '/bin/cat /proc/uptime' vfs.OpenAt 1 2>&1", shape: []string{`^trace: \d+ functions that vfs\.OpenAt calls, 1 deep`, `^vfs\.OpenAt \{`, `^ {2}vfs\.\(\*FS\)\.openAt \{`, `^\} \d+ ns.* vfs\.OpenAt`}},
	{name: "trace with a budget", command: "trace -c '/bin/cat /proc/uptime' vfs.OpenAt 8 2>&1 | grep trace:", shape: []string{`^trace: 64 functions that vfs\.OpenAt calls, 8 deep; without \d+ farther ones`, `^trace: not followed: calls by \S+ through an interface or a closure`}},
	{name: "trace of sleep", command: "trace -c '/bin/sleep 0.2' linux/syscall.epollPwait 3", shape: []string{`^ {6}event\.\(\*Epoll\)\.Wait \{`, `^ {6}\} \d+ ns, [1-9]\d{8,} of them off the CPU`, `^\} \d+ ns, [1-9]\d{8,} of them off the CPU syscall\.epollPwait`}},
	{name: "trace of what is not known", wide: true, command: "trace /bin/cat:main.main; trace 'vfs.*' 3; trace vfs.OpenAt 9; trace ret:vfs.Read 1; trace kallsyms.Base.x 1", shape: []string{`what /bin/cat:main\.main calls is known of one function of the kernel alone; name the CALLEES`, `what vfs\.\* calls`, `calls are followed 1 to 8 deep, not 9`, `what ret:vfs\.Read calls`, `there is no symbol kallsyms\.Base\.x`}},
	{name: "funccount of two", wide: true, command: "funccount -v -c '/bin/cat /proc/uptime' vfs.Read,vfs.ReadNone; funccount vfs.Read,/bin/cat:main.main; funccount -c '/bin/cat /proc/uptime' vfs.Read,vfs.Close", shape: []string{`No matches for kprobe vfs\.ReadNone`, `/bin/cat:main\.main is of another kind than what stands before it`, `@\[vfs\.Read\]: 3`, `@\[vfs\.Close\]: \d+`}},
	{name: "funccount of a program", command: "funccount -v -c 'myprog -n 3' '/bin/myprog:myf*'", shape: []string{`@\[myfunc\]: 3`}, sum: "uprobe:/bin/myprog:myfunc", total: 3},
	{name: "funclatency of a program", command: "funclatency -v -c 'myprog -n 3' /bin/myprog:myfunc", shape: []string{`@ns:`}, sum: "uretprobe:/bin/myprog:myfunc", total: 3},
	{name: "argdist of a program", command: "argdist -v -c 'myprog -n 3' /bin/myprog:myfunc cpu", shape: []string{`\[0\] +\d`}, sum: "uprobe:/bin/myprog:myfunc", total: 3},
	{name: "stackcount of a program", command: "stackcount -v -c 'myprog -n 3' uprobe:/bin/myprog:myfunc 2", shape: []string{` {4}myfunc\+0`, `\]: 3`}, sum: "uprobe:/bin/myprog:myfunc", total: 3},
	{name: "trace of a program", command: "trace -v -c 'myprog -n 1' /bin/myprog:myfunc '/bin/myprog:syscall.write'", shape: []string{`myfunc \{`, `\} \d+ ns.* myfunc`}},
	{name: "funccount of everything", command: "funccount -c 'sleep 0.2' '*' > /all; grep -c optprobe /all; grep -cE '[(][*](job|jobTable|Console|Printer)[)]|Shell[)][.](foreground|inline|await|rested|tell)' /all; grep -c '@' /all", shape: []string{`^0\n0$`, `^[1-9]\d+$`}},
	{name: "-f", command: `funccount -v -f 'comm == "cat"' -c '/bin/cat /proc/uptime' 'vfs.Read*'`, shape: []string{`@\[vfs\.Read\]: 3`}, sum: "kprobe:vfs.Read*", most: true, total: 3},
	{name: "-f of none", command: `funccount -f 'comm == "none"' -c '/bin/cat /proc/uptime' 'vfs.Read*'; funclatency -f 'pid == ' vfs.Read`, shape: []string{`ERROR: found "\)", expected an expression`}},
	{name: "-i", command: "syscount -c '/bin/sleep 2.5' -i 1", shape: []string{`\d\d:\d\d:\d\d`, `@\[exit_group\]: 1`}},
	{name: "wrong", wide: true, command: "funccount; funccount -i x f; execsnoop -i 1; funccount a b; funccount vfs.Reed", shape: []string{`.*PLACES is missing: funccount PLACES.*`, `.*"x" is not an interval.*`,
		`.*prints things as they happen.*`, `.*"b" is one argument too many: give funccount PLACES.*`, `HINT: did you mean vfs\.Read\?`}},
}

// TestTools runs each tool, and compares what it counts with the ledger of its probes; in the long run also where no
// program is fused with its place.
func TestTools(t *testing.T) {
	runsBeside(t)
	fused := []string{"1"}
	if long() {
		fused = append(fused, "0")
	}
	for _, is := range fused {
		t.Run("fused="+is, func(t *testing.T) { runTools(t, is) })
	}
}

func runTools(t *testing.T, fused string) {
	script := []string{"sysctl -w debug.kprobes-fused=" + fused}
	for _, r := range toolRuns {
		script = append(script, "echo == "+r.name, r.command)
	}
	r := bootScript(t, normalImage, machine.Config{Script: strings.Join(append(script, "echo == end; bpf prog; bpf link"), "; ")})
	text := strings.ReplaceAll(string(r.Stdout), "\r", "")
	for _, run := range toolRuns {
		t.Run(run.name, func(t *testing.T) {
			_, out, ok := strings.Cut(text, "== "+run.name+"\n")
			out, _, ended := strings.Cut(out, "\n== ")
			if !ok || !ended {
				t.Fatalf("it was not run:\n%s", text)
			}
			for _, want := range run.shape {
				if !regexp.MustCompile(`(?m)^.*` + want).MatchString(out) {
					t.Errorf("no line is %s", want)
				}
			}
			if strings.HasSuffix("\n"+out, "\n") {
				t.Error("it ends in an empty line")
			}
			for line := range strings.Lines(out) {
				if len(line) > 81 && !strings.Contains(line, "UNEXPLAINED") && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "trace: ") && !run.wide && !strings.Contains(line, "  kretprobe:") {
					t.Errorf("a line has %d columns: %s", len(line)-1, line)
				}
			}
			if err := run.compare(out); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	if _, left, _ := strings.Cut(text, "== end\n"); strings.TrimSpace(left) != "" {
		t.Errorf("something is left:\n%s", left)
	}
}

// A value at the end of a line of a map, or of a histogram; and a probe's line in the ledger.
var (
	valueLine  = regexp.MustCompile(`(?m)(?:^@.*|^\])(?:\]|@): (\d+)$|^\]: (\d+)$|^[\[(].*[\])] +(\d+) \|`)
	ledgerLine = regexp.MustCompile(`(?m)^ +\d+ +(\d+) +\d+ +\d+ +\d+ +(-?\d+)  (.*)$`)
)

// compare compares the sum of the values with what the ledger says.
func (run *toolRun) compare(out string) error {
	sum := 0
	for _, m := range valueLine.FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(m[1] + m[2] + m[3])
		sum += n
	}
	if run.total != 0 && sum != run.total {
		return fmt.Errorf("the values are %d in all, want %d", sum, run.total)
	}
	found := run.sum == ""
	for _, m := range ledgerLine.FindAllStringSubmatch(out, -1) {
		ran, _ := strconv.Atoi(m[1])
		if m[2] != "0" {
			return fmt.Errorf("%s: %s hits are unexplained", m[3], m[2])
		}
		if m[3] != run.sum {
			continue
		}
		found = true
		if ran == 0 || sum > ran || !run.most && sum != ran {
			return fmt.Errorf("the values are %d in all, and %s ran %d times", sum, m[3], ran)
		}
	}
	if !found {
		return fmt.Errorf("the ledger has no %s", run.sum)
	}
	return nil
}
