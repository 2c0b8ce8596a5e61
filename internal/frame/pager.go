package frame

import "strconv"

// PerPage is how many lines a page of a long list has.
const PerPage = 50

// Before reads from which number on a list continues; what is not a number is 0, the
// beginning.
func Before(r *Request) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
