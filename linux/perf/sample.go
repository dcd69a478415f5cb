package perf

// What a sample can consist of: PERF_SAMPLE_*.
const (
	sampleIP = 1 << iota
	sampleTID
	sampleTime
	sampleAddr
	_ // READ
	_ // CALLCHAIN
	sampleID
	sampleCPU
	samplePeriod
	sampleStreamID
	sampleRaw
	sampleIdentifier = 1 << 16

	// sampleKnown is all that is written here.
	sampleKnown = sampleIP | sampleTID | sampleTime | sampleAddr | sampleID | sampleCPU | samplePeriod | sampleStreamID | sampleRaw | sampleIdentifier
)
