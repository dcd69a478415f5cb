//go:build tamago && !nolinux

package tracepoints

import (
	"bytes"
	"regexp"
	"strings"

	"sonde/kernel/vfs"
	"sonde/ktest/suites"
)

func init() { suites.Add("tracepoints/each_field_is_usable", eachFieldIsUsable) }

// formatField is a field that the file format of a tracepoint lists, an array by the number of its elements.
var formatField = regexp.MustCompile(`\tfield:([^;]*?)(\w+)(\[\d+\])?;`)

// eachFieldIsUsable: a script can use whatever field the file format of a tracepoint lists. Of system calls, the short
// run takes those with a type of field that none before has.
func eachFieldIsUsable(t *suites.T) {
	t.OneProcessor()
	t.NeedPrograms()
	const root = "/sys/kernel/tracing/events"
	points, fields, seen := 0, 0, map[string]bool{}
	for _, system := range names(root) {
		var script strings.Builder
		for _, event := range names(root + "/" + system) {
			format, err := vfs.ReadFile(root + "/" + system + "/" + event + "/format")
			if err != nil {
				continue // enable, filter and such
			}
			used, fresh := usesOf(string(format), seen)
			if system != "ftrace" && len(used) > 0 && (system != "syscalls" || fresh || suites.Long()) {
				script.WriteString("tracepoint:" + system + ":" + event + " { " + strings.Join(used, " ") + " }\n")
				points, fields = points+1, fields+len(used)
			}
		}
		if script.Len() == 0 {
			continue
		}
		t.Must(vfs.WriteFile("/tmp/fields.bt", []byte(script.String())))
		var said bytes.Buffer
		if status := suites.Script(&said, "bt -q --dry-run /tmp/fields.bt 2>&1"); status != 0 || said.Len() > 0 {
			t.Errorf("%s: status %d: %.2000s", system, status, said.String())
		}
	}
	if points < 30 || fields < 2*points {
		t.Errorf("they are too few")
	}
	t.Logf("%d fields of %d tracepoints", fields, points)
}

// usesOf are statements that use the fields of a format; fresh: one has a type that none before had.
func usesOf(format string, seen map[string]bool) (all []string, fresh bool) {
	for _, f := range formatField.FindAllStringSubmatch(format, -1) {
		kind, name, array := f[1], f[2], f[3]
		if strings.HasPrefix(name, "common_") {
			continue
		}
		fresh = fresh || !seen[kind+array]
		seen[kind+array] = true
		switch {
		case strings.Contains(kind, "char") && !strings.Contains(kind, "*"):
			all = append(all, "printf(\"%s\", args."+name+");")
		case array != "":
			all = append(all, "@ += args."+name+"[0];")
		default:
			all = append(all, "@ += (int64)args."+name+";")
		}
	}
	return all, fresh
}

// names are the entries of a directory.
func names(dir string) (all []string) {
	entries, err := vfs.ReadDir(dir)
	if err != nil {
		return nil // a file beside the directories of systems
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
