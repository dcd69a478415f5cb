package procfs

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// cpuDir is /sys/devices/system/cpu: C libraries count processors there.
//
// Source: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu.
func cpuDir(cpus func() []CPU) ctl.Dir {
	files := map[string]func([]CPU) string{
		"online":     func(all []CPU) string { return ranges(all, true) },
		"offline":    func(all []CPU) string { return ranges(all, false) },
		"possible":   func(all []CPU) string { return span(len(all)) },
		"present":    func(all []CPU) string { return span(len(all)) },
		"kernel_max": func(all []CPU) string { return strconv.Itoa(len(all) - 1) },
	}
	return ctl.Dir{
		List: func() []string {
			names := slices.Collect(maps.Keys(files))
			for _, c := range cpus() {
				names = append(names, "cpu"+strconv.Itoa(c.ID))
			}
			return names
		},
		Node: func(name string) vfs.Node {
			if f := files[name]; f != nil {
				return ctl.Text(func() string { return f(cpus()) + "\n" })
			}
			for _, c := range cpus() {
				if name == "cpu"+strconv.Itoa(c.ID) {
					return oneCPU(c)
				}
			}
			return nil
		},
	}
}

// oneCPU is the directory of a processor. Each is a core and a package of its own: nothing
// here asks which of them share what.
func oneCPU(c CPU) vfs.Node {
	id := strconv.Itoa(c.ID)
	return texts{
		"topology": texts{
			"core_id": line("0"), "physical_package_id": line(id),
			"core_cpus_list": line(id), "package_cpus_list": line(id),
			"thread_siblings_list": line(id), "core_siblings_list": line(id),
		}.dir(),
	}.dir()
}

// texts are the files of a directory, by name.
type texts map[string]vfs.Node

func line(s string) vfs.Node { return ctl.Text(func() string { return s + "\n" }) }

func (t texts) dir() vfs.Node { return ctl.Fixed(t) }

// ranges are the numbers of processors that are online, or are not: "0-2,4".
func ranges(all []CPU, online bool) string {
	var parts []string
	for i := 0; i < len(all); i++ {
		first := i
		for i < len(all) && all[i].Online == online {
			i++
		}
		switch {
		case i-first > 1:
			parts = append(parts, strconv.Itoa(all[first].ID)+"-"+strconv.Itoa(all[i-1].ID))
		case i-first == 1:
			parts = append(parts, strconv.Itoa(all[first].ID))
		}
	}
	return strings.Join(parts, ",")
}

// span are n numbers from 0 on.
func span(n int) string {
	if n == 1 {
		return "0"
	}
	return "0-" + strconv.Itoa(n-1)
}
