package abi

// Rights of memory.
const (
	PROT_NONE  = 0
	PROT_READ  = 1
	PROT_WRITE = 2
	PROT_EXEC  = 4
)

// Flags of mmap.
const (
	MAP_SHARED          = 1
	MAP_PRIVATE         = 2
	MAP_SHARED_VALIDATE = 3
	MAP_TYPE            = 0xf
	MAP_FIXED           = 0x10
	MAP_ANONYMOUS       = 0x20
	MAP_GROWSDOWN       = 0x100
	MAP_LOCKED          = 0x2000
	MAP_NORESERVE       = 0x4000
	MAP_POPULATE        = 0x8000
	MAP_STACK           = 0x20000
	MAP_FIXED_NOREPLACE = 0x100000

	MREMAP_MAYMOVE   = 1
	MREMAP_FIXED     = 2
	MREMAP_DONTUNMAP = 4
)

// Advice of madvise.
const (
	MADV_NORMAL          = 0
	MADV_RANDOM          = 1
	MADV_SEQUENTIAL      = 2
	MADV_WILLNEED        = 3
	MADV_DONTNEED        = 4
	MADV_FREE            = 8
	MADV_DONTFORK        = 10
	MADV_DOFORK          = 11
	MADV_HUGEPAGE        = 14
	MADV_NOHUGEPAGE      = 15
	MADV_DONTDUMP        = 16
	MADV_DODUMP          = 17
	MADV_WIPEONFORK      = 18
	MADV_KEEPONFORK      = 19
	MADV_COLD            = 20
	MADV_PAGEOUT         = 21
	MADV_POPULATE_READ   = 22
	MADV_POPULATE_WRITE  = 23
	MADV_DONTNEED_LOCKED = 24
	MADV_COLLAPSE        = 25
)
