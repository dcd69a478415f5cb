package machine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBestRemembers: a host is asked once per boot, and an image that cannot
// boot does not make KVM usable.
func TestBestRemembers(t *testing.T) {
	cache := t.TempDir()
	if a := Best(filepath.Join(cache, "nonexistent.elf"), cache); a != TCG {
		t.Errorf("%q for an image that is not there", a)
	}
	if !kvmAnswers() {
		t.Skip("no /dev/kvm: nothing to remember")
	}
	files, _ := filepath.Glob(filepath.Join(cache, "accel-*"))
	if len(files) != 1 {
		t.Fatalf("remembered: %q", files)
	}
	os.WriteFile(files[0], []byte(KVM), 0o666)
	if a := Best("", cache); a != KVM {
		t.Errorf("%q, but the file says kvm", a)
	}
}
