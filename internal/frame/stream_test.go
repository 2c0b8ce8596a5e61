package frame

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/fault"
)

// Each stream is {workspace, user}.
func TestStreamsAreSharedFairly(t *testing.T) {
	crowd := func(workspace int64, users ...int64) (all [][2]int64) {
		for _, user := range users {
			for range streamsOfUser {
				all = append(all, [2]int64{workspace, user})
			}
		}
		return all
	}
	others := crowd(1, 1, 2, 3)
	apart := [][2]int64{}
	for i := range int64(maxStreams) {
		apart = append(apart, [2]int64{i, 100 + i})
	}
	for name, c := range map[string]struct {
		open [][2]int64
		next [2]int64
		ends [2]int64 // whose stream is ended for it
		code string
	}{
		"one of another workspace than the four users who have all": {crowd(1, 1, 2, 3, 4), [2]int64{2, 9}, [2]int64{1, 1}, ""},
		"one of the same workspace":                                 {crowd(1, 1, 2, 3, 4), [2]int64{1, 9}, [2]int64{1, 1}, ""},
		"the fifth of a user":                                       {crowd(1, 1), [2]int64{2, 1}, [2]int64{}, "streams_of_user"},
		"while there is room":                                       {others, [2]int64{2, 9}, [2]int64{}, ""},
		"of the workspace that has most":                            {append(crowd(2, 4), others...), [2]int64{3, 9}, [2]int64{1, 1}, ""},
		"where each workspace has one":                              {apart, [2]int64{99, 9}, [2]int64{}, "streams"},
		"where the user would have as many as the others":           {append(crowd(1, 1, 2, 3), [2]int64{1, 4}, [2]int64{1, 4}, [2]int64{1, 4}, [2]int64{2, 5}), [2]int64{1, 4}, [2]int64{}, "streams"},
	} {
		var s streams
		var open []*openStream
		for _, one := range c.open {
			o, err := s.open(one[0], one[1])
			if err != nil {
				t.Fatal(name, err)
			}
			open = append(open, o)
		}
		_, err := s.open(c.next[0], c.next[1])
		if (err == nil) != (c.code == "") || c.code != "" && !fault.HasCode(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
		ended := slices.DeleteFunc(open, func(o *openStream) bool {
			select {
			case <-o.ended:
				return false
			default:
				return true
			}
		})
		var who [2]int64
		if len(ended) == 1 {
			who = [2]int64{ended[0].workspace, ended[0].user}
		}
		if len(ended) > 1 || who != c.ends {
			t.Errorf("%s: %d streams ended, that of %v; want %v", name, len(ended), who, c.ends)
		}
		if len(s.all) > maxStreams {
			t.Errorf("%s: %d streams", name, len(s.all))
		}
	}
}
