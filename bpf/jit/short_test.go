//go:build linux

package jit

import (
	"bytes"
	"slices"
	"testing"
)

// TestShorten: a distance has one byte up to 127, also if others between make that so.
func TestShorten(t *testing.T) {
	nops := func(n int) []byte { return bytes.Repeat([]byte{0x90}, n) }
	jmp, je := []byte{0xE9, 0, 0, 0, 0}, []byte{0x0F, 0x84, 0, 0, 0, 0}
	for _, c := range []struct {
		code  [][]byte
		jumps []jump
		want  [][]byte
	}{
		{[][]byte{nops(1)}, nil, [][]byte{nops(1)}},
		{[][]byte{jmp, nops(127)}, []jump{{1, 132}}, [][]byte{{0xEB, 127}, nops(127)}},
		{[][]byte{jmp, nops(128)}, []jump{{1, 133}}, [][]byte{{0xE9, 128, 0, 0, 0}, nops(128)}},
		{[][]byte{nops(3), je, nops(128)}, []jump{{5, 137}}, [][]byte{nops(3), {0x0F, 0x84, 128, 0, 0, 0}, nops(128)}},
		{[][]byte{je, nops(60), jmp, nops(65), nops(9)}, []jump{{67, 136}, {2, 136}}, [][]byte{{0x74, 127}, nops(60), {0xEB, 65}, nops(65), nops(9)}},
		{[][]byte{je, nops(61), je, nops(70), nops(70)}, []jump{{2, 73}, {69, 213}}, [][]byte{{0x74, 67}, nops(61), {0x0F, 0x84, 140, 0, 0, 0}, nops(140)}},
	} {
		if got, _ := shorten(bytes.Join(c.code, nil), c.jumps); !bytes.Equal(got, bytes.Join(c.want, nil)) {
			t.Errorf("got  % x\nwant % x", got, bytes.Join(c.want, nil))
		}
	}
	je = []byte{0x0F, 0x84, 0, 0, 0, 0}
	got, outward := shorten(bytes.Join([][]byte{je, je, je}, nil), []jump{{8, outside}, {2, 18}, {14, outside}})
	if want := append([]byte{0x74, 12}, bytes.Repeat(je, 2)...); !bytes.Equal(got, want) || !slices.Equal(outward, []int{4, 10}) {
		t.Errorf("got  % x, %v\nwant % x", got, outward, want)
	}
}
