package book

import (
	"context"
	"os"
	"testing"

	"sonde/ktest/mutants"
)

// lengths are the mutants of exercise 14.4.
var lengths = []struct {
	mutants.Mutant
	want mutants.Verdict
}{
	{mutants.Mutant{
		Name: "three-bytes-are-watched", In: "kwatch.(*point).check",
		Old: "case p.length != 1 && p.length != 2", New: "case p.length != 1 && p.length != 3",
		By:  mutants.Test{Package: "kwatch", Name: "TestRefusalsChangeNothing"},
		Why: "the processor is given a length that it does not have",
	}, mutants.Killed},
	{mutants.Mutant{
		Name: "four-bytes-are-refused", In: "kwatch.(*point).check",
		Old: " && p.length != 4", New: "",
		By:  mutants.Test{Package: "kwatch", Name: "TestRefusalsChangeNothing"},
		Why: "a variable of four bytes cannot be watched",
	}, mutants.Survived},
	{mutants.Mutant{
		Name: "four-bytes-are-refused-by-another-test", In: "kwatch.(*point).check",
		Old: " && p.length != 4", New: "",
		By:  mutants.Test{Package: "kwatch", Name: "TestWhatAnInstructionHitsBesides"},
		Why: "a variable of four bytes cannot be watched",
	}, mutants.Killed},
}

// TestMutantsOfTheExercise: what the solution of exercise 14.4 says of its mutants is so.
func TestMutantsOfTheExercise(t *testing.T) {
	if testing.Short() || os.Getenv("SONDE_BRIEF") != "" {
		t.Skip("copies the tree, and builds")
	}
	tree, err := mutants.Take(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, m := range lengths {
		if r := tree.Run(context.Background(), m.Mutant); r.Verdict != m.want {
			t.Errorf("%s: %s (%s), want %s", m.Name, r.Verdict, r.Why, m.want)
		}
	}
}
