package stick

import (
	"strings"
	"testing"
)

// TestScreenIsTurnedOn: GRUB must load the drivers of screens before it loads the kernel, with a menu
// or without. On a PC with UEFI the screen stayed dark.
func TestScreenIsTurnedOn(t *testing.T) {
	line := "quiet"
	for _, o := range []Options{{}, {CommandLine: &line, First: "set x=1\n"}} {
		menu := o.menu()
		if at := strings.Index(menu, "insmod all_video\n"); at < 0 || at > strings.Index(menu, "multiboot2 ") {
			t.Error(menu)
		}
		if !strings.Contains(menu, o.First) {
			t.Errorf("%q is missing in\n%s", o.First, menu)
		}
	}
}
