package sysbpf

import (
	"sync/atomic"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// roomCost is about how many bytes of memory a byte of types takes, at worst.
const roomCost = 16

// loaded is how many bytes of programs and types processes have loaded.
var loaded atomic.Int64

// takeRoom counts n bytes that a process loads, until giveRoom.
//
// Errors: ENOMEM all would take more memory than the maps of programs may.
func takeRoom(n int) error {
	if now, most := loaded.Add(int64(n)), program.Memory.Get()/roomCost; now > most {
		giveRoom(n)
		return refusal.New(syscall.ENOMEM, "%d bytes of programs and BTF of all processes: at most %d (sysctl kernel.bpf_memory)", now, most)
	}
	return nil
}

func giveRoom(n int) { loaded.Add(int64(-n)) }
