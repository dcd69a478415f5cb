package gotypes

import (
	"reflect"
	"testing"
)

var (
	word   = &Type{Size: 8, Align: 8}
	char   = &Type{Size: 1, Align: 1}
	real8  = &Type{Kind: Float, Size: 8, Align: 8}
	str    = &Type{Kind: String, Size: 16, Align: 8}
	slice8 = &Type{Kind: Slice, Size: 24, Align: 8}
	pair   = &Type{Kind: Array, Size: 16, Align: 8, Len: 2, Elem: word}
	one    = &Type{Kind: Array, Size: 8, Align: 8, Len: 1, Elem: word}
	mixed  = &Type{Kind: Struct, Size: 32, Align: 8, Fields: []*Type{str, real8, char}}
)

func TestAssign(t *testing.T) {
	tests := []struct {
		what         string
		params, res  []*Type
		wantA, wantR []Place
	}{
		{"words of a slice and a string", []*Type{word, slice8, str}, nil,
			[]Place{{Regs: []Reg{AX}}, {Regs: []Reg{BX, CX, DI}}, {Regs: []Reg{SI, R8}}}, []Place{}},
		{"results begin anew", []*Type{word}, []*Type{str, word},
			[]Place{{Regs: []Reg{AX}}}, []Place{{Regs: []Reg{AX, BX}}, {Regs: []Reg{CX}}}},
		{"fields of a struct", []*Type{mixed}, nil, []Place{{Regs: []Reg{AX, BX, X0, CX}}}, []Place{}},
		{"what does not fit takes no register", []*Type{slice8, slice8, str, str, word}, nil,
			[]Place{{Regs: []Reg{AX, BX, CX}}, {Regs: []Reg{DI, SI, R8}}, {Regs: []Reg{R9, R10}},
				{OnStack: true}, {Regs: []Reg{R11}}}, []Place{}},
		{"arrays", []*Type{char, pair, one}, []*Type{pair},
			[]Place{{Regs: []Reg{AX}}, {OnStack: true}, {Regs: []Reg{BX}}}, []Place{{OnStack: true, Stack: 16}}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			a, r := Assign(tt.params, tt.res)
			if !reflect.DeepEqual(a, tt.wantA) || !reflect.DeepEqual(r, tt.wantR) {
				t.Errorf("Assign = %v, %v, want %v, %v", a, r, tt.wantA, tt.wantR)
			}
		})
	}
}
