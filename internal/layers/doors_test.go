package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// source returns the text of the files that fit pattern, without tests.
func source(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %d files", pattern, err, len(files))
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

var (
	declared = regexp.MustCompile(`(?m)^(?:func|type|var|const|\t) ?(Sonde\w+)`)
	wanted   = regexp.MustCompile(`\bruntime\.(Sonde\w+)`)
)

// TestDoorsOfTheRuntime: each name that the overlay adds to package runtime for the kernel is
// used, and each that the kernel uses is there.
func TestDoorsOfTheRuntime(t *testing.T) {
	doors, uses := map[string]bool{}, map[string]bool{}
	for _, m := range declared.FindAllStringSubmatch(source(t, "boot/overlay/_runtime/*.go"), -1) {
		doors[m[1]] = true
	}
	for _, pattern := range []string{"kernel/goruntime/*.go", "boot/overlay/_signal/*.go"} {
		for _, m := range wanted.FindAllStringSubmatch(source(t, pattern), -1) {
			uses[m[1]] = true
		}
	}
	if len(doors) < 20 {
		t.Errorf("only %d doors were found", len(doors))
	}
	for name := range doors {
		if !uses[name] {
			t.Errorf("runtime.%s: nobody uses it", name)
		}
	}
	for name := range uses {
		if !doors[name] {
			t.Errorf("runtime.%s: the overlay does not add it", name)
		}
	}
}
