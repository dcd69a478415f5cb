package machine

import (
	"errors"
	"syscall"
	"testing"

	"sonde/kallsyms"
)

// TestWithoutAMachine: on the host every question has an answer, and nothing can be probed.
func TestWithoutAMachine(t *testing.T) {
	m := &This
	if len(m.Blacklist()) != 0 {
		t.Errorf("a blacklist of nothing: %v", m.Blacklist())
	}
	if m.Code(0x1000, 1) != nil || m.Blacklisted(kallsyms.Symbol{Name: "f"}) == "" {
		t.Error("there is code, or it may be probed")
	}
	if _, ok := m.Slots.Take(0x1000); ok {
		t.Error("there is a slot")
	}
	if _, ok := m.Detours.Take(0x1000); ok {
		t.Error("there is a detour")
	}
	if _, err := m.Swap(nil, nil); !errors.Is(err, syscall.ENOSYS) {
		t.Error(err)
	}
	if m.InHandler() {
		t.Error("this is a handler")
	}
}
