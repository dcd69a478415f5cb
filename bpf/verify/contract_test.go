package verify

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// promise is a sentence of the contract, with a program that keeps it and one that is refused since it does not.
type promise struct{ sentence, accepted, refused, why string }

// contract reads the promises of testdata/contract.txt.
func contract(t *testing.T) (all []promise) {
	t.Helper()
	data, err := os.ReadFile("testdata/contract.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")[1:]
	for of := range slices.Chunk(lines, 4) {
		if len(of) < 4 {
			t.Fatalf("%s: expected a sentence, two programs and why one is refused", of[0])
		}
		all = append(all, promise{of[0], strings.TrimSpace(of[1]), strings.TrimSpace(of[2]), strings.TrimSpace(of[3])})
	}
	return all
}

// TestContract: each sentence of docs/verifier.md is true.
func TestContract(t *testing.T) {
	for _, p := range contract(t) {
		t.Run(p.sentence, func(t *testing.T) {
			if _, err := check(t, pruning.Replace(p.accepted), Limits{}); err != nil {
				t.Errorf("%s: %v", p.accepted, err)
			}
			if _, err := check(t, pruning.Replace(p.refused), Limits{}); err == nil || !strings.Contains(err.Why, p.why) {
				t.Errorf("%s: got %v, expected %q", p.refused, err, p.why)
			}
		})
	}
}

// TestContractIsWritten: the page has the sentences that are tried, and no others.
func TestContractIsWritten(t *testing.T) {
	page, err := os.ReadFile("../../docs/verifier.md")
	if err != nil {
		t.Fatal(err)
	}
	var written, tried []string
	for _, par := range strings.Split(strings.TrimSpace(string(page)), "\n\n") {
		if items, isList := strings.CutPrefix(par, "- "); isList {
			for _, item := range strings.Split(items, "\n- ") {
				written = append(written, strings.Join(strings.Fields(item), " "))
			}
		}
	}
	for _, p := range contract(t) {
		tried = append(tried, p.sentence)
	}
	for i := range max(len(written), len(tried)) {
		if i >= len(written) || i >= len(tried) || written[i] != tried[i] {
			t.Fatalf("docs/verifier.md and testdata/contract.txt differ at sentence %d:\n%q\n%q", i+1, written[min(i, len(written)):], tried[min(i, len(tried)):])
		}
	}
}
