package replay

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sonde/internal/chromium"
)

// TestInBrowser executes testdata/check.js in the page, on a wide screen and on a narrow one, light and dark.
func TestInBrowser(t *testing.T) {
	check, err := os.ReadFile("testdata/check.js")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := writePage(&page, string(check)); err != nil {
		t.Fatal(err)
	}
	for as, width := range map[string]int{"light": 1280, "dark": 360} {
		t.Run(as, func(t *testing.T) {
			got, took, _ := strings.Cut(chromium.Tells(t, page.String(), width, as == "dark"), "; a step takes ")
			if want := fmt.Sprintf("%d %s", width, as); got != want {
				t.Errorf("not %s alone, but %s", want, got)
			}
			t.Log("a step takes", took)
		})
	}
}
