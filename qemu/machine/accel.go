package machine

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
)

// Accel is the way in which QEMU executes guest code.
type Accel string

const (
	TCG Accel = "tcg" // translation, works everywhere; the default
	KVM Accel = "kvm" // the host's processor

	// Counted is translation with a clock that advances by a nanosecond for each instruction, so
	// that the guest counts instructions when it measures time. It has one processor, and is the
	// same on every host, however busy.
	Counted Accel = "counted"

	// Stepped is translation of one instruction at a time. An emulated processor takes interrupts between
	// blocks of translated code, which have many instructions otherwise. It takes five times as long.
	Stepped Accel = "stepped"
)

func (a Accel) arguments() []string {
	switch {
	case a == KVM:
		return []string{"-accel", "kvm"}
	case a == Counted:
		return []string{"-accel", "tcg,thread=single", "-icount", "shift=0"}
	case a == Stepped && !stepsByOption():
		return []string{"-accel", "tcg,thread=multi,one-insn-per-tb=on"}
	case a == Stepped:
		return []string{"-accel", "tcg,thread=multi", "-singlestep"}
	}
	return []string{"-accel", "tcg,thread=multi"}
}

// stepsByOption reports whether this QEMU has -singlestep, which later became a property of the accelerator.
//
// Source: QEMU, "About QEMU", "Deprecated features", since 8.1.
var stepsByOption = sync.OnceValue(func() bool {
	path, err := Find()
	if err != nil {
		return false
	}
	help, _ := exec.Command(path, "-help").Output()
	return strings.Contains(string(help), "\n-singlestep ")
})

func (a Accel) cpu() string {
	if a == KVM {
		return "host"
	}
	return "max"
}

// ParseAccel reads the value of -accel.
func ParseAccel(s string) (Accel, error) {
	switch a := Accel(s); a {
	case TCG, KVM, Counted, Stepped:
		return a, nil
	}
	return "", fmt.Errorf("%w: accelerator %q: it must be tcg, kvm, counted, stepped or auto", ErrConfig, s)
}

// Find returns the path of QEMU.
//
// Errors: ErrNoQEMU, with what to install.
func Find() (string, error) {
	path, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		return "", fmt.Errorf("machine: %w: %s", ErrNoQEMU, install(runtime.GOOS))
	}
	return path, nil
}
