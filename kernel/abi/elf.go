package abi

// What ELF files say of themselves and of their parts.
const (
	ET_EXEC   = 2
	ET_DYN    = 3
	ET_CORE   = 4
	EM_X86_64 = 62

	PT_LOAD         = 1
	PT_DYNAMIC      = 2
	PT_INTERP       = 3
	PT_NOTE         = 4
	PT_PHDR         = 6
	PT_GNU_EH_FRAME = 0x6474e550
	PT_GNU_STACK    = 0x6474e551

	PF_X = 1
	PF_W = 2
	PF_R = 4

	ELFHeaderSize, ELFSegmentSize = 64, 56
)

// ELFIdent is how a file begins for 64 bits, little-endian, version 1.
var ELFIdent = [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}

// ELFHeader is the beginning of a file.
type ELFHeader struct {
	Ident                                                    [16]byte
	Type, Machine                                            uint16
	Version                                                  uint32
	Entry, Phoff, Shoff                                      uint64
	Flags                                                    uint32
	Ehsize, Phentsize, Phnum, Shentsize, Shnum, SectionNames uint16
}

// ELFSegment is an entry of the program header table.
type ELFSegment struct {
	Type, Flags                                    uint32
	Offset, VAddr, PAddr, FileSize, MemSize, Align uint64
}
