package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAmounts: what a module and a script print, and what is too far off.
func TestAmounts(t *testing.T) {
	g := &grader{lab: lab1(t), module: "lab1"}
	work, _ := facts("amount.Nap 1000\namount.Bell 200\ndone ask\n")
	for lines, ok := range map[string]bool{
		"lab1: load.Nap 1000|lab1: sonde/course/load.Bell 200": true, "@ns[load.Nap]: 1249|@ns[load.Bell]: 151": true,
		"@[load.Nap+41]: 600|@[load.Nap+53]: 400|@x[load.Bell]: 200": true, "lab1: load.Nap 1251|lab1: load.Bell 200": false,
		"lab1: load.Nap 1000": false, "lab2: load.Nap 1000|lab1: load.Bell 200": false, "lab1: 1000 load.Nap|lab1: load.Bell 200": false,
		"lab1: load.Nap 749|lab1: load.Bell 200": false, "": false,
	} {
		test := theTest(t, "AMOUNTS 25\n")
		if expected, got := g.amounts(test, strings.Split(lines, "|"), work); (expected == "") != ok {
			t.Errorf("%q: expected %q, got %q", lines, expected, got)
		}
	}
	if _, got := g.amounts(theTest(t, "AMOUNTS 25\n"), []string{"@[load.hold]: 9"}, work); got != `Bell: 0; there are numbers of ["hold"]` {
		t.Errorf("got %s", got)
	}
	none, _ := facts("done ask\namount.Nap 0\n")
	if expected, _ := g.amounts(theTest(t, "AMOUNTS 25\n"), nil, none); expected == "" {
		t.Error("a workload that has done nothing is measured rightly")
	}
}

// TestBudget: the budget is at least the cost, and is a limit.
func TestBudget(t *testing.T) {
	known := map[string]string{"work.toll": "2600"}
	for budget, ok := range map[string]bool{"2600": true, "8000": true, "2599": false, "20001": false, "": false, "much": false} {
		if expected, _ := (answers{"budget": budget}).budget("budget {work.toll} 20000", known); (expected == "") != ok {
			t.Errorf("%q: %q", budget, expected)
		}
	}
	if expected, _ := (answers{"budget": "9"}).budget("budget {work.toll} 20000", nil); expected == "" {
		t.Error("a cost that nobody has measured is within the budget")
	}
}

// TestMeasure: a script is the instrument if it has more than comments; only known questions are asked.
func TestMeasure(t *testing.T) {
	const script = "measure insmod work do=ask,{answer.question},1\ndmesg"
	for text, want := range map[string]string{
		"// a comment\n\n":    "insmod lab1; insmod work do=ask,locks,1; rmmod lab1\ndmesg",
		"BEGIN { exit(); }\n": "bt -q -c 'insmod work do=ask,locks,1' /lab8.bt\ndmesg",
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "lab8.bt"), text)
		g := &grader{lab: &Lab{Script: "lab8.bt"}, module: "lab1", answers: answers{"question": "locks"}}
		if err := g.readScript(dir); err != nil {
			t.Fatal(err)
		}
		if got := g.measure(script); got != want || g.script != (g.programs.archive != "") {
			t.Errorf("%q: %q", text, got)
		}
	}
	for question, ok := range map[string]bool{"locks": true, "waits": true, "": false, "faults": false, "locks; poweroff": false} {
		if expected, _ := (answers{"question": question}).unknown(); (expected == "") != ok {
			t.Errorf("%q: %q", question, expected)
		}
	}
}

// TestMistakesInScripts: a script that bt refuses is why a workload has not ended.
func TestMistakesInScripts(t *testing.T) {
	g := &grader{lab: &Lab{Script: "lab8.bt"}, module: "lab8", script: true}
	o := out("/lab8.bt:2:41-56: ERROR: != does not work on symbol and string[1]\n@[x] != 1\n", "")
	if r := g.judge(theTest(t, ""), &o); r.Outcome != Fail || r.Got != "lab8.bt:2:41-56: != does not work on symbol and string[1]" {
		t.Errorf("%s, got %q", r.Outcome, r.Got)
	}
	o = out("an ERROR: of something else\n", "calls 12\n")
	if r := g.judge(theTest(t, ""), &o); r.Expected != "an end of all 1 workloads" {
		t.Errorf("expected %q", r.Expected)
	}
}
