package image

import (
	"os"
	"path/filepath"
	"testing"
)

func TestToolchainInTheModuleCacheGetsAView(t *testing.T) {
	cache, dir := t.TempDir(), t.TempDir()
	goroot := filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go1.26.5.linux-amd64")
	source := filepath.Join(goroot, "src", "runtime", "proc.go")
	if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("package runtime"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time makes the links anew
		view, err := outsideCache(goroot, cache, dir)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := filepath.Rel(dir, view); err != nil || in[0] == '.' {
			t.Fatalf("the view %s is not in %s", view, dir)
		}
		if text, err := os.ReadFile(filepath.Join(view, "src", "runtime", "proc.go")); err != nil || string(text) != "package runtime" {
			t.Fatalf("the view shows %q, %v", text, err)
		}
	}
}

func TestInstalledToolchainIsUsedAsItIs(t *testing.T) {
	for _, goroot := range []string{"/usr/local/go", "/home/me/go/package-go"} {
		view, err := outsideCache(goroot, "/home/me/go/pkg/mod", t.TempDir())
		if err != nil || view != goroot {
			t.Errorf("%s became %q, %v", goroot, view, err)
		}
	}
}

func TestUntestedVersionsAreNamed(t *testing.T) {
	for v, tested := range map[string]bool{"go1.26.4": false, "go1.26.5": true, "go1.26.8": true, "go1.27rc1": true, "go1.27.1": true, "go1.27.2": false, "go1.28": false} {
		if said := untested(v); (said == "") != tested {
			t.Errorf("%s: %q", v, said)
		}
	}
}
