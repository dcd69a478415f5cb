package syscall

import (
	"io"
	"testing"
)

// TestPassLeavesTheEnd: sendfile of a line from a terminal must leave an end of input that is typed
// right after it. busybox's cat used to wait for ever.
func TestPassLeavesTheEnd(t *testing.T) {
	typed := []string{"some line\n", ""}
	src := func(b []byte, _ int64) (int, error) {
		if len(typed) == 0 {
			t.Fatal("it reads behind the end")
		}
		line := typed[0]
		typed = typed[1:]
		if line == "" {
			return 0, io.EOF
		}
		return copy(b, line), nil
	}
	var shown []byte
	dst := func(b []byte, _ int64) (int, error) {
		shown = append(shown, b...)
		return len(b), nil
	}
	n, err := pass(nil, src, dst, mostIO, 0)
	if n != 10 || err != nil || string(shown) != "some line\n" || len(typed) != 1 {
		t.Errorf("%d, %v, %q shown, %q left", n, err, shown, typed)
	}
	if n, err = pass(nil, src, dst, mostIO, 10); n != 0 || err != nil {
		t.Errorf("at the end: %d, %v", n, err)
	}
}
