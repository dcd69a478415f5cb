package uprobes

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// oneWay are the cases that run in one of the two ways alone, and why.
var oneWay = map[string]string{
	"handler_blocks_for_ever": blocks, "handler_loops_for_ever": blocks, "handler_keeps_its_cpu": blocks,
	"handler_ends_its_goroutine": blocks, "handler_sleeps_and_others_run": blocks, "unregistering_waits_for_handlers": blocks,
	"stopped_in_slow_handlers": blocks, "threads_stopped_in_slow_handlers": blocks, "killed_in_an_entry_handler": blocks,
	"handler_changes_registers_and_memory": blocks, "camera_handler_sleeps": blocks,

	"camera_never_hit": unhit, "camera_system_call": "the call is made in the goroutine",

	"registering_in_a_handler_is_queued": registers, "handler_unregisters_itself": registers,
	"handler_registers_a_kernel_probe": registers, "entry_handler_registers_probes": registers,
	"kernel_handler_may_not_register": registers,

	"example_counts_hits": documents, "example_reports_returns": documents, "example_fails_for_no_process": documents,
	"two_modules_probe_one_process": documents, "module_that_forgets_its_probes": documents,
	"by_inode_and_offset": documents, "by_inode_rules": documents, "by_inode_fault_handler": documents,
	"by_inode_pre_handler_faults": documents,

	"entry_handler_that_breaks_the_rules_in_trap": trapped, "unset_is_told": unhit,
}

const (
	blocks    = "its handlers block, allocate, or write to the program's memory"
	registers = "its handlers register probes"
	documents = "its handlers are those of the documents' modules and of KprobeUser, which run in goroutines"
	unhit     = "no hit comes"
	trapped   = "it is about hits in trap context"
)

// TestCasesRunInBothWays: a case of the suite has its hits handled in the threads' goroutines and, once more,
// in trap context, unless oneWay says why not.
func TestCasesRunInBothWays(t *testing.T) {
	files, err := filepath.Glob("*_tamago.go")
	if err != nil {
		t.Fatal(err)
	}
	add := regexp.MustCompile(`(both|suites\.Add)\("uprobes/([^"]+)"`)
	twice, once := 0, map[string]bool{}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range add.FindAllStringSubmatch(string(b), -1) {
			switch name := m[2]; {
			case m[1] == "both":
				twice++
			case !strings.HasPrefix(name, "trap_"): // those are about that way
				once[name] = true
			}
		}
	}
	for name := range once {
		if oneWay[name] == "" {
			t.Errorf("uprobes/%s runs in one way alone: add it by both, or say why", name)
		}
	}
	for name, why := range oneWay {
		if !once[name] {
			t.Errorf("uprobes/%s is to run in one way alone, because %s, but is not there, or runs in both", name, why)
		}
	}
	if twice < 50 {
		t.Errorf("%d cases run in both ways, which cannot be", twice)
	}
}
