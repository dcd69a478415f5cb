package machine

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Best returns KVM if it really works on this host, and TCG otherwise.
//
// To open /dev/kvm, or to start QEMU with it, proves little: some
// hosts have one that makes a processor and then stops at an instruction that
// it cannot emulate. So image is booted once; the answer is kept in a file in
// the folder cache until the host boots again. If cache is "" it is not kept.
func Best(image, cache string) Accel {
	if !kvmAnswers() {
		return TCG
	}
	name := filepath.Join(cache, "accel-"+bootID())
	if b, err := os.ReadFile(name); err == nil {
		if a, err := ParseAccel(string(b)); err == nil {
			return a
		}
	}
	a := TCG
	if kvmBoots(image) {
		a = KVM
	}
	if cache != "" {
		os.WriteFile(name, []byte(a), 0o666) // if that fails, the next caller asks again
	}
	return a
}

// bootID is different each time the host boots.
//
// Source: Linux, Documentation/admin-guide/sysctl/kernel.rst, "random".
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(b[:max(len(b)-1, 0)])
}

// kvmBoots runs the command "true" in a machine with a host processor. A boot
// takes a fraction of a second.
func kvmBoots(image string) bool {
	r, err := Run(context.Background(), Config{Image: image, Accel: KVM, Script: "true", Timeout: 10 * time.Second})
	return err == nil && r.Status == 0
}
