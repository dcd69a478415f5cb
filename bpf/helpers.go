package bpf

// Linux's helper by which a program continues as another one: (ctx, map, index) is the program at an index of a
// ProgArray. It does not return if there is such a program; else the caller continues after the call.
const (
	TailCall     = 12
	MaxTailCalls = 33 // after the first program
)

// Helpers that Linux does not have, by their numbers.
const (
	HelperGoid      = 0x10000 + iota // the number of the goroutine; 0: none
	HelperGCPhase                    // what the collector does: 0 nothing, 1 it marks, 2 it ends marking
	HelperGCNum                      // how many collections have ended
	HelperWatchOld                   // (ctx) what a watched word was before; 0 at other probes
	HelperWatchNew                   // (ctx) what it is now
	HelperLog2                       // (n) the number of n's bucket in a histogram: see Bucket
	HelperHistAdd                    // (map, key, n) counts n in a histogram, which is added if it is not there
	HelperAggAdd                     // (map, key, n) adds n to an Aggregate
	HelperArg                        // (ctx, i) the i-th word that the function was called with, from 0
	HelperContains                   // (text, size, what, size) 1 if a string has another one in it: both end with a zero, or with their size
	HelperDepth                      // (map, id) how many calls the stack has that the map keeps under a number; 0: it keeps none
	HelperErrorText                  // (methods, data, to, size) writes the text of an error of Go, whose two words these are
)

// HistBuckets is how many buckets a histogram has: the values of a map that HelperHistAdd changes have at
// least so many words.
const HistBuckets = 65

// Bucket is where a histogram counts n: negative numbers in the first bucket, 0 in the second, and then by
// powers of 2, from [1, 2) to [1<<62, 1<<63).
func Bucket(n int64) (i int) {
	if n < 0 {
		return 0
	}
	for i = 1; n > 0; n >>= 1 {
		i++
	}
	return i
}

// An Aggregate is what HelperAggAdd keeps of numbers, as it lies in memory. Without any, all is 0.
type Aggregate struct {
	Count         uint64
	Sum, Min, Max int64
}

// AggregateSize is how many bytes an Aggregate has.
const AggregateSize = 4 * 8
