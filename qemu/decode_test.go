package main

import (
	"reflect"
	"testing"
)

// TestParseEssence: a telephone may make spaces of line breaks; a reason may look like an address.
func TestParseEssence(t *testing.T) {
	want := essence{0xab, 0xffffffff84001234, 0xffffffc000123000, []uint64{0xffffffff84000001, 0xffffffff84000002}, "#PF page fault"}
	for _, text := range []string{
		"sonde ab\nffffffff84001234 ffffffc000123000\n84000001 84000002\n#PF page fault",
		"sonde ab ffffffff84001234 ffffffc000123000 84000001 84000002 #PF page fault \r\n",
	} {
		if got, err := parseEssence(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := parseEssence("sonde ab 1 2 assembly stops"); err != nil || len(got.callers) != 0 || got.why != "assembly stops" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "sonde", "sonde 1 2", "linux 1 2 3", "sonde x 2 3", "sonde 123456789 2 3 x", "sonde 1 2 123456789abcdef01 x", "https://example.org a b c"} {
		if got, err := parseEssence(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
