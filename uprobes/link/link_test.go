package link

import "testing"

func TestPath(t *testing.T) {
	for file, want := range map[string]string{"": "", "sh": "/bin/sh", "/lib/libc.so": "/lib/libc.so", "./a": "./a"} {
		if got := Path(file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}
