package verify

import "testing"

// TestGoneOnStack: two paths meet with a pointer on the stack that is not valid any more.
func TestGoneOnStack(t *testing.T) {
	for _, text := range []string{
		"r6 = *(u64 *)(r1 + 0); RESERVE; if r0 == 0 goto out; *(u64 *)(r10 - 8) = r0; r1 = r0; r2 = 0; call 132; r7 = 1; r7 = 2; r7 = 3; if r6 == 0 goto on; r7 = 4; on: r8 = 1; r8 = 1; r8 = 2; out: r0 = 0; exit",
		"r6 = *(u64 *)(r1 + 0); r1 = r10; r1 += -8; call f; r7 = 1; r7 = 2; r7 = 3; if r6 == 0 goto on; r7 = 4; on: r8 = 1; r0 = 0; exit; f: *(u64 *)(r1 + 0) = r10; r0 = 0; exit",
	} {
		if _, err := check(t, text, Limits{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
