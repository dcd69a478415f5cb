package verify

import (
	"strings"
	"testing"
)

// linkedDecide are programs in which what is known of one number decides the comparison of another, which
// is the same plus a constant. It is known on the first path to the join only, and cannot be said of the
// other number, since the sum may wrap. READ reads two numbers, WALK takes so many instructions that the
// state at the join is kept.
var linkedDecide = map[string]string{
	"a copy plus a constant": `READ; r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: WALK; if r7 == 32 goto bad; out: r0 = 0; exit`,
	"a copy less a constant": `READ; r7 = r6; r7 -= 3; if r8 != 0 goto join; if r7 == 0 goto out
		join: WALK; if r6 == 3 goto bad; out: r0 = 0; exit`,
	"two copies with other constants": `READ; r7 = r6; r7 += 32; r9 = r6; r9 += -5; r6 = 0; if r8 != 0 goto join; if r9 == 0 goto out
		join: WALK; if r7 == 37 goto bad; out: r0 = 0; exit`,
	"a bound that wraps": `READ; r7 = r6; r7 += 32; if r8 != 0 goto join; r2 = -17; if r6 > r2 goto out
		join: WALK; if r7 == 21 goto bad; out: r0 = 0; exit`,
	"a signed bound that wraps": `READ; r7 = r6; r7 += -32; if r8 != 0 goto join; if r6 s> 9 goto out
		join: WALK; if r7 s< 0 goto out; if r7 s< 9 goto bad; out: r0 = 0; exit`,
	"one of them on the stack": `READ; *(u64 *)(r10 - 16) = r6; r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: r6 = 0; WALK; if r7 == 32 goto bad; out: r0 = 0; exit`,
	"both on the stack": `READ; r7 = r6; r7 += 32; *(u64 *)(r10 - 16) = r6; *(u64 *)(r10 - 24) = r7; if r8 != 0 goto join; if r6 == 0 goto out
		join: r6 = 0; r7 = 0; WALK; r7 = *(u64 *)(r10 - 24); if r7 == 32 goto bad; out: r0 = 0; exit`,
	"a comparison of 32 bits": `READ; r7 = r6; r7 += 32; if r8 != 0 goto join; if w6 == 0 goto out
		join: WALK; if w7 == 32 goto bad; out: r0 = 0; exit`,
	"a copy of 32 bits": `READ; w6 = w6; w7 = w6; r6 += -7; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: WALK; if r7 == 39 goto bad; out: r0 = 0; exit`,
	"a comparison with a register": `READ; r9 = *(u64 *)(r1 + 16); r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: WALK; if r9 != 32 goto out; if r9 == r7 goto bad; out: r0 = 0; exit`,
	"a comparison of the second operand": `READ; r9 = *(u64 *)(r1 + 16); r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: WALK; if r9 > 32 goto out; if r7 < 32 goto out; if r7 <= r9 goto bad; out: r0 = 0; exit`,
	"a comparison that does not jump": `READ; r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: WALK; if r7 != 32 goto out; goto bad; out: r0 = 0; exit`,
	"a number of the calling function": `READ; r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: r1 = r7; call f; out: r0 = 0; exit; f: WALK; if r1 == 0 goto on; on: WALK; if r1 == 32 goto bad; r0 = 0; exit`,
	"a number of a function that a helper calls": `r1 = 10; r2 = subprog[f]; r3 = 0; r4 = 0; call 181; r0 = 0; exit
		f: call 7; r6 = r0; call 7; r8 = r0; r7 = r6; r7 += 32; if r8 != 0 goto join; if r6 == 0 goto out
		join: WALK; if r7 == 32 goto bad; out: r0 = 0; exit`,
}

// TestWhatDecidesIsCompared: the path that comes to the join later knows less, and must be walked.
func TestWhatDecidesIsCompared(t *testing.T) {
	forms := strings.NewReplacer("\n", "; ", "\t", "", "READ", "r6 = *(u64 *)(r1 + 0); r8 = *(u64 *)(r1 + 8)",
		"WALK", "r3 = 0; r3 = 1; r3 = 2; r3 = 3; r3 = 4; r3 = 5; r3 = 6; r3 = 7")
	for name, text := range linkedDecide {
		text = forms.Replace(text) + "; bad: r0 = *(u64 *)(r10 + 8); exit"
		if _, err := check(t, text, Limits{}); err == nil || !strings.Contains(err.Why, "outside the stack") {
			t.Errorf("%s: got %v, expected that the load at bad is refused", name, err)
		}
		known := strings.Replace(text, "if r8 != 0 goto join; ", "", 1)
		if _, err := check(t, strings.Replace(known, "join: ", "", 1), Limits{}); err != nil {
			t.Errorf("%s, known on each path: %v", name, err)
		}
	}
}
