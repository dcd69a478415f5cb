package mutants

// selects are defects in select, poll and the ends of pipes.
var selects = []Mutant{
	{
		Name: "closed-pipe-not-readable", In: "linux/syscall.selectSets",
		Old: "Hup | poll.", New: "",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select waits for ever at a pipe that nobody writes to",
	},
	{
		Name: "broken-pipe-not-readable", In: "linux/syscall.selectSets",
		Old: "Hup | poll.Err", New: "Hup",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select does not report an error to a reader",
	},
	{
		Name: "hang-up-is-writable", In: "linux/syscall.selectSets",
		Old: "Out | poll.Err", New: "Out | poll.Err | poll.Hup",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select says of a hung-up descriptor that it can be written to",
	},
	{
		Name: "full-pipe-without-readers-not-writable", In: "kernel/vfs/pipe.(*writeEnd).Poll",
		Old: "if w.readers == 0 {\n\t\tev |= poll.Out | poll.Err\n\t}", New: "",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select of a full pipe whose reader has gone waits for ever",
	},
	{
		Name: "reader-goes-and-writer-sleeps", In: "kernel/vfs/pipe.(*readEnd).Close",
		Old: "r.queue.Notify(poll.Out | poll.Err)", New: "",
		By:  host("linux/syscall", "TestCloseWakesTheOtherEnd"),
		Why: "a writer to a full pipe is not woken when its last reader closes",
	},
	{
		Name: "writer-goes-and-reader-sleeps", In: "kernel/vfs/pipe.(*writeEnd).Close",
		Old: "w.queue.Notify(poll.In | poll.Hup)", New: "",
		By:  host("linux/syscall", "TestCloseWakesTheOtherEnd"),
		Why: "a reader of a pipe is not woken when its last writer closes",
	},
	{
		Name: "select-of-no-file-waits", In: "linux/syscall.selectFiles",
		Old: "return 0, err\n\t\t", New: "continue\n\t\t",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select of a closed descriptor is not EBADF",
	},
	{
		Name: "select-leaves-old-bits", In: "linux/syscall.putSets",
		Old: "var sets [3]fdSet", New: "sets := asked",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select leaves bits of files that have nothing",
	},
	{
		Name: "select-counts-files", In: "linux/syscall.putSets",
		Old: "bits++", New: "bits = uint64(j + 1)",
		By:  host("linux/syscall", "TestSelectOfAPipe"),
		Why: "select counts a file in two sets once",
	},
	{
		Name: "hang-up-must-be-asked-for", In: "kernel/poll.always",
		Old: "Err | Hup", New: "Err",
		By:  host("kernel/poll", "TestHangUpsAndErrorsWakeEverybody"),
		Why: "poll without events does not report a hang-up",
	},
	{
		Name: "poll-tells-what-nobody-asked-for", In: "kernel/poll.look",
		Old: " & (w.Events | always)", New: "",
		By:  host("kernel/poll", "TestManyTellsWhoGotWhat"),
		Why: "poll returns for events that were not asked for",
	},
	{
		Name: "timeout-without-a-last-look", In: "kernel/poll.Many",
		Old: "look(wants),", New: "0,",
		By:  host("kernel/poll", "TestTimeoutLooksOnceMore"),
		Why: "what comes at the last moment is not reported",
	},
}
