package shell

import (
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/linux/calls"
	"sonde/trace/lang"
	sources "sonde/trace/source"
	"sonde/trace/tracefs"
)

// TestEachFieldOfAFormatCanBeUsed: of each tracepoint that there is a file of, a script can use each field that the
// file has.
func TestEachFieldOfAFormatCanBeUsed(t *testing.T) {
	calls.RegisterTracepoints()
	tree := vfs.New()
	if err := tracefs.Mount(tree); err != nil {
		t.Fatal(err)
	}
	from := &sources.Source{Symbols: &kallsyms.Table{}, Programs: scripted}
	field := regexp.MustCompile(`(?m)^\tfield:.*?(\w+)(\[\d+\])?;\t`)
	list, err := tree.ReadFile("sys/kernel/tracing/available_events")
	n := 0
	for name := range strings.FieldsSeq(string(list)) {
		dir := path.Join("sys/kernel/tracing/events", strings.ReplaceAll(name, ":", "/"))
		format, missing := tree.ReadFile(dir + "/format")
		id, without := tree.ReadFile(dir + "/id")
		if err = errors.Join(err, missing, without); err != nil {
			break
		}
		for _, m := range field.FindAllStringSubmatch(string(format), -1) {
			use := "args." + m[1]
			if m[2] == "[6]" { // the arguments of any call
				use += "[5]"
			}
			script, err := lang.Parse("test", "tracepoint:"+name+" { @ = "+use+"; }")
			var unit *lang.Unit
			if err == nil {
				unit, err = lang.Compile(script, &lang.Options{Resolver: from, CPUs: 1})
			}
			if n++; err != nil {
				t.Errorf("%s: %s: %v", name, use, err)
			} else if m[1] == "common_type" && !strings.Contains(unit.Programs[0].Text, "r0 = "+strings.TrimSpace(string(id))+"\n") {
				t.Errorf("%s: common_type is not %s", name, id)
			}
		}
	}
	if err != nil || n < 2500 {
		t.Errorf("%d fields: %v", n, err)
	}
}
