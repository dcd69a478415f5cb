package machine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Best returns KVM if it really works on this host, and TCG otherwise.
//
// To open /dev/kvm, or to start QEMU with it, proves little: some
// hosts have one that makes a processor and then stops at an instruction that
// it cannot emulate. So image is booted once; the answer is kept in a file of
// the user's, for all folders, until the host boots again.
func Best(image string) Accel {
	if !kvmAnswers() {
		return TCG
	}
	name := answerFile()
	b, _ := os.ReadFile(name)
	if boot, answer, ok := strings.Cut(string(b), " "); ok && boot == bootID() {
		if a, err := ParseAccel(answer); err == nil {
			return a
		}
	}
	a := TCG
	if kvmBoots(image) {
		a = KVM
	}
	if name != "" && os.MkdirAll(filepath.Dir(name), 0o777) == nil {
		os.WriteFile(name, []byte(bootID()+" "+string(a)), 0o666) // if that fails, the next caller asks again
	}
	return a
}

// answerFile is where Best keeps its answer; "" if the user has no place for such files.
func answerFile() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "sonde", "accel")
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
