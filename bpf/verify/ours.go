package verify

import "sonde/bpf"

// summed are the maps in which helpers add without atomic operations.
var summed = []bpf.MapType{bpf.PerCPUHash, bpf.PerCPUArray, bpf.LRUPerCPUHash}

// ours are the helpers that Linux does not have, from HelperGoid on.
var ours = [...]Helper{
	bpf.HelperGoid - bpf.HelperGoid:      {Name: "goid", Weight: 40},
	bpf.HelperGCPhase - bpf.HelperGoid:   {Name: "gcphase", Weight: 20},
	bpf.HelperGCNum - bpf.HelperGoid:     {Name: "gcnum", Weight: 20},
	bpf.HelperWatchOld - bpf.HelperGoid:  {Name: "watch_old", Args: [5]ArgKind{ContextArg}, Weight: 10},
	bpf.HelperWatchNew - bpf.HelperGoid:  {Name: "watch_new", Args: [5]ArgKind{ContextArg}, Weight: 10},
	bpf.HelperLog2 - bpf.HelperGoid:      {Name: "log2", Args: [5]ArgKind{Number}, Weight: 10},
	bpf.HelperHistAdd - bpf.HelperGoid:   {Name: "hist_add", Args: [5]ArgKind{MapArg, Key, Number}, Result: ErrorCode, Weight: 6500, PerWord: 850, Changes: true, Maps: summed, Words: bpf.HistBuckets},
	bpf.HelperAggAdd - bpf.HelperGoid:    {Name: "agg_add", Args: [5]ArgKind{MapArg, Key, Number}, Result: ErrorCode, Weight: 6500, PerWord: 850, Changes: true, Maps: summed, Words: bpf.AggregateSize / 8},
	bpf.HelperContains - bpf.HelperGoid:  {Name: "contains", Args: [5]ArgKind{Memory, Size, Memory, Size}, Weight: 100, PerWord: 2000},
	bpf.HelperDepth - bpf.HelperGoid:     {Name: "depth", Args: [5]ArgKind{MapArg, Number}, Weight: 800, Maps: stacks},
	bpf.HelperErrorText - bpf.HelperGoid: {Name: "error_text", Args: [5]ArgKind{Number, Number, MemoryOut, Size}, Weight: 600, PerWord: 80},
	bpf.HelperArg - bpf.HelperGoid:       {Name: "arg", Args: [5]ArgKind{ContextArg, Number}, Weight: 40},
}
