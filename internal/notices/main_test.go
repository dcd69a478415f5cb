package main

import (
	"bytes"
	"testing"
)

func TestNoticesAreComplete(t *testing.T) {
	if err := run(true); err != nil {
		t.Error(err)
	}
}

func TestModuleWithoutALicenceIsNamed(t *testing.T) {
	var b bytes.Buffer
	if err := (module{"example.com/m", "v1.0.0", t.TempDir()}).write(&b); err == nil || err.Error() != "example.com/m v1.0.0 has no licence" {
		t.Error(err)
	}
}
