package gotypes

import (
	"reflect"
	"testing"
)

var passed = []Desc{{},
	{Kind: reflect.Uint64, Size: 8, Align: 8},
	{Kind: reflect.Uint8, Size: 1, Align: 1},
	{Kind: reflect.Float64, Size: 8, Align: 8},
	{Kind: reflect.String, Size: 16, Align: 8},
	{Kind: reflect.Slice, Size: 24, Align: 8},
	{Kind: reflect.Array, Size: 16, Align: 8, Len: 2, Elem: 1},
	{Kind: reflect.Array, Size: 8, Align: 8, Len: 1, Elem: 1},
	{Kind: reflect.Struct, Size: 32, Align: 8, Fields: []Field{{Type: 4}, {Type: 3}, {Type: 2}}},
}

var word, char, str, slice8, pair, one, mixed = Param{Type: 1}, Param{Type: 2}, Param{Type: 4}, Param{Type: 5}, Param{Type: 6}, Param{Type: 7}, Param{Type: 8}

func TestAssign(t *testing.T) {
	tests := []struct {
		what         string
		params, res  []Param
		wantA, wantR []Place
	}{
		{"words of a slice and a string", []Param{word, slice8, str}, nil,
			[]Place{{Regs: []Reg{AX}}, {Regs: []Reg{BX, CX, DI}}, {Regs: []Reg{SI, R8}}}, []Place{}},
		{"results begin anew", []Param{word}, []Param{str, word},
			[]Place{{Regs: []Reg{AX}}}, []Place{{Regs: []Reg{AX, BX}}, {Regs: []Reg{CX}}}},
		{"fields of a struct", []Param{mixed}, nil, []Place{{Regs: []Reg{AX, BX, X0, CX}}}, []Place{}},
		{"what does not fit takes no register", []Param{slice8, slice8, str, str, word}, nil,
			[]Place{{Regs: []Reg{AX, BX, CX}}, {Regs: []Reg{DI, SI, R8}}, {Regs: []Reg{R9, R10}},
				{OnStack: true}, {Regs: []Reg{R11}}}, []Place{}},
		{"arrays", []Param{char, pair, one}, []Param{pair},
			[]Place{{Regs: []Reg{AX}}, {OnStack: true}, {Regs: []Reg{BX}}}, []Place{{OnStack: true, Stack: 16}}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			a, r := Assign(passed, tt.params, tt.res)
			if !reflect.DeepEqual(a, tt.wantA) || !reflect.DeepEqual(r, tt.wantR) {
				t.Errorf("Assign = %v, %v, want %v, %v", a, r, tt.wantA, tt.wantR)
			}
		})
	}
}
