package verify

import (
	"strings"
	"testing"
)

// In programs of the tests of pruning, READ reads two numbers, FIND has R9 point to a value of counts, and
// ADD reads a byte of it, R7 bytes after its start. WALK takes so many instructions that the state at the
// next join is kept. Of a comparison, the path that does not jump is walked first.
var pruning = strings.NewReplacer("\n", "; ", "\t", "",
	"READ", "r6 = *(u64 *)(r1 + 0); r8 = *(u64 *)(r1 + 8); r7 = *(u64 *)(r1 + 16)",
	"FIND", "LOOKUP; if r0 == 0 goto out; r9 = r0",
	"ADD", "r9 += r7; r0 = *(u8 *)(r9 + 0)",
	"FILL", "r1 = r10; r1 += -24; r2 = 8; r3 = 0; call 113",
	"SUBMIT", "r2 = 0; call 132",
	"WALK", "r3 = 0; r3 = 1; r3 = 2; r3 = 3; r3 = 4; r3 = 5; r3 = 6; r3 = 7")

const out = "; out: r0 = 0; exit"

// notCovered are programs in which a later path comes to a join with less than the first one, and does
// something wrong only therefore; and what is said of it.
var notCovered = []struct{ name, text, want string }{
	{"a pointer that may be 0", `READ; LOOKUP; r9 = r0; if r8 != 0 goto join; if r9 == 0 goto out
		join: r0 = *(u64 *)(r9 + 0)` + out, "expected a comparison with 0"},
	{"no copy of a number that gets a bound", `READ; FIND; if r8 != 0 goto join; r7 = r6
		join: if r6 > 8 goto out; ADD` + out, "is moved by scalar()"},
	{"a copy of another number", `READ; r5 = r6; r4 = r7; FIND; if r8 != 0 goto join; r7 = r6
		join: if r6 > 8 goto out; ADD` + out, "is moved by scalar(id="},
	{"a copy plus another constant", `READ; r7 = r6; r7 += 100; FIND; if r8 != 0 goto join; r7 = r6; r7 += 1
		join: if r6 > 7 goto out; ADD` + out, "ends behind the value"},
	{"another place to return to", `READ; r1 = r6; if r8 != 0 goto second; call f; r0 = 0; exit; second: call f; r0 = *(u64 *)(r10 + 8); exit
		f: WALK; if r1 == 0 goto on; on: r0 = 0; exit`, "outside the stack"},
	{"a number of a function below", `READ; FIND; if r8 != 0 goto join; if r7 > 8 goto out; join: WALK; r1 = r6; call f; ADD` + out + `
		f: WALK; if r1 == 0 goto on; on: r0 = 0; exit`, "is moved by scalar()"},
	{"a pointer on the stack where bytes are", `READ; r9 = r1; r1 = r10; r1 += -8; r2 = 8; r3 = 0; call 113; if r8 != 0 goto more; goto join; more: *(u64 *)(r10 - 8) = r9
		join: r0 = *(u32 *)(r10 - 8); exit`, "holds a part of ctx()"},
	{"bytes that are not 0", `READ; *(u64 *)(r10 - 12) = 0; if r8 != 0 goto more; goto join; more: *(u64 *)(r10 - 12) = r8
		join: r2 = *(u32 *)(r10 - 8); r3 = r10; r3 += r2; r0 = 0; exit`, "is moved by scalar("},
	{"a pointer further on", `READ; FIND; r9 += 16; if r8 != 0 goto join; r9 += -8
		join: r0 = *(u64 *)(r9 + 0)` + out, "ends behind the value"},
	{"another pointer that may be 0", `READ; LOOKUP; r7 = r0; LOOKUP; r9 = r0; if r8 != 0 goto join; r9 = r7
		join: if r7 == 0 goto out; r0 = *(u64 *)(r9 + 0)` + out, "expected a comparison with 0"},
	{"an open record", `READ; if r8 != 0 goto more; goto join; more: RESERVE; if r0 == 0 goto join; join: r0 = 0; exit`, "Unreleased reference"},
	{"one record for two", `READ; RESERVE; if r0 == 0 goto out; r7 = r0; RESERVE; if r0 == 0 goto one; r9 = r0; if r8 != 0 goto more; goto join; more: r9 = r7
		join: r1 = r9; SUBMIT; one: r1 = r7; SUBMIT` + out, "R7 !read_ok"},
	{"a smaller record", `READ; if r8 != 0 goto small; RESERVE; goto join; small: r1 = map[idx:1]; r2 = 8; r3 = 0; call 131
		join: if r0 == 0 goto out; *(u64 *)(r0 + 8) = 1; r1 = r0; SUBMIT` + out, "which has 8 bytes"},
	{"a value of another map", `READ; r9 = map[idx:2][0]+0; if r8 != 0 goto join; r9 = map[idx:4][0]+0
		join: *(u64 *)(r9 + 0) = 1` + out, "which programs may only read"},
	{"the stack of another function", `READ; r1 = r10; r2 = r8; call f; r0 = 0; exit
		f: *(u64 *)(r10 - 8) = 0; r9 = r1; if r2 != 0 goto join; r9 = r10; join: r0 = *(u64 *)(r9 - 8); exit`, "was not written"},
	{"another kind of value", `READ; if r8 != 0 goto more; goto join; more: r7 = r10; join: r7 *= 2; r0 = 0; exit`, "a pointer: expected"},
	{"a word of stack less", `READ; if r8 != 0 goto join; *(u64 *)(r10 - 400) = 1; join: r0 = *(u64 *)(r10 - 400); exit`, "was not written"},
	{"a number below on the stack", `READ; FIND; *(u64 *)(r10 - 400) = r7; if r8 != 0 goto join; if r7 > 8 goto out
		join: r7 = *(u64 *)(r10 - 400); ADD` + out, "is moved by scalar("},
	{"half of a word of stack", `READ; if r8 != 0 goto more; *(u64 *)(r10 - 8) = r7; goto join; more: *(u32 *)(r10 - 8) = r7
		join: r0 = *(u64 *)(r10 - 8); exit`, "was not written"},
	{"a record of a callback", `r6 = r1; RESERVE; if r0 == 0 goto out; r7 = r0; *(u64 *)(r10 - 8) = 0; r1 = 2; r2 = subprog[f]; r3 = r10; r4 = 0; call 181
		r1 = r7; SUBMIT; r1 = 2; r2 = subprog[f]; r3 = 0; r4 = 0; call 181` + out + `
		f: if r2 != 0 goto join; RESERVE; if r0 != 0 goto join; join: r0 = 0; exit`, "Unreleased reference"},
}

// notMarked are programs in which something decides that was read only in another way: by what was computed
// from it, by what it was compared with, or on a path that ended at a join.
var notMarked = []struct{ name, text, want string }{
	{"the operand of a comparison", `READ; if r8 != 0 goto join; if r7 > 3 goto out; join: if r7 > 8 goto bad; out: r0 = 0; exit
		bad: r0 = *(u64 *)(r10 + 8); exit`, "outside the stack"},
	{"the second operand of a comparison", `READ; r4 = 8; if r8 != 0 goto join; if r7 > 3 goto out; join: if r4 < r7 goto bad; out: r0 = 0; exit
		bad: r0 = *(u64 *)(r10 + 8); exit`, "outside the stack"},
	{"the second operand of a comparison that jumps", `READ; r4 = 8; if r8 != 0 goto join; if r7 > 3 goto out
		join: if r4 >= r7 goto out; r0 = *(u64 *)(r10 + 8)` + out, "outside the stack"},
	{"a number that a pointer is compared with", `READ; LOOKUP; r9 = r0; r2 = 0; if r8 != 0 goto more; goto join; more: r2 = 5
		join: if r9 == r2 goto out; r0 = *(u64 *)(r9 + 0)` + out, "expected a comparison with 0"},
	{"a pointer that is 0", `READ; LOOKUP; r9 = r0; r7 = r0; if r8 != 0 goto more; goto join; more: r7 = r10
		join: if r9 != 0 goto out; r7 *= 2` + out, "a pointer: expected"},
	{"the bound of a bound", `READ; FIND; if r8 != 0 goto join; if r6 > 8 goto out; join: if r7 > r6 goto out; ADD` + out, "is moved by scalar("},
	{"the bound of a copy", `READ; r7 = r6; FIND; if r8 & 1 goto join; if r8 > 8 goto out; join: if r6 > r8 goto out; ADD` + out, "is moved by scalar("},
	{"a number that was added", `READ; r7 &= 1; FIND; if r8 != 0 goto join; if r6 > 8 goto out; join: r7 += r6; ADD` + out, "is moved by scalar("},
	{"a number that was shifted", `READ; FIND; if r8 != 0 goto join; if r7 > 4 goto out; join: r7 <<= 1; ADD` + out, "is moved by scalar("},
	{"what two states later is read", `READ; if r8 != 0 goto more; goto join; more: r7 = r10
		join: WALK; if r6 == 0 goto on; on: r7 *= 2; r0 = 0; exit`, "a pointer: expected"},
	{"bytes that two states later are read", `READ; *(u8 *)(r10 - 20) = 1; if r8 != 0 goto join; FILL; join: WALK; goto on; on: r0 = *(u64 *)(r10 - 24); exit`, "was not written"},
	{"a spilled number that two states later decides", `READ; FIND; *(u64 *)(r10 - 24) = r7; if r8 != 0 goto join; if r7 > 8 goto out; join: r7 = 0; WALK
		if r6 == 0 goto on; on: r7 = *(u64 *)(r10 - 24); ADD` + out, "is moved by scalar("},
	{"the size of memory", `READ; if r8 != 0 goto join; if r7 > 8 goto out; join: r1 = r10; r1 += -8; r2 = r7; r3 = 0; call 113` + out, "R2 min value is negative"},
	{"how often a callback is called", `READ; if r8 != 0 goto join; if r7 > 8 goto out; join: r1 = r7; r2 = subprog[f]; r3 = 0; r4 = 0; call 181` + out + `
		f: r0 = 0; exit`, "times: expected at most"},
	{"the size of a record", `READ; r7 = 16; if r8 != 0 goto more; goto join; more: r7 = 8; join: r1 = map[idx:1]; r2 = r7; r3 = 0; call 131
		if r0 == 0 goto out; *(u64 *)(r0 + 8) = 1; r1 = r0; SUBMIT` + out, "which has 8 bytes"},
	{"no memory, whose size is 0", `READ; r7 = 0; if r8 != 0 goto more; goto join; more: r7 = 5
		join: *(u64 *)(r10 - 8) = 0; r1 = r7; r2 = 0; r3 = r10; r3 += -8; r4 = 0; r5 = 0; call 165; r0 = 0; exit`, "R1 invalid mem access 'scalar'"},
	{"the end of a string", `READ; r9 = 0; if r8 != 0 goto more; goto join; more: r9 = -1
		join: *(u64 *)(r10 - 8) = r9; r1 = 0; r2 = 0; r3 = r10; r3 += -8; r4 = 0; r5 = 0; call 165; r0 = 0; exit`, "has no byte that is 0"},
	{"the end of a string on the stack", `READ; *(u64 *)(r10 - 8) = 0; if r8 != 0 goto more; goto join; more: *(u64 *)(r10 - 8) = -1
		join: r1 = 0; r2 = 0; r3 = r10; r3 += -8; r4 = 0; r5 = 0; call 165; r0 = 0; exit`, "has no byte that is 0"},
	{"the result of a callback", `r1 = 2; r2 = subprog[f]; r3 = 0; r4 = 0; call 181; r0 = 0; exit
		f: call 7; r8 = r0; r6 = 1; if r8 != 0 goto more; goto join; more: r6 = 2; join: r0 = r6; exit`, "expected 0 to go on or 1 to stop"},
	{"zeros across words", `READ; r9 = 0; if r8 != 0 goto more; goto join; more: r9 = r8
		join: *(u64 *)(r10 - 12) = r9; r2 = *(u32 *)(r10 - 8); r3 = r10; r3 += r2; r0 = 0; exit`, "is moved by scalar("},
	{"zeros of two words", `READ; *(u64 *)(r10 - 16) = 0; *(u64 *)(r10 - 12) = 0; *(u64 *)(r10 - 20) = 0; if r8 != 0 goto more; goto join; more: *(u8 *)(r10 - 8) = 1
		join: r2 = *(u64 *)(r10 - 12); r3 = r10; r3 += r2; *(u8 *)(r3 - 512) = 1; r0 = 0; exit`, "is moved by scalar("},
	{"a spilled number that nobody needs", `READ; *(u8 *)(r10 - 20) = 1; if r8 != 0 goto join; *(u64 *)(r10 - 24) = r7; join: r0 = *(u64 *)(r10 - 24); r0 = 0; exit`, "was not written"},
	{"a part of a spilled number", `READ; *(u8 *)(r10 - 20) = 1; if r8 != 0 goto join; *(u64 *)(r10 - 24) = r7; join: r0 = *(u32 *)(r10 - 24); exit`, "was not written"},
	{"bytes beside one that is written", `READ; *(u8 *)(r10 - 20) = 1; if r8 != 0 goto join; FILL; join: *(u8 *)(r10 - 17) = 1; r0 = *(u32 *)(r10 - 24); exit`, "was not written"},
	{"a number of which a byte is written", `READ; *(u8 *)(r10 - 20) = 1; if r8 != 0 goto join; *(u64 *)(r10 - 24) = r7; join: *(u8 *)(r10 - 17) = 1; r0 = *(u32 *)(r10 - 24); exit`, "was not written"},
	{"a number that a path ended with", `READ; FIND; if r8 != 0 goto b; if r7 > 8 goto out; goto on; b: if r6 != 0 goto join; if r7 > 8 goto out
		join: WALK; on: ADD` + out, "is moved by scalar("},
	{"a spilled number that a path ended with", `READ; FIND; if r8 != 0 goto b; if r7 > 8 goto out; *(u64 *)(r10 - 24) = r7; goto on; b: if r6 != 0 goto c; if r7 > 8 goto out
		c: *(u64 *)(r10 - 24) = r7; WALK; goto join; join: WALK; on: r7 = *(u64 *)(r10 - 24); ADD` + out, "is moved by scalar("},
	{"bytes that a path ended with", `READ; if r8 != 0 goto b; FILL; goto on; b: WALK; if r6 != 0 goto c; FILL; goto join; c: *(u8 *)(r10 - 24) = 1
		join: WALK; on: r0 = *(u64 *)(r10 - 24); exit`, "was not written"},
	{"bytes of a number that a path ended with", `READ; if r8 != 0 goto b; FILL; goto on; b: if r6 != 0 goto c; goto d; c: r7 = r10
		d: *(u64 *)(r10 - 24) = r7; WALK; goto join; join: WALK; on: r0 = *(u32 *)(r10 - 24); exit`, "holds a part of fp0"},
	{"a number of a function below that a path ended with", `READ; FIND; if r8 != 0 goto b; if r7 > 8 goto out; r1 = 0; goto now; b: if r6 != 0 goto c; if r7 > 8 goto out; r1 = 1; goto now
		c: r1 = 2; now: call f; ADD` + out + `; f: WALK; if r1 == 0 goto on; goto join; join: WALK; on: r0 = 0; exit`, "is moved by scalar("},
}

// TestWhatDecidesIsMarked: whatever of a state a decision rests on is marked in it.
func TestWhatDecidesIsMarked(t *testing.T) { refusesAll(t, notMarked) }

// notKnown are programs that use a number or memory as if more were known of it than is.
var notKnown = []struct{ name, text, want string }{
	{"a sum of 32 bits", `READ; FIND; r6 = r7; w6 += 1; if r6 > 8 goto out; ADD` + out, "is moved by scalar("},
	{"a sum with what is not constant", `READ; FIND; r6 = r7; r6 += r8; if r6 > 8 goto out; ADD` + out, "is moved by scalar("},
	{"a difference", `READ; FIND; r6 = r7; r6 -= 8; if r6 > 8 goto out; ADD` + out, "ends behind the value"},
	{"the low half", `READ; FIND; if w7 > 8 goto out; ADD` + out, "is moved by scalar("},
	{"a copy of the low half", `READ; FIND; w6 = w7; if r6 > 8 goto out; ADD` + out, "is moved by scalar("},
	{"a byte that was stored", `READ; FIND; *(u8 *)(r10 - 16) = r7; r2 = *(u8 *)(r10 - 16); if r2 > 8 goto out; ADD` + out, "is moved by scalar("},
	{"a byte with a sign", `READ; FIND; r7 = 255; r7 = (s8)r7; ADD` + out, "begins before the value"},
	{"bytes in the other order", `READ; FIND; r7 = 0x1000; r7 = be16 r7; ADD` + out, "ends behind the value"},
	{"two distances that are too far together", `r2 = r10; r2 += 0x1fffffff; r2 += 0x1fffffff; r0 = 0; exit`, "is moved too far"},
	{"memory that a helper may write", `*(u32 *)(r10 - 8) = 0; r2 = *(u64 *)(r1 + 0); r2 &= 7; r1 = r10; r1 += -8; r3 = 0; call 113; r0 = *(u16 *)(r10 - 4); exit`, "was not written"},
	{"memory after an atomic operation", `READ; FIND; *(u64 *)(r10 - 16) = 0; lock *(u64 *)(r10 - 16) += r6; r7 = *(u64 *)(r10 - 16); ADD` + out, "is moved by scalar()"},
	{"what an atomic operation fetches", `READ; FIND; *(u64 *)(r10 - 16) = r6; r7 = 1; r7 = atomic_fetch_add((u64 *)(r10 - 16), r7); ADD` + out, "is moved by scalar()"},
	{"what cmpxchg fetches", `READ; FIND; *(u64 *)(r10 - 16) = r6; r0 = 1; r2 = 1; r0 = cmpxchg_64(r10 - 16, r0, r2); r7 = r0; ADD` + out, "is moved by scalar("},
	{"memory after a callback", `READ; FIND; *(u64 *)(r10 - 16) = 0; r1 = 2; r2 = subprog[f]; r3 = r10; r3 += -16; r4 = 0; call 181; r7 = *(u64 *)(r10 - 16); ADD` + out + `
		f: *(u64 *)(r2 + 0) = 5000; r0 = 0; exit`, "is moved by scalar()"},
	{"an offset of which some bits are known", `READ; *(u64 *)(r10 - 16) = 0; *(u64 *)(r10 - 8) = 0; r6 &= 7; r2 = r10; r2 += -16; r2 += r6; lock *(u32 *)(r2 + 0) += w7; r0 = 0; exit`, "is not aligned"},
	{"all of the stack that is loaded from", `READ; *(u64 *)(r10 - 16) = 1; r6 &= 8; r2 = r10; r2 += -16; r2 += r6; r0 = *(u64 *)(r2 + 0); exit`, "the stack at fp-8 was not written"},
	{"how often a callback was called", `r1 = 2; r2 = subprog[f]; r3 = 0; r4 = 0; call 181; r0 = 0; exit; f: if r1 == 1 goto bad; r0 = 0; exit
		bad: r0 = *(u64 *)(r10 + 8); exit`, "outside the stack"},
	{"what a helper returns", `READ; FIND; r2 = r6; r2 &= 31; r1 = r10; r1 += -40; r3 = 0; call 45; r7 = r0; if r7 s< 0 goto out; ADD` + out, "ends behind the value"},
	{"an error that a helper returns", `READ; FIND; r2 = 8; r1 = r10; r1 += -40; r3 = 0; call 45; r7 = r0; ADD` + out, "begins before the value"},
	{"a map in a map", `*(u64 *)(r10 - 8) = 0; r1 = map[idx:3]; r2 = r10; r2 += -8; call 1; r1 = r0; r2 = r10; r2 += -8; call 1; r0 = 0; exit`, "expected=map_ptr"},
	{"the fifth argument of a helper", `r5 = 1; call 5; r0 = r5; exit`, "R5 !read_ok"},
	{"what cmpxchg compares with", `*(u64 *)(r10 - 8) = 0; r2 = 1; r0 = cmpxchg_64(r10 - 8, r0, r2); exit`, "R0 !read_ok"},
	{"memory of two kinds", `READ; *(u64 *)(r10 - 8) = 1; call 158; r2 = r10; r2 += -8; if r8 != 0 goto more; goto join; more: r2 = r0
		join: r0 = *(u64 *)(r2 + 0); exit`, "same insn cannot be used with different pointers"},
	{"memory of the kernel that may be at 0", `call 158; if r0 == 0 goto bad; r0 = 0; exit; bad: r0 = *(u64 *)(r10 + 8); exit`, "outside the stack"},
}

// TestNotKnown: what is known of a number is known of its copies only, and until it is written.
func TestNotKnown(t *testing.T) { refusesAll(t, notKnown) }

// TestNotCovered: whatever of a value, a frame or a record matters later on is compared.
func TestNotCovered(t *testing.T) { refusesAll(t, notCovered) }

func refusesAll(t *testing.T, programs []struct{ name, text, want string }) {
	t.Helper()
	for _, c := range programs {
		if _, err := check(t, pruning.Replace(c.text), Limits{}); err == nil || !strings.Contains(err.Why, c.want) {
			t.Errorf("%s: got %v, expected %q", c.name, err, c.want)
		}
	}
}
