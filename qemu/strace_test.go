package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestStraceOfPrograms: real programs are traced while they run, one that makes others
// with them; and what they print is theirs.
func TestStraceOfPrograms(t *testing.T) {
	runsBeside(t)
	p := buildPrograms(t)
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Initrd: p.archive,
		Script: `strace -f busybox sh -c "busybox echo hi; exit 4" >/tmp/said; echo $?; strace -c busybox true; cat /tmp/said;` +
			`strace -tt -e exit_group busybox true; strace -tt -r -e exit_group busybox true; strace -T -r -f -e nanosleep,clock_nanosleep,exit_group busybox sleep 0.2;` +
			`strace -y -k -e openat,close /bin/cat /proc/uptime;` +
			`strace -f -e trace=gettimeofday,getcpu,clock_gettime vdso-pie again`})
	got := strings.ReplaceAll(string(r.Stdout), "\r", "")
	for _, want := range []string{
		`^execve\("/bin/busybox", \["busybox", "sh", "-c", "busybox echo hi; exit 4"\], 0x[0-9a-f]+ /\* \d+ vars \*/\) = 0\n`,
		`(?m)^4$`,
		`(?m)^hi$`,
		`(?m)^arch_prctl\(ARCH_SET_FS, 0x[0-9a-f]+\) += 0$`,
		`(?m)^strace: Process \d+ attached$`,
		`(?m)^\[pid +\d+\] execve\("[^"]*", \["busybox", "echo", "hi"\], 0x[0-9a-f]+ /\* \d+ vars \*/( <unfinished ...>\n|\) += 0\n)`,
		`write\(1, "hi\\n", 3`,
		`(?m)\+\+\+ exited with 0 \+\+\+$`,
		`(?m)^(\[pid +\d+\] )?--- SIGCHLD \{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=\d+, si_uid=0, si_status=0, `,
		`\[\{WIFEXITED\(s\) && WEXITSTATUS\(s\) == 0\}\]`,
		`(?m)exit_group\(4\) += \?$`,
		`(?m)\+\+\+ exited with 4 \+\+\+$`,
		`(?m)^\d\d:\d\d:\d\d\.\d{6} exit_group\(0\) += \?$`,
		`(?m)^\d\d:\d\d:\d\d\.\d{6} \(\+ +\d\.\d{6}\) exit_group\(0\) += \?$`,
		`(?m)^ +0\.\d{6} .*nanosleep\(.*\) = 0 <[0-9]+\.[2-9]\d{5}>$`,
		`(?m)^ +\d+\.[2-9]\d{5} exit_group\(0\) += \?$`,
		`(?m)^openat\(AT_FDCWD</>, "/proc/uptime", O_RDONLY\|O_CLOEXEC\) = 3</proc/uptime>\n > /bin/box\(\S+\+0x[0-9a-f]+\) \[0x[0-9a-f]+\]\n(?: > /bin/box\(.*\n)* > /bin/box\(os\.OpenFile.*\n(?: > /bin/box\(.*\n)* > /bin/box\(main\.main\+0x[0-9a-f]+\) `,
		`(?m)^close\(3</proc/uptime>\) += 0$`,
		`(?m)^% time     seconds  usecs/call     calls    errors syscall$`,
		`(?m)^ *[\d.]+ +[\d.]+ +\d+ +1 +exit_group$`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s\n%s", want, got, said(r))
		}
	}
	for _, call := range []string{"gettimeofday(", "getcpu("} { // vdso makes them by the vDSO
		if strings.Contains(got, call) || !strings.Contains(got, "clock_gettime(CLOCK_BOOTTIME, ") {
			t.Errorf("%s, or no clock_gettime, in\n%s\n%s", call, got, said(r))
		}
	}
	r = bootScript(t, normalImage, machine.Config{SMP: 2, Script: "strace -f -e trace=write myprog -n 1"})
	for _, b := range shownBy(t) { // another thread's line may come before the result
		if call, _, _ := strings.Cut(b.lines[0], ") ="); !slices.ContainsFunc(masked(string(r.Stdout)), func(line string) bool { return strings.Contains(line, masked(call)[0]) }) {
			t.Errorf("%v: no %s in\n%s", b, call, said(r))
		}
	}
}
