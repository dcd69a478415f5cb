package shell

import "fmt"

var freeCommand = &Command{
	Name:    "free",
	Usage:   "[-bkmh]",
	Options: "bkmh", Alone: true,
	Help: "show memory in kB (-b: bytes, -m: MB, -h: the unit that fits)",
	Run:  free,
}

func free(c *Context, args []string) (err error) {
	if c.Machine.Memory == nil {
		return missing("memory")
	}
	size := func(n uint64) string { return fmt.Sprint(n >> 10) }
	switch {
	case c.Given('b'):
		size = func(n uint64) string { return fmt.Sprint(n) }
	case c.Given('m'):
		size = func(n uint64) string { return fmt.Sprint(n >> 20) }
	case c.Given('h'):
		size = humanSize
	}
	m := c.Machine.Memory()
	fmt.Fprintf(c.Out, "      %11s %11s %11s %11s %11s %11s %11s\n", "total", "used", "free", "heap", "stack", "programs", "available")
	_, err = fmt.Fprintf(c.Out, "Mem:  %11s %11s %11s %11s %11s %11s %11s\n",
		size(m.Total), size(m.Total-m.Free), size(m.Free), size(m.Heap), size(m.Stack), size(m.Frames), size(m.Available()))
	return err
}

// humanSize formats a size with a unit, as free -h does.
func humanSize(n uint64) string {
	const units = "KMGT"
	if n < 1<<10 {
		return fmt.Sprintf("%dB", n)
	}
	i, f := 0, float64(n)/1024
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if f < 10 {
		return fmt.Sprintf("%.1f%ci", f, units[i])
	}
	return fmt.Sprintf("%.0f%ci", f, units[i])
}
