package main

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// packaged are tools of Debian's package bpftrace, what runs while they look, and what they print of it: in any order,
// since each CPU has its own ring. Those that are not often run need SONDE_LONG=1.
//
// vfsstat loses what happens between its print and its clear, each second.
//
// What is not here needs disks or networks, except capable: its BEGIN is longer than programs of processes may be.
var packaged = []packagedTool{
	{"naptime", "/bin/asked", false, []string{`(?s)(\d+ +bpftrace +\d+ +asked +0\.017.*){3}`}},
	{"setuids", "/bin/asked", false, []string{`asked +0 +setuid +uid=0 \(0\)`, `asked +0 +setfsuid +uid=0 \(prevuid=0\)`, `asked +0 +setresuid +ruid=0 euid=77 suid=0 \(-1\)`}},
	{"vfsstat", "/bin/asked slow", true, []string{`@\[vfs_create\]: [1-4]\b`, `@\[vfs_fsync\]: [1-4]\b`, `@\[vfs_write\]: ([5-9]|\d\d+)\b`}},
	{"runqlat", "/bin/asked", false, []string{`@usecs:`, `^\[\d+.*\|@+ *\|`}},
	{"threadsnoop", "/usr/bin/xz -T2 -k -f /tmp/lines", true, []string{`\d+ +\d+ +xz +`}},
	{"loads", "/bin/sleep 3", true, []string{`load averages: \d\.\d{3} \d\.\d{3} \d\.\d{3}`}},
	{"oomkill", "/bin/asked eat", false, []string{`OOM kill of PID \d+ \("asked"\), \d+ pages, loadavg: \d`}},
	{"runqlen", "/bin/burn -n 6", false, []string{`@runqlen:`, `^\[[1-5], .*@`}},
	{"syscount", "/bin/asked", false, []string{`@process\[asked\]: \d\d\d`}},
	{"opensnoop", "/bin/asked", false, []string{`asked +3 +0 /tmp/asked`}},
	{"execsnoop", "/bin/asked", false, []string{`/bin/asked\r?$`, `(?s)(/proc/self/exe again.*){2}`}},
	{"statsnoop", "/bin/asked", false, []string{`asked +0 /tmp\r?$`}},
	{"killsnoop", "/bin/asked", false, []string{`asked +0 +\d+ +0\r?$`, `asked +15 +4000000 +-3\r?$`}},
	{"syncsnoop", "/bin/asked", false, []string{`asked +tracepoint:syscalls:sys_enter_sync\r?$`, `asked +tracepoint:syscalls:sys_enter_fsync\r?$`}},
	{"bashreadline", "/usr/bin/setsid -w /bin/bash /tmp/readline.sh", false, []string{`\d +echo hello bash\r?$`, `\d +echo again\r?$`}},
	{"gethostlatency", "/usr/bin/getent ahosts localhost", false, []string{`getent +\d+ localhost`}},
	{"vfscount", "/bin/asked", false, []string{`@\[vfs_fsync\]: 1\b`}},
	{"pidpersec", "/bin/asked slow", false, []string{`PIDs/sec: @: [1-9]`}},
	{"cpuwalk", "/bin/burn -n 6", false, []string{`@cpu:`, `^\[0, 1\) .*@`, `^\[1, 2\) .*@`}},
}

type packagedTool struct {
	name, work string
	often      bool
	wants      []string
}

// ofBt are those whose output is another if bt runs them: it has Go's names of functions, and starts commands without
// execve(2), from the kernel.
var ofBt = map[string][]string{
	"naptime":   {`(?s)(\d+ +\d+ +asked +0\.017.*){3}`},
	"vfsstat":   {`@\[syscall\.fsync\]: [1-4]\b`, `@\[vfs\.\(\*FS\)\.create\]: [1-4]\b`, `@\[vfs\.Write\]: ([5-9]|\d\d+)\b`},
	"execsnoop": {`(?s)(/proc/self/exe again.*){2}`},
	"vfscount":  {`@\[syscall\.fsync\]: 1\b`},
}

// TestBtRunsBpftracesTools: bt runs the tools of Debian's package as they are. Each is run by bpftrace or by bt, in the
// long run by both.
func TestBtRunsBpftracesTools(t *testing.T) {
	runsBeside(t)
	tools := []packagedTool{{"capable", "/bin/asked", false, []string{`asked +7 +CAP_SETUID +0\r?$`}}}
	for _, tool := range packaged {
		if other := ofBt[tool.name]; other != nil {
			tool.wants = other
		}
		if !tool.often || long() {
			tools = append(tools, tool)
		}
	}
	args, commands := append([]string{"-m", "512M", "-deps"}, forTools(t)...), []string{"dmesg -n 1", oldPthread}
	for _, tool := range tools {
		args = append(args, "-add", debians(t, "/usr/sbin/"+tool.name+".bt"))
		commands = append(commands, fmt.Sprintf("echo tool %s; bt -c '%s' /usr/sbin/%[1]s.bt", tool.name, tool.work))
	}
	tools = append(tools, packagedTool{name: "libc", wants: []string{`^said by bash\r?$`}})
	commands = append(commands, "echo tool libc", `bt -q -e 'uprobe:/lib/x86_64-linux-gnu/libc.so.6:write /comm == "bash"/ { printf("%s", str(arg1, arg2)); }' -c '/bin/bash -c "echo said by bash > /dev/null"'`,
		"echo tool after", "bpf prog; bpf map; bpf link")
	out, err := launch(t, append(args, "-c", strings.Join(commands, "; "))...).Output()
	if err != nil {
		t.Errorf("%v", err)
	}
	for _, tool := range tools {
		for _, want := range tool.wants {
			sees(t, section("\n"+string(out), "tool "+tool.name), want)
		}
	}
	if left := strings.TrimSpace(section(string(out), "tool after")); left != "" {
		t.Errorf("left is %q", left)
	}
}

// oldPthread is for a tool that looks for pthread_create in a library of its own: glibc has had it in libc.so.6 for
// long.
const oldPthread = "ln -sf libc.so.6 /lib/x86_64-linux-gnu/libpthread.so.0"

// forTools are the launcher's arguments for what tools look at.
func forTools(t *testing.T) []string {
	t.Helper()
	args := []string{"-timeout", "20m", "-add", built(t, "asked") + ":/bin/asked"}
	for name, text := range map[string]string{"lines": "echo hello bash\necho again\n", "readline.sh": "/bin/bash -i < /tmp/lines\n"} {
		args = append(args, "-add", written(t, name, text))
	}
	for _, host := range []string{"/bin/bash", "/usr/bin/setsid", "/usr/bin/getent", "/usr/bin/xz", "/etc/hosts", "/etc/nsswitch.conf", "/lib/x86_64-linux-gnu/libpthread.so.0"} {
		args = append(args, "-add", debians(t, host))
	}
	return args
}

// written is the value of -add for a file in /tmp.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path + ":/tmp/" + name
}

// built builds a program of user/testdata.
func built(t *testing.T, name string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-o", to, "../user/testdata/"+name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}

// showsTools: the document shows what each tool prints, and that is what is looked for in its output.
func showsTools(t *testing.T, blocks []block) {
	t.Helper()
	shown := map[string]string{}
	for _, b := range blocks {
		for _, run := range strings.Split(strings.Join(b.lines, "\n"), "sonde# ") {
			command, text, _ := strings.Cut(run, "\n")
			shown[command] = text
		}
	}
	for _, tool := range packaged {
		for _, want := range tool.wants {
			sees(t, shown[fmt.Sprintf("bpftrace -c '%s' /usr/sbin/%s.bt", tool.work, tool.name)], want)
		}
	}
}

// TestBpftraceTools: tools of Debian's package, as they are, print what happened.
func TestBpftraceTools(t *testing.T) {
	showsTools(t, shownBy(t))
	runsBeside(t)
	add := append(forTools(t), "-add", written(t, "bpftool.sh", bpftool), "-add", written(t, "ledger.sh", ledgerScript))
	if hasBpftool() {
		add = append(add, "-add", "/usr/sbin/bpftool")
	}
	commands := []string{"dmesg -n 1", oldPthread} // the log must not come between what bpftool prints
	for _, tool := range packaged {
		if tool.often || long() {
			add = append(add, "-add", debians(t, "/usr/sbin/"+tool.name+".bt"))
			commands = append(commands, fmt.Sprintf("echo tool %s; bpftrace -c '%s' /usr/sbin/%[1]s.bt", tool.name, tool.work))
		}
	}
	commands = append(commands, "echo tool end", "cat /proc/loadavg", `bpftrace -c '/bin/sh /tmp/bpftool.sh' -e 'kprobe:vfs_read { @reads[comm] = count(); }'`, "echo tool ledger", ledgered, "echo tool after", "bpf prog; bpf map; bpf link")
	out := bpftrace(t, commands, add...)
	for _, tool := range packaged {
		if tool.often || long() {
			for _, want := range tool.wants {
				sees(t, section(out, "tool "+tool.name), want)
			}
		}
	}
	sameLoad(t, out)
	t.Run("bpftool", func(t *testing.T) { seesBpftool(t, out) })
	agreesWithLedger(t, section(out, "tool ledger"))
	if left := strings.TrimSpace(section(out, "tool after")); left != "" {
		t.Errorf("left is %q", left)
	}
}

// section is the output from a line on, up to the next tool's.
func section(out, name string) string {
	_, rest, _ := strings.Cut(out, "\n"+name+"\n")
	rest, _, _ = strings.Cut(rest, "\ntool ")
	return rest
}

// sameLoad: the variable that a tool reads in the kernel is what /proc/loadavg has, some seconds later.
func sameLoad(t *testing.T, out string) {
	t.Helper()
	var loads []float64
	for _, at := range []string{`load averages: (\d\.\d+)`, `(?s)tool end.*?^(\d+\.\d\d) \d+\.\d\d`} {
		found := regexp.MustCompile("(?m)" + at).FindStringSubmatch(out)
		if found == nil {
			t.Fatalf("no %s in\n%s", at, out)
		}
		load, _ := strconv.ParseFloat(found[1], 64)
		loads = append(loads, load)
	}
	if loads[0]-loads[1] > 0.5 || loads[1]-loads[0] > 0.5 {
		t.Errorf("load %v", loads)
	}
}

// ledgered counts what programs do that ledgerScript runs, by a probe of each kind; the script shows the ledger before
// they are detached.
const (
	ledgered = `bpftrace -c '/bin/sh /tmp/ledger.sh' -e 'kprobe:vfs_fsync { @k = count(); } kretprobe:vfs_fsync { @r = count(); } ` +
		`tracepoint:syscalls:sys_enter_sync { @t = count(); } uprobe:/bin/asked:main.main { @u = count(); }'`
	ledgerScript = "for i in 1 2 3 4 5 6 7; do /bin/asked > /dev/null; done\ncat /sys/kernel/debug/bpf/ledger\n"
)

// agreesWithLedger: what bpftrace has counted is what the kernel's account of the hits has, none of them unexplained.
func agreesWithLedger(t *testing.T, out string) {
	t.Helper()
	for _, c := range []struct{ program, counter, least string }{{"vfs_fsync", "k", "7"}, {"vfs_fsync", "r", "7"}, {"sys_enter_sync", "t", "7"}, {"main_main", "u", "21"}} {
		rows := regexp.MustCompile(`(?m)^`+c.program+` +(\d+) +(\d+) .* (\d+)\r?$`).FindAllStringSubmatch(out, -1)
		counted := regexp.MustCompile(`(?m)^@` + c.counter + `: (\d+)\r?$`).FindStringSubmatch(out)
		if len(rows) == 0 || counted == nil || counted[1] != c.least {
			t.Errorf("@%s is %v, want %s; the ledger has %v\n%s", c.counter, counted, c.least, rows, out)
			continue
		}
		for _, row := range rows {
			if row[1] != counted[1] || row[2] != counted[1] || row[3] != "0" {
				t.Errorf("@%s is %s, and the ledger has %q", c.counter, counted[1], row[0])
			}
		}
	}
}

// bpftool is a script that a bpftrace's program counts reads of.
const bpftool = `
for what in "prog list" "prog dump xlated name vfs_read" "map list" "map dump name AT_reads" "link list" "btf list" "feature probe kernel"; do
	echo "tool bpftool $what"
	/usr/sbin/bpftool $what
done
echo tool bpftool btf dump
/usr/sbin/bpftool btf dump file /sys/kernel/btf/vmlinux | grep "'task_struct'"
/usr/sbin/bpftool btf dump file /sys/kernel/btf/vmlinux format c | grep 'struct task_struct'
echo tool bpftool end
`

// hasBpftool: Ubuntu's is a script that looks for the one of the host's kernel.
func hasBpftool() bool {
	file, err := elf.Open("/usr/sbin/bpftool")
	if err == nil {
		file.Close()
	}
	return err == nil
}

// seesBpftool checks what bpftool has printed.
func seesBpftool(t *testing.T, out string) {
	t.Helper()
	if !hasBpftool() {
		t.Skip("skipped: bpftool is not installed")
	}
	for _, c := range []struct {
		of    string
		wants []string
	}{
		{"prog list", []string{`^\d+: kprobe +name vfs_read +tag [0-9a-f]{16} +gpl`, `xlated \d+B +jited \d+B`}},
		{"prog dump xlated name vfs_read", []string{`^ +0: \(`, `call .*lookup`, `exit`}},
		{"map list", []string{`^\d+: \w*hash +name AT_reads +flags 0x\d`, `key 16B +value 8B`}},
		{"map dump name AT_reads", []string{`62 70 66 74 6f 6f 6c 00`}}, // "bpftool"
		{"link list", []string{`^\d+: perf_event +prog \d+`}},
		{"btf list", []string{`^1: name \[vmlinux\] +size \d+B`}},
		{"feature probe kernel", []string{`program_type kprobe is available`, `program_type xdp is NOT available`, `map_type hash is available`}},
		{"btf dump", []string{`STRUCT 'task_struct' size=\d+ vlen=\d+`, `^struct task_struct \{`, `struct task_struct \*real_parent;`}},
	} {
		sees(t, section(out, "tool bpftool "+c.of), c.wants...)
	}
}
