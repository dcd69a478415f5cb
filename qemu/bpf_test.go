package main

import (
	"regexp"
	"testing"
)

// TestObjectsOfClang runs programs that clang has compiled, one in each kind of section, on the booted
// kernel; what each has counted is printed at the end. One depends on what the kernel does not have.
func TestObjectsOfClang(t *testing.T) {
	runsBeside(t)
	const dir = "../bpf/object/testdata/"
	out, _ := launch(t, "-add", dir+"sections.o:/", "-add", dir+"core.o:/", "-add", dir+"old.o:/",
		"-c", `bpf run /sections.o 'cat /proc/version; /bin/sh -c "for i in 1 2 3; do echo x; done"; sleep 0.5'; bpf run old.o sleep 0.2; bpf run core.o true; bpf prog; bpf map`).CombinedOutput()
	for _, want := range []string{
		`bpf: program 1, in_kernel, is at sonde/kernel/vfs.Open\+0x0`,
		`bpf: program 5, in_program, is at /bin/sh:`,
		`cat-\d+ +\[00\d\] .* bpf_trace_printk: opened for 0\n`,
		`map .bss:\nkey: 00 00 00 00 \(0\)  value: (.. .. .. .. ff ff ff ff) 00 00 00 00 00 00 00 00\n`,
		`program in_kernel: run [1-9]`, `program returned: run [1-9]`, `program called: run [3-9]`, `program left: run [3-9]`,
		`program in_program: run [3-9]`, `program out_of_program: run [3-9]`, `program ticked: run [1-9]`, `program repeated: run [1-9]`, `program traced: run [1-9]`,
		`map counts:\nkey: 00 00 00 00 \(0\)  value: 00 00 00 00 00 00 00 00 \(0\)\nkey: 01 00 00 00 \(1\)  value: 2d 00 00 00 00 00 00 00 \(45\)\n`,
		`bpf: core.o: program fields: instruction 0 at ./core.c:\d+: the kernel has no struct task.in.b\n`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in\n%s", want, out)
			break
		}
	}
	if regexp.MustCompile(`(?s)core.o: .*  name `).Match(out) {
		t.Errorf("programs are left:\n%s", out)
	}
}
