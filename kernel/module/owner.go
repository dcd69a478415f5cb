package module

import (
	"cmp"
	"runtime"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/kthread"
	"sonde/kernel/printk"
)

// Which module does running code belong to? A goroutine in an instance's Init or Exit
// carries a label with the instance's name, and goroutines that it starts inherit the label.
// So what a module registers later, from a goroutine of its own, is known to be the module's.
//
// Rejected: an argument to every function that registers something, like Linux's
// THIS_MODULE: a module that forgets to clean up would also forget that.

const labelKey = "module"

// as calls f on behalf of the instance with this name.
func as(name string, f func() error) (err error) {
	kthread.With(labelKey, name, func() { err = f() })
	return err
}

// Current returns the name of the module's instance for which the caller runs, or "" for the
// kernel's own code.
func Current() string { return kthread.Label(labelKey) }

// Of returns the name of the loaded instance that contains the function at pc, or "" for the
// kernel. A module's functions are those in the file that registers it and, if it comes from
// outside the kernel's tree, those in the files of its package that register none. Of several
// instances it is the first that is live: as long as there is one, the module's code is not gone.
func Of(pc uintptr) string {
	file, pkg := source(pc)
	inside := pkg == "sonde" || strings.HasPrefix(pkg, "sonde/")
	table.mu.Lock()
	defer table.mu.Unlock()
	for _, m := range table.known {
		if m.file == file {
			inside = true // if m is not loaded, no module has this file
		}
	}
	return first(func(m *Module) bool { return m.file == file || !inside && m.pkg == pkg })
}

// source returns the file and the package of the function at pc. The instruction there may be of
// another one, which the compiler has inlined; the first never is.
func source(pc uintptr) (file, pkg string) {
	fn := runtime.FuncForPC(pc)
	if fn == nil {
		return "", ""
	}
	fn = runtime.FuncForPC(fn.Entry())
	file, _ = fn.FileLine(fn.Entry())
	return file, kallsyms.Package(fn.Name())
}

// first returns the name of the first live instance whose module fits, otherwise of the first
// one. The caller holds table.mu.
func first(fits func(*Module) bool) (name string) {
	for _, s := range table.loaded {
		if !fits(s.Module) {
			continue
		}
		if s.State == Live {
			return s.Name
		}
		name = cmp.Or(name, s.Name)
	}
	return name
}

// OnUnload registers f, which is called with the name of each instance that is unloaded:
// after its Exit, or after an Init that failed. f must release what the module still holds, and
// return what that was, such as "a probe at vfs.Read+0x0": it is logged.
//
// Context: package initialization.
func OnUnload(f func(name string) (forgotten []string)) {
	table.mu.Lock()
	defer table.mu.Unlock()
	table.onUnload = append(table.onUnload, f)
}

// sweep calls the functions that OnUnload has registered, and logs what they return.
func sweep(name string) {
	table.mu.Lock()
	hooks := table.onUnload
	table.mu.Unlock()
	for _, f := range hooks {
		for _, what := range f(name) {
			printk.Warn("module %s: forgot %s, which is unregistered", name, what)
		}
	}
}
