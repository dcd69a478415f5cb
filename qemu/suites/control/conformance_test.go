package control

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConformanceNamesCasesThatExist: docs/conformance.md is of no use if the
// cases it points to have other names by now.
func TestConformanceNamesCasesThatExist(t *testing.T) {
	page, err := os.ReadFile("../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	named := regexp.MustCompile(`\b(returns|jumpers|handlers|control|kprobes|traps|symbols|stop|optimized)/(\w+)`)
	for _, m := range named.FindAllStringSubmatch(string(page), -1) {
		// The misdeeds of package handlers are registered from a table.
		if !strings.Contains(source.String(), `"`+m[0]+`"`) && !strings.Contains(source.String(), `{"`+m[2]+`", "`) {
			t.Errorf("%s: no such case", m[0])
		}
	}
}
