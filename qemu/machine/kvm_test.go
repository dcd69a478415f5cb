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
	t.Setenv("XDG_CACHE_HOME", cache)
	if a := Best(filepath.Join(cache, "nonexistent.elf")); a != TCG {
		t.Errorf("%q for an image that is not there", a)
	}
	if !kvmAnswers() {
		t.Skip("no /dev/kvm: nothing to remember")
	}
	for _, c := range []struct {
		boot string
		want Accel
	}{{bootID(), KVM}, {"earlier", TCG}} {
		if err := os.WriteFile(answerFile(), []byte(c.boot+" "+string(KVM)), 0o666); err != nil {
			t.Fatalf("not remembered: %v", err)
		}
		if a := Best(""); a != c.want {
			t.Errorf("%q, but the file says kvm, in boot %s", a, c.boot)
		}
	}
	os.Remove(answerFile())
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if a := Best(""); a != TCG {
		t.Errorf("%q without a home", a)
	}
}
