//go:build tamago

package load

import (
	"errors"
	"strconv"

	"sonde/kprobes"
	"sonde/optprobe"
	"sonde/probe/attach"
)

func placeShort()
func placeLoop()
func placeCall()
func placeOwn()
func placeShared()
func placeEnters()
func placeWaits()

// places has the addresses of those functions that no other of them leads to.
var places [5]uintptr

// tiers reports how a probe at each place would be hit: by a jump, or why not; PLACE,...
func tiers(args []string) error {
	if places[0] == 0 {
		return errors.New("the linker has left out the places")
	}
	for i, place := range args {
		t, err := tier(place)
		if err != nil {
			return err
		}
		report("tier"+strconv.Itoa(i+1), "%s", t)
	}
	return nil
}

// words say why there is no jump, as answers to the lab do.
var words = map[optprobe.Reason]string{
	optprobe.NoDecode: "function", optprobe.Overlap: "function", optprobe.JumpAway: "function", optprobe.BadTable: "function",
	optprobe.FuncEnd: "end", optprobe.Branch: "branch", optprobe.TableEntry: "branch", optprobe.Entry: "entry",
	optprobe.Return: "return", optprobe.Address: "address", optprobe.Unmovable: "unmovable",
}

// tier returns the word for a place.
func tier(place string) (string, error) {
	at, err := attach.ParseSiteOf(place, attach.Kernel)
	if err != nil {
		return "", err
	}
	d, err := kprobes.Describe(at.Symbol, uintptr(at.Offset))
	if d.Addr == 0 {
		return "", err
	}
	fn := optprobe.At(d.Addr)
	var s optprobe.Scan
	s.Read(fn)
	switch _, why := s.Check(int(uint64(d.Addr) - fn.Addr)); {
	case why.Reason == optprobe.NotStart:
		return "boundary", nil
	case err != nil:
		return "forbidden", nil
	case why.Reason == optprobe.Fine:
		return "JUMP", nil
	default:
		return words[why.Reason], nil
	}
}
