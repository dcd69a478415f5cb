package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// avxScript runs what needs AVX: a program that keeps all registers in use, the same with probes at
// two of its instructions, and Debian's cksum, which uses AVX wherever CPUID names it.
const avxScript = `avx
insmod uprobe_example path=/bin/avx symbol=probed verbose=0
avx probed
rmmod uprobe_example
insmod uprobe_example path=/bin/avx symbol=relative verbose=0
avx probed
rmmod uprobe_example
cksum /bin/busybox`

// TestAVX: registers stay and frames of signals are as on the host, on processors with AVX.
func TestAVX(t *testing.T) {
	runsBeside(t)
	p := buildPrograms(t)
	want, err := exec.Command("sh", "-c", "cd "+p.dir+"/bin; ./avx; ./avx probed; ./avx probed; cksum busybox").Output()
	if err != nil {
		t.Skipf("this host has no AVX: %v", err)
	}
	expected := strings.Replace(string(want), " busybox", " /bin/busybox", 1)
	machines := []machine.Config{{SMP: 1, CPU: "SandyBridge"}, {SMP: 4}}
	if long() {
		machines = append(machines, machine.Config{SMP: 1}, machine.Config{SMP: 2, CPU: "SandyBridge"})
	}
	for _, m := range machines {
		t.Run(fmt.Sprintf("smp%d%s", m.SMP, m.CPU), func(t *testing.T) {
			t.Parallel()
			m.Initrd, m.Script = p.archive, avxScript
			r := bootScript(t, normalImage, m)
			if got := string(r.Stdout); got != expected {
				t.Errorf("%s\n%s", differingLine(got, expected), said(r))
			}
		})
	}
}
