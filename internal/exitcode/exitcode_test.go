package exitcode

import "testing"

func TestStatusSurvivesQEMU(t *testing.T) {
	for status := range 300 {
		want := min(status, MaxStatus)
		if status == 126 || status == 127 {
			want = status
		}
		value, ok := Value(Process(ForScript(status)))
		got, isStatus := Status(value)
		if !ok || !isStatus || got != want {
			t.Errorf("status %d arrives as %d, %v, %v", status, got, ok, isStatus)
		}
	}
}

func TestCrashIsNoStatus(t *testing.T) {
	value, ok := Value(Process(Crash))
	if _, isStatus := Status(value); !ok || value != Crash || isStatus {
		t.Errorf("crash arrives as %#x, %v, status %v", value, ok, isStatus)
	}
	for _, code := range []int{-1, 0, 1, 2, 256} {
		if _, ok := Value(code); ok {
			t.Errorf("exit code %d taken for the guest's", code)
		}
	}
}
