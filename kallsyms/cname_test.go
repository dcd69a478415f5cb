package kallsyms

import (
	"slices"
	"testing"
)

func TestCNamesFollowTheRule(t *testing.T) {
	tests := []struct {
		what        string
		names, want []string
	}{
		{"a method", []string{"sonde/kernel/vfs.(*File).ReadWait"}, []string{"vfs_File_ReadWait"}},
		{"no path", []string{"runtime.mallocgc"}, []string{"runtime_mallocgc"}},
		{"a dot in the path", []string{"github.com/a/b%2ec.F"}, []string{"b_2ec_F"}},
		{"slashes of a type argument", []string{"sonde/a.F[go.shape.*sonde/b.T]"}, []string{"a_F_go_shape_sonde_b_T_"}},
		{"runs of underscores", []string{"a.__f"}, []string{"a_f"}},
		{"a digit first", []string{"x/9p.F"}, []string{"_9p_F"}},
		{"other letters", []string{"a.Größe"}, []string{"a_Gr_e"}},
		{"two packages of one name", []string{"x/a/p.F", "x/b/p.F", "x/b/p.G"}, []string{"a_p_F", "b_p_F", "p_G"}},
		{"one of them without a path", []string{"p.F", "x/p.F"}, []string{"p_F", "x_p_F"}},
		{"met again by the longer name", []string{"x/a/p.F", "x/b/p.F", "x/a_p.F"}, []string{"x_a_p_F", "b_p_F", "x_a_p_F_2"}},
		{"a method and its wrapper", []string{"p.T.Len", "p.(*T).Len"}, []string{"p_T_Len_2", "p_T_Len"}},
		{"a number that is taken", []string{"p.f", "p..f", "p.f_2"}, []string{"p_f_3", "p_f", "p_f_2"}},
		{"one name twice", []string{"f", "f"}, []string{"f", "f_2"}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			if got := CNames(tt.names); !slices.Equal(got, tt.want) {
				t.Errorf("CNames(%q) = %q, want %q", tt.names, got, tt.want)
			}
		})
	}
}

func FuzzCNames(f *testing.F) {
	f.Add("x/a/p.F", "x/b/p.F", "p.F_2")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		checkCNames(t, []string{a, b, c, a})
	})
}

// checkCNames checks what holds for all C names: they differ, and C allows them.
func checkCNames(t *testing.T, names []string) {
	t.Helper()
	seen := make(map[string]string)
	for i, c := range CNames(names) {
		if other, met := seen[c]; met {
			t.Errorf("%q and %q are both %q", other, names[i], c)
		}
		seen[c] = names[i]
		if c != "" && '0' <= c[0] && c[0] <= '9' {
			t.Errorf("%q is %q, which begins with a digit", names[i], c)
		}
		for _, b := range []byte(c) {
			if !allowed(b) {
				t.Errorf("%q is %q: C does not allow %q", names[i], c, b)
			}
		}
	}
}

func TestBaseAndPackage(t *testing.T) {
	for name, want := range map[string][2]string{
		"main.main":                           {"main.main", "main"},
		"sonde/kernel/vfs.(*File).Read":       {"vfs.(*File).Read", "sonde/kernel/vfs"},
		"example.com/m.init.0.func1":          {"m.init.0.func1", "example.com/m"},
		"sync/atomic.(*P[x.T{ a/b.C }]).Load": {"atomic.(*P[x.T{ a/b.C }]).Load", "sync/atomic"},
	} {
		if got := [2]string{Base(name), Package(name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
