package sim

import "testing"

// shown is what scripts print.
var shown = []struct{ script, want string }{
	{`BEGIN { printf("%d %s\n", 1 + 2 * 3, "hi"); @a[1] = 2; exit() } END { printf("end\n") }`, "7 hi\nend\n\n@a[1]: 2\n\n"},
	{`interval:ms:100 { @ = count(); } interval:s:1 { exit(); }`, "\n@: 10\n\n"},
	{`BEGIN { @[1] = sum(2); @[1] = sum(3); @b[2] = 1; delete(@b, 2); clear(@); exit(); }`, "\n\n\n"},
}

func TestScripts(t *testing.T) {
	for _, c := range shown {
		r, err := Run(&Options{Name: "stdin", Script: c.script, Quiet: true, Comm: "bt"})
		if err != nil {
			t.Errorf("%s\n%v", c.script, err)
		} else if r.Text != c.want {
			t.Errorf("%s\nprints %q\nexpected %q", c.script, r.Text, c.want)
		}
	}
}
