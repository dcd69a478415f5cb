//go:build tamago

package kprobes

import (
	"errors"
	"strings"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/kprobes/machine"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("kprobes/every_name_that_keeps_probes_away_exists", namesExist)
}

// mistyped is no function. It is a variable so that the tests on the host, which
// want every name in the sources to be right, do not see it.
var (
	mistyped = "sonde/ktest/suites/targets.Laef"
	_        = kprobes.NoKprobe(mistyped)
)

// namesExist: only the mistyped one does not, and that is reported.
func namesExist(t *suites.T) {
	wrong := machine.This.Guard.Unprotected()
	for _, err := range wrong {
		t.Logf("%v", err)
	}
	if len(wrong) != 1 || !errors.Is(wrong[0], kallsyms.ErrUnknown) ||
		!strings.HasPrefix(wrong[0].Error(), `NoKprobe: "`+mistyped+`": `) ||
		!strings.Contains(wrong[0].Error(), "did you mean") || !strings.Contains(wrong[0].Error(), "sonde/ktest/suites/targets.Leaf") {
		t.Errorf("%d names fit nothing, want one: mistyped", len(wrong))
	}
}
