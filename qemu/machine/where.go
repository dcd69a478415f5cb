package machine

import (
	"cmp"
	"debug/elf"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// patienceForWhere is how long QEMU may take to say where its processors are. It is its main thread
// that answers, on a host that may be the reason for the time limit.
const patienceForWhere = 20 * time.Second

// where says in which function each processor is, from what QEMU shows of their registers.
func where(registers string, functions []elf.Symbol) string {
	var list []string
	for cpu, m := range instructionPointer.FindAllStringSubmatch(registers, -1) {
		ip, _ := strconv.ParseUint(m[1], 16, 64)
		list = append(list, fmt.Sprintf("CPU %d was at %s", cpu, nameOf(functions, ip)))
	}
	return strings.Join(list, ", ")
}

// instructionPointer finds that of each processor in its turn; in 32-bit mode it is called EIP.
var instructionPointer = regexp.MustCompile(`\b[RE]IP=([0-9a-f]+)`)

// functionsOf returns the functions of an image by address; none if it is not an ELF file.
func functionsOf(image string) (list []elf.Symbol) {
	f, err := elf.Open(image)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ = f.Symbols()
	list = slices.DeleteFunc(list, func(s elf.Symbol) bool { return elf.ST_TYPE(s.Info) != elf.STT_FUNC })
	slices.SortFunc(list, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return list
}

// nameOf returns the function at ip and the offset in it.
func nameOf(functions []elf.Symbol, ip uint64) string {
	i, found := slices.BinarySearchFunc(functions, ip, func(s elf.Symbol, ip uint64) int { return cmp.Compare(s.Value, ip) })
	if !found {
		i--
	}
	if i < 0 || ip-functions[i].Value >= max(functions[i].Size, 1) {
		return fmt.Sprintf("%#x", ip)
	}
	return fmt.Sprintf("%s+%#x", functions[i].Name, ip-functions[i].Value)
}
