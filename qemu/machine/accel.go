package machine

import (
	"fmt"
	"os/exec"
	"runtime"
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
)

func (a Accel) argument() string {
	switch a {
	case KVM:
		return "kvm"
	case Counted:
		return "tcg,thread=single"
	}
	return "tcg,thread=multi"
}

func (a Accel) cpu() string {
	if a == KVM {
		return "host"
	}
	return "max"
}

// ParseAccel reads the value of -accel.
func ParseAccel(s string) (Accel, error) {
	switch a := Accel(s); a {
	case TCG, KVM, Counted:
		return a, nil
	}
	return "", fmt.Errorf("%w: accelerator %q: it must be tcg, kvm, counted or auto", ErrConfig, s)
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
