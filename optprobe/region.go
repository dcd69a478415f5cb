package optprobe

import "sonde/arch/amd64/insn"

// Check returns the length of the region at offset off, or the first reason why there can
// be none.
func (s *Scan) Check(off int) (size int, first Obstacle) {
	var list [maxObstacles]Obstacle
	size, all := s.Explain(list[:0], off)
	if len(all) > 0 {
		return 0, all[0]
	}
	return size, Obstacle{}
}

// maxObstacles is how many Obstacles Explain can find: one for each instruction of the
// region, five ways to each byte but the first, and the function's end.
const maxObstacles = JumpSize + 5*(JumpSize-1) + 1

// Explain returns the length of the region at offset off, as far as there is one, and
// appends to list every reason why a jump cannot replace it, in the order of the code.
func (s *Scan) Explain(list []Obstacle, off int) (int, []Obstacle) {
	switch {
	case s.whole.Reason != Fine:
		return 0, append(list, s.whole)
	case off < 0 || off >= len(s.fn.Code):
		return 0, append(list, Obstacle{Reason: Outside, Off: off})
	case s.cells[off]&begin == 0:
		return 0, append(list, Obstacle{Reason: NotStart, Off: off})
	}
	end := off
	for at := off; at < off+JumpSize; at++ {
		if at == len(s.fn.Code) {
			return end - off, append(list, Obstacle{Reason: FuncEnd, Off: at})
		}
		c := s.cells[at]
		if at > off {
			list = appendWays(list, c, at)
		}
		if c&begin == 0 {
			continue
		}
		in := s.at(at)
		end = at + int(in.Len)
		if o := movable(&in); o.Reason != Fine {
			o.Off = at
			list = append(list, o)
		}
	}
	return end - off, list
}

// movable reports whether a copy of the instruction can work at another address.
func movable(in *insn.Inst) Obstacle {
	if move := in.Movable(); move != insn.Fine {
		return Obstacle{Reason: Unmovable, Move: move}
	}
	if in.Flow == insn.CallInd {
		return Obstacle{Reason: callThrough(in)}
	}
	return Obstacle{}
}

// appendWays appends what leads to the byte at offset off, whose cell is c.
func appendWays(list []Obstacle, c byte, off int) []Obstacle {
	if c&ways == 0 {
		return list
	}
	for _, w := range wayReasons {
		if c&w.way != 0 {
			list = append(list, Obstacle{Reason: w.reason, Off: off})
		}
	}
	return list
}

// wayReasons has the Reason for each way to a byte under a jump.
var wayReasons = [...]struct {
	way    byte
	reason Reason
}{{byBranch, Branch}, {byTable, TableEntry}, {byEntry, Entry}, {byReturn, Return}, {byAddress, Address}}

// Ways returns how the byte at offset off is reached other than from the instruction before
// it, as the Reasons for a region in which it is not the first byte.
func (s *Scan) Ways(off int) (ways []Reason) {
	if off < 0 || off >= len(s.fn.Code) {
		return nil
	}
	for _, o := range appendWays(nil, s.cells[off], off) {
		ways = append(ways, o.Reason)
	}
	return ways
}
