package machine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sonde/internal/image"
	"sonde/kallsyms"
)

// patienceForWhere is how long QEMU may take to say where its processors are. It is its main thread
// that answers, on a host that may be the reason for the time limit.
const patienceForWhere = 20 * time.Second

// where says in which function each processor is, from what QEMU shows of their registers.
func where(registers string, symbols *kallsyms.Table) string {
	var list []string
	for cpu, m := range instructionPointer.FindAllStringSubmatch(registers, -1) {
		ip, _ := strconv.ParseUint(m[1], 16, 64)
		list = append(list, fmt.Sprintf("CPU %d was at %s", cpu, nameOf(symbols, ip)))
	}
	return strings.Join(list, ", ")
}

// instructionPointer finds that of each processor in its turn; in 32-bit mode it is called EIP.
var instructionPointer = regexp.MustCompile(`\b[RE]IP=([0-9a-f]+)`)

// symbolsOf returns the table of symbols of an image; nil if it is none of the kernel's.
func symbolsOf(path string) *kallsyms.Table {
	info, _ := image.Inspect(path)
	return info.Symbols
}

// nameOf returns the function at ip and the offset in it.
func nameOf(symbols *kallsyms.Table, ip uint64) string {
	if symbols != nil {
		if name, off, _, ok := symbols.Lookup(ip); ok {
			return fmt.Sprintf("%s+%#x", name, off)
		}
	}
	return fmt.Sprintf("%#x", ip)
}
